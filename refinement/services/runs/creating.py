"""Create runs and set their tags."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db import transaction
from django.utils import timezone

from refinement.engine import types as engine
from refinement.engine.boards import judge_mode
from refinement.engine.codec import rubric_to_json
from refinement.engine.safeguards import kinship
from refinement.execution.boards.recording import panel_rows
from refinement.execution.events import actor_name, event_record
from refinement.execution.waking import wake
from refinement.judging.length import shorten
from refinement.judging.sources import SourceText
from refinement.models import (
    EventKind,
    Experiment,
    PanelJudge,
    Project,
    Round,
    RoundOrigin,
    RubricVersion,
    Run,
    RunStatus,
    RunTag,
    User,
)
from refinement.models.runs.runs import TASK_TYPE_CHARS, TITLE_CHARS
from refinement.providers.registry import Target, parse_target
from refinement.selectors.prices import prices_for
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.audit import audit_record
from refinement.services.runs.held_out_choice import held_out_validate
from refinement.services.runs.sources import sources_create, sources_validate
from refinement.services.trust.launching import judge_at_launch
from refinement.texts import label, storable

MAX_TEXT_CHARS = 10_000_000
MOST_TAGS = 20
TAG_CHARS = 50


@transaction.atomic
def run_create(
    *,
    project: Project,
    version: RubricVersion,
    task: str,
    producer: Target,
    judge: Target,
    clerk: Target | None = None,
    held_out: Target | None = None,
    seed: str = "",
    definition: engine.Rubric | None = None,
    user: User | None = None,
    title: str = "",
    status: str = RunStatus.QUEUED,
    task_type: str = "",
    tags: Sequence[str] = (),
    batch: str = "",
    sources: Sequence[SourceText] = (),
    experiment: Experiment | None = None,
    new_judge: bool = True,
) -> Run:
    """Create and queue a run with a snapshot of everything needed to replay it.

    `definition` is the version's definition with changes for this run. The clerk's model is `clerk`, else
    the rubric's, else the judge's. A `held_out` judge scores the first and the best round at the end. Without
    a `title`, it is made from the task. What is known about the judge is kept with the run; one that is
    not known is added to the project's judges only with `new_judge`. Raises ValidationError.
    """
    used = definition or definition_of(version)
    text, seed_text = storable(task).strip(), storable(seed)
    mode = judge_mode(used, len(seed_text) if seed_text else None)
    used = replace(used, judges=replace(used.judges, mode=mode))
    scribe = clerk or (parse_target(used.judges.clerk) if used.judges.clerk else judge)
    validate_texts(text, seed_text, has_seed=bool(seed))
    kept = sources_validate(sources)
    if refusal := budget_of(project).refusal:
        raise ValidationError({NON_FIELD_ERRORS: refusal})
    if refusal := command_refusal(used):
        raise ValidationError({"rubric": refusal})
    kin = kinship(producer.model, judge.model) if used.criteria else None
    run = Run(
        project=project,
        rubric_version=version,
        rubric_id=version.rubric_id,
        created_by=user,
        title=label_of(title) or title_of(text),
        task_type=task_type_cleaned(task_type),
        batch=batch,
        experiment=experiment,
        suite_id=experiment.suite_version.suite_id if experiment else None,
        task=text,
        seed=seed_text,
        snapshot=rubric_to_json(
            replace(used, calibration_text="", calibration_scores={})
        ),  # see `calibration`
        calibration=calibration_of(used),
        nonce=secrets.token_hex(6),
        producer_endpoint=producer.endpoint,
        producer_model=producer.model,
        judge_endpoint=judge.endpoint,
        judge_model=judge.model,
        clerk_endpoint=scribe.endpoint,
        clerk_model=scribe.model,
        held_out_endpoint=held_out.endpoint if held_out and used.criteria else "",
        held_out_model=held_out.model if held_out and used.criteria else "",
        kinship=kin.value if kin else "",
        status=status,
        woken_at=timezone.now(),
    )
    panel = panel_rows(run, used.judges.panel)
    held_out_validate(held_out, judge, panel)
    run.prices = prices_for([producer, judge, scribe, *(Target(row.endpoint, row.model) for row in panel)])
    keep_judge(run, version, used, panel, create=new_judge)
    run.save(force_insert=True)
    event_record(run.pk, EventKind.QUEUED, actor=actor_name(user), user=user)
    audit_record(
        action="run.create",
        object_type="run",
        object_id=run.pk,
        project=project,
        user=user,
        after={"rubric": str(version), "producer": producer.model, "judge": judge.model},
    )
    PanelJudge.objects.bulk_create(panel)
    if kept:
        sources_create(run=run, sources=kept, limit=used.policy.source_limit_chars)
    if tags:
        tags_set(run=run, names=tags)
    if seed_text:
        Round.objects.create(
            run=run, number=1, origin=RoundOrigin.SEED, candidate=seed_text, candidate_chars=len(seed_text)
        )
    if status == RunStatus.QUEUED:
        wake(Run, run.pk)
    return run


def keep_judge(
    run: Run, version: RubricVersion, used: engine.Rubric, panel: Sequence[PanelJudge], *, create: bool
) -> None:
    """Keeps who judges the run and the smallest real difference of its scores, so that its reading stays."""
    judge = Target(run.judge_endpoint, run.judge_model)
    record = judge_at_launch(
        project=run.project, version=version, definition=used, judge=judge, panel=panel, create=create
    )
    run.judge_record = record
    if record is not None and record.smallest_difference is not None:
        run.smallest_difference = round(Decimal(record.smallest_difference), 6)


def task_type_cleaned(text: str) -> str:
    """The task type as it is stored and compared. Raises ValidationError."""
    cleaned = label(text)
    if len(cleaned) > TASK_TYPE_CHARS:
        raise ValidationError({"task_type": f"A task type has at most {TASK_TYPE_CHARS} characters."})
    return cleaned


def label_of(title: str) -> str:
    """A title as it is stored: one line. Raises ValidationError."""
    cleaned = " ".join(storable(title).split())
    if len(cleaned) > TITLE_CHARS:
        raise ValidationError({"title": f"A title has at most {TITLE_CHARS} characters."})
    return cleaned


# After enough words, so that an abbreviation at the start does not end the title.
SENTENCE_END = re.compile(r"(?<=\S{2}[.!?:])\s+(?=[^\W\d_a-z]|[\"“‘(])")
LONG_TITLE = 60  # characters; a shorter first line is the title as it is


def title_of(task: str) -> str:
    """The first sentence of the task's first line that has text, without its period."""
    first = next((line.strip() for line in task.splitlines() if line.strip(" #*->`")), task)
    title = first.lstrip("#*->` ") or first
    if (end := SENTENCE_END.search(title)) and len(title) > LONG_TITLE:
        title = title[: end.start()]
    return shorten(title if title.endswith("..") else title.removesuffix("."), TITLE_CHARS)


