"""Where a thread is: a place of the run that is there, and for a passage the words of the text itself."""

from dataclasses import dataclass, replace

from django.core.exceptions import ValidationError

from refinement.anchoring import MOST_QUOTE, Quotation, passage_of, quotation_at
from refinement.engine.codec import rubric_from_json
from refinement.models import Round, Run, ThreadPlace, Verdict
from refinement.texts import storable


@dataclass(frozen=True, slots=True)
class Spot:
    """The place that a thread is to be about, as somebody named it."""

    place: ThreadPlace
    round_number: int | None = None
    key: str = ""
    position: int | None = None
    quotation: Quotation | None = None


def spot_checked(run: Run, spot: Spot) -> Spot:
    """The spot as it is kept; raises ValidationError where the run has no such place."""
    if spot.place == ThreadPlace.RUN:
        return Spot(ThreadPlace.RUN)
    row = Round.objects.filter(run=run, number=spot.round_number or 0).first()
    if row is None:
        raise ValidationError({"about": "There is no such round in this run."})
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


def _anchored(row: Round, given: Quotation | None) -> Quotation:
    """The quotation in the words of the source, so that it is found again in later rounds."""
    if given is None or not given.text.strip():
        raise ValidationError({"quote": "Quote the words that it is about."})
    if len(given.text) > MOST_QUOTE:
        raise ValidationError({"quote": f"Quote {MOST_QUOTE:,} characters at most."})
    wanted = Quotation(storable(given.text.strip()), given.before, given.after, given.start)
    passage = passage_of(wanted, row.candidate)
    if passage is None:
        raise ValidationError(
            {"quote": "These words are not in this round's text. Copy them as they stand there."}
        )
    return quotation_at(passage, row.candidate)


def _check_criterion(run: Run, key: str) -> None:
    if key not in {criterion.key for criterion in rubric_from_json(run.snapshot).criteria}:
        raise ValidationError({"about": "The run's rubric has no such criterion."})


def _check_issue(row: Round, position: int | None) -> None:
    verdict = next(iter(_verdicts(row)), None)
    if verdict is None or position is None or not 0 <= position < len(verdict.issues):
        raise ValidationError({"about": "The judge named no such issue in this round."})


def _verdicts(row: Round) -> list[Verdict]:
    return list(Verdict.objects.filter(round=row).order_by("position")[:1])
