"""People's scores of a round on the rubric's criteria and scale: one per person, with versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from refinement.engine import types as engine
from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import composite
from refinement.execution.events import actor_name, event_record
from refinement.judging.schema import plain, scale_in_words
from refinement.models import BlindReading, EventKind, HumanScore, Round, Run, User
from refinement.selectors.runs.history import check_result_of
from refinement.services.audit import audit_record
from refinement.services.reviews.blind_readings import blind_reading_end, blind_reading_move, open_reading
from refinement.services.reviews.people_gap import people_gap_store
from refinement.services.reviews.requests import review_done
from refinement.services.trust.judges import trust_refresh_round
from refinement.texts import storable

REASON_CHARS = 2_000
NOTE_CHARS = 4_000
EXACT = Decimal("0.000001")  # the column's precision
SCORE, REASON = "score-", "reason-"


class ScoreConflict(Exception):
    """The user's stored score is newer than the one the form was opened with."""

    def __init__(self, stored: HumanScore) -> None:
        super().__init__(f"version {stored.version} was saved in the meantime")
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Reading:
    """A person's scores of a round, as submitted."""

    scores: Mapping[str, Decimal]
    reasons: Mapping[str, str]
    note: str = ""


@transaction.atomic
def human_score_give(
    *, run: Run, row: Round, user: User, submitted: Reading, seen_version: int, blind_next: int | None = None
) -> HumanScore:
    """Save the user's score of a round as its next version.

    An open blind reading ends, or moves to round `blind_next`. Raises ScoreConflict if the stored score is
    newer than `seen_version`, and ValidationError.
    """
    rubric = rubric_from_json(run.snapshot)
    reading = open_reading(run, user)
    values = checked(rubric, row, submitted) | {"blind": reading is not None}
    before = HumanScore.objects.filter(round=row, author=user).first()
    if before is not None and _same(before, values):
        # A form that is sent twice, or unchanged, makes no new version.
        return _closed(before, reading, blind_next)
    try:
        score = _next(before, values, seen_version) if before else _first(run, row, user, values)
    except ScoreConflict as conflict:
        if not _same(conflict.stored, values):
            raise
        return _closed(conflict.stored, reading, blind_next)
    _record(run, row, user, before=before, after=score)
    if blind_next is None:
        review_done(run=run, user=user)
    return _closed(score, reading, blind_next)


def checked(rubric: engine.Rubric, row: Round, submitted: Reading) -> dict[str, Any]:
    """The reading as column values. Raises ValidationError with all problems by field."""
    reasons = {key: _text(reason) for key, reason in submitted.reasons.items()}
    note = _text(submitted.note)
    validate_scores(rubric, submitted.scores, reasons, note)
    scores = {entry.key: submitted.scores[entry.key] for entry in rubric.criteria}
    checks: tuple[engine.CheckResult, ...] = ()
    if rubric.policy.checks_in_composite:
        checks = tuple(check_result_of(result) for result in row.check_results.all())
    return {
        "scores": [
            {"key": key, "score": plain(score), "reason": reasons.get(key, "")}
            for key, score in scores.items()
        ],
        "composite": composite(rubric, scores, checks).quantize(EXACT),
        "note": note,
    }


def validate_scores(
    rubric: engine.Rubric, scores: Mapping[str, Decimal], reasons: Mapping[str, str], note: str
) -> None:
    """Every criterion has a score on the scale, and no text exceeds its limit."""
    errors: dict[str, str] = {}
    if not rubric.criteria:
        errors["note"] = "This rubric has no criteria to score, only checks."
    for criterion in rubric.criteria:
        score = scores.get(criterion.key)
        if score is None:
            errors[SCORE + criterion.key] = "Score this criterion."
        elif not (score.is_finite() and rubric.scale.admits(score)):
            allowed = scale_in_words(rubric.scale)
            errors[SCORE + criterion.key] = f"{plain(score)} is not on the scale. Allowed: {allowed}."
        if len(reasons.get(criterion.key, "")) > REASON_CHARS:
            errors[REASON + criterion.key] = f"A reason can have at most {REASON_CHARS:,} characters."
    if len(note) > NOTE_CHARS:
        errors["note"] = f"A note can have at most {NOTE_CHARS:,} characters."
    if errors:
        raise ValidationError(errors)


def _text(text: str) -> str:
    return storable(text).replace("\r\n", "\n").strip()


def _first(run: Run, row: Round, user: User, values: dict[str, Any]) -> HumanScore:
    try:
        with transaction.atomic():
            return HumanScore.objects.create(
                run=run, round=row, author=user, author_name=user.display_name[:120], **values
            )
    except IntegrityError:
        raise ScoreConflict(HumanScore.objects.get(round=row, author=user)) from None


def _same(row: HumanScore, values: dict[str, Any]) -> bool:
    return all(getattr(row, name) == values[name] for name in ("scores", "note"))


def _next(before: HumanScore, values: dict[str, Any], seen_version: int) -> HumanScore:
    changed = HumanScore.objects.filter(pk=before.pk, version=seen_version).update(
        version=F("version") + 1, changed_at=timezone.now(), **values
    )
    stored = HumanScore.objects.get(pk=before.pk)
    if not changed:
        raise ScoreConflict(stored)
    return stored


def _closed(score: HumanScore, reading: BlindReading | None, blind_next: int | None) -> HumanScore:
    if reading is not None and blind_next is not None:
        blind_reading_move(reading=reading, number=blind_next)
    elif reading is not None:
        blind_reading_end(reading=reading)
    return score


def _record(run: Run, row: Round, user: User, *, before: HumanScore | None, after: HumanScore) -> None:
    audit_record(
        action="score.change" if before else "score.give",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        before=_audited(row, before) if before else {},
        after=_audited(row, after),
    )
    people_gap_store(run)
    trust_refresh_round(row)
    # The event has no score: each open page requests what its reader may see.
    event_record(run.pk, EventKind.SCORED, actor=actor_name(user), user=user, data={"round": row.number})


def _audited(row: Round, score: HumanScore) -> dict[str, object]:
    return {
        "round": row.number,
        "version": score.version,
        "composite": plain(score.composite),
        "scores": {entry["key"]: entry["score"] for entry in score.scores},
        "blind": score.blind,
        "note": score.note,
    }