@transaction.atomic
def tags_set(*, run: Run, names: Sequence[str]) -> list[str]:
    """Replace the run's tags, and return the cleaned names."""
    wanted = tags_cleaned(names)
    RunTag.objects.filter(run=run).exclude(name__in=wanted).delete()
    RunTag.objects.bulk_create(
        [RunTag(run=run, project_id=run.project_id, name=name) for name in wanted], ignore_conflicts=True
    )
    return wanted


def tags_cleaned(names: Sequence[str]) -> list[str]:
    """Tags split at commas, trimmed, sorted and without duplicates. Raises ValidationError."""
    parts = (" ".join(storable(part).split()) for name in names for part in name.split(","))
    wanted = sorted({name for name in parts if name})
    if len(wanted) > MOST_TAGS:
        raise ValidationError({"tags": f"A run can have at most {MOST_TAGS} tags."})
    for name in wanted:
        if len(name) > TAG_CHARS:
            raise ValidationError({"tags": f"The tag {name[:20]}… is longer than {TAG_CHARS} characters."})
    return wanted


def validate_texts(task: str, seed: str, *, has_seed: bool) -> None:
    """Raises ValidationError."""
    if not task:
        raise ValidationError({"task": "The task is empty. Describe what the text or code is for."})
    if has_seed and not seed.strip():
        raise ValidationError(
            {"seed": "The starting text is empty. Leave it out to have the model write the first draft."}
        )
    for name, what, text in (("task", "task", task), ("seed", "starting text", seed)):
        if len(text) > MAX_TEXT_CHARS:
            raise ValidationError({name: f"The {what} is longer than {MAX_TEXT_CHARS:,} characters."})


def calibration_of(rubric: engine.Rubric) -> dict[str, object] | None:
    """The run's copy of the rubric's calibration example, or None."""
    if not rubric.calibration_text:
        return None
    return {
        "text": rubric.calibration_text,
        "scores": {key: str(score) for key, score in rubric.calibration_scores.items()},
    }
