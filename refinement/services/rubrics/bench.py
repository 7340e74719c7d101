"""Test benches: start and cancel them, and add people's scores."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.engine.boards import judge_mode
from refinement.engine.panels import panel_for
from refinement.engine.types import JudgeMode, PanelJudge, Rubric
from refinement.execution.leases import released
from refinement.execution.waking import wake
from refinement.judging.length import shorten
from refinement.judging.same_text import fingerprint, plain_lines
from refinement.models import (
    Bench,
    BenchStatus,
    BenchTrial,
    CandidateOrigin,
    Round,
    RubricVersion,
    TrialStatus,
    User,
)
from refinement.models.leased import WorkStatus
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.audit import audit_record
from refinement.texts import storable

MAX_CANDIDATE_CHARS = 1_000_000
MAX_TASK_CHARS = 100_000
MOST_REPEATS = 10
TITLE_CHARS = 80
NO_CRITERIA = "This rubric has no criteria for a judge to score. Its checks give the same result every time."


@dataclass(frozen=True, slots=True)
class Candidate:
    """The text to judge, and its origin."""

    text: str
    origin: CandidateOrigin = CandidateOrigin.PASTED
    round: Round | None = None


@transaction.atomic
def bench_create(
    *,
    version: RubricVersion,
    candidate: Candidate,
    judge: Target,
    repeats: int,
    task: str = "",
    temperature: Decimal = Decimal(0),
    anchored: bool = False,
    judges: str = "",
    user: User | None = None,
) -> Bench:
    """Create a bench and queue its trials: one per repeat, or one per repeat and judge of a board.

    `judges` is `single`, `board` or `auto`; empty for the rubric's choice. Judges of a board without a model
    of their own use `judge`. Raises ValidationError.
    """
    text, task = plain_lines(storable(candidate.text)), plain_lines(storable(task)).strip()
    validate_bench(version, text, task, anchored=anchored)
    panel = panel_to_test(definition_of(version), len(text), judges)
    bench = Bench(
        project=version.rubric.project,
        rubric_version=version,
        created_by=user,
        origin=candidate.origin,
        source_round=candidate.round,
        candidate=text,
        candidate_chars=len(text),
        candidate_sha256=fingerprint(text),
        title=title_of(text),
        task=task,
        endpoint=judge.endpoint,
        model=judge.model,
        panel=[panel_values(entry, judge) for entry in panel],
        repeats=repeats,
        temperature=temperature,
        anchored=anchored,
        nonce=secrets.token_hex(6),
    )
    bench.full_clean(exclude=["project", "rubric_version", "created_by", "source_round"])
    bench.save()
    trials_start(bench)
    audit_record(
        action="bench.create",
        object_type="bench",
        object_id=bench.pk,
        project=bench.project,
        user=user,
        after={
            "rubric": str(version),
            "judge": f"a board of {len(panel)}" if panel else judge.model,
            "repeats": repeats,
        },
    )
    return bench


def title_of(text: str) -> str:
    """The beginning of the text, without heading marks."""
    return shorten(text.strip("#>*-=` \t\n") or text, TITLE_CHARS)


def panel_to_test(rubric: Rubric, chars: int, judges: str = "") -> tuple[PanelJudge, ...]:
    """The judges of the board that tests a text of this length; empty for a single judge.

    No clerk composes a panel for a test: without one of the rubric's, it is the gallery's.
    """
    mode = JudgeMode(judges) if judges else rubric.judges.mode
    if judge_mode(replace(rubric, judges=replace(rubric.judges, mode=mode)), chars) is not JudgeMode.BOARD:
        return ()
    return rubric.judges.panel or panel_for(rubric.artifact_type)


def panel_values(judge: PanelJudge, usual: Target) -> dict[str, str]:
    """A judge as the bench stores it, with the usual model if it has none of its own."""
    endpoint, _, model = judge.model.partition("/")
    return {
        "name": judge.name,
        "lens": judge.lens,
        "endpoint": endpoint or usual.endpoint,
        "model": model or usual.model,
    }


def trials_start(bench: Bench) -> None:
    now = timezone.now()
    seats = range(1, len(bench.panel) + 1) if bench.panel else (0,)
    trials = [
        BenchTrial(bench=bench, number=number, seat=seat, woken_at=now)
        for number in range(1, bench.repeats + 1)
        for seat in seats
    ]
    for trial in BenchTrial.objects.bulk_create(trials):
        wake(BenchTrial, trial.pk)


def validate_bench(version: RubricVersion, text: str, task: str, *, anchored: bool) -> None:
    """Raises ValidationError."""
    if not version.criteria.exists():
        raise ValidationError({"version": NO_CRITERIA})
    if not text.strip():
        raise ValidationError({"candidate": "The text is empty. Paste the text to judge."})
    for name, value, most in (("candidate", text, MAX_CANDIDATE_CHARS), ("task", task, MAX_TASK_CHARS)):
        if len(value) > most:
            raise ValidationError({name: f"This is {len(value):,} characters long; {most:,} are allowed."})
    if not anchored:
        return
    if not version.calibration_text:
        raise ValidationError(
            {"anchored": "This version has no calibration example. Add one, or turn this off."}
        )
    if fingerprint(version.calibration_text) == fingerprint(text):
        raise ValidationError(
            {
                "anchored": "The text is the calibration example itself, so the judge would see the answer. "
                "Turn this off."
            }
        )


@transaction.atomic
def bench_cancel(*, bench: Bench, user: User | None = None) -> bool:
    """Cancel unfinished trials within a second. Return False if the bench had already ended."""
    now = timezone.now()
    if not Bench.objects.filter(pk=bench.pk, status=BenchStatus.RUNNING).update(
        status=BenchStatus.CANCELLED, finished_at=now
    ):
        return False
    # The new attempt number keeps a worker that still holds a trial from writing.
    unfinished = BenchTrial.objects.filter(bench=bench, status__in=WorkStatus.values)
    unfinished.update(**released(status=TrialStatus.CANCELLED, finished_at=now, attempt=F("attempt") + 1))
    audit_record(
        action="bench.cancel", object_type="bench", object_id=bench.pk, project=bench.project, user=user
    )
    return True


@transaction.atomic
def bench_scores_set(*, bench: Bench, scores: Mapping[str, Decimal], user: User | None = None) -> None:
    """Set people's scores of the bench's text. An empty mapping removes them."""
    after = {key: str(score) for key, score in scores.items()}
    before = bench.human_scores
    bench.human_scores = after
    bench.save(update_fields=["human_scores"])
    audit_record(
        action="bench.scores",
        object_type="bench",
        object_id=bench.pk,
        project=bench.project,
        user=user,
        before=before,
        after=after,
    )
