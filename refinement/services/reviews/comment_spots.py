"""Validates the place in a run that a comment thread is attached to."""

from dataclasses import dataclass, replace

from django.core.exceptions import ValidationError

from refinement.anchoring import MOST_QUOTE, Quotation, passage_of, quotation_at
from refinement.engine.codec import rubric_from_json
from refinement.models import Round, Run, ThreadPlace, Verdict
from refinement.texts import storable


@dataclass(frozen=True, slots=True)
class Spot:
    """The place that a thread is about, as submitted."""

    place: ThreadPlace
    round_number: int | None = None
    key: str = ""
    position: int | None = None
    quotation: Quotation | None = None


def spot_checked(run: Run, spot: Spot) -> Spot:
    """The spot as it is stored. Raises ValidationError if the run has no such place."""
    if spot.place == ThreadPlace.RUN:
        return Spot(ThreadPlace.RUN)
    row = Round.objects.filter(run=run, number=spot.round_number or 0).first()
    if row is None:
        raise ValidationError({"about": "This run has no such round."})
    if spot.place == ThreadPlace.PASSAGE:
        return replace(spot, key="", position=None, quotation=_anchored(row, spot.quotation))
    if spot.place == ThreadPlace.CRITERION:
        _check_criterion(run, spot.key)
        return Spot(spot.place, row.number, key=spot.key)
    if spot.place == ThreadPlace.ISSUE:
        _check_issue(row, spot.position)
        return Spot(spot.place, row.number, position=spot.position)
    if spot.place == ThreadPlace.ASI and not any(verdict.asi for verdict in _verdicts(row)):
        raise ValidationError({"about": "The judge gave no direction in this round."})
    return Spot(spot.place, row.number)


def _anchored(row: Round, quotation: Quotation | None) -> Quotation:
    """The quotation as the source text has it, so that later rounds can match it."""
    if quotation is None or not quotation.text.strip():
        raise ValidationError({"quote": "Quote the passage you want to comment on."})
    if len(quotation.text) > MOST_QUOTE:
        raise ValidationError({"quote": f"Quote at most {MOST_QUOTE:,} characters."})
    wanted = Quotation(storable(quotation.text.strip()), quotation.before, quotation.after, quotation.start)
    passage = passage_of(wanted, row.candidate)
    if passage is None:
        raise ValidationError(
            {"quote": "This passage is not in the round's text. Copy it exactly as it appears there."}
        )
    return quotation_at(passage, row.candidate)


def _check_criterion(run: Run, key: str) -> None:
    if key not in {criterion.key for criterion in rubric_from_json(run.snapshot).criteria}:
        raise ValidationError({"about": "The run's rubric has no such criterion."})


def _check_issue(row: Round, position: int | None) -> None:
    verdict = next(iter(_verdicts(row)), None)
    if verdict is None or position is None or not 0 <= position < len(verdict.issues):
        raise ValidationError({"about": "The judge reported no such issue in this round."})


def _verdicts(row: Round) -> list[Verdict]:
    return list(Verdict.objects.filter(round=row).order_by("position")[:1])
