"""What a run's held-out judge says of its gain."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import ZERO, Rubric
from refinement.models import BenchTrial, JudgeRecord, Measurement, MeasurementKind, Round, Run, TrialStatus

LEAST_SHARE = Decimal("0.3")  # of the loop's gain, where the held-out judge's noise is not known
CONFIRMS, NO_GAIN, LOWER, NO_CLAIM = "confirms", "no_gain", "lower", "no_claim"
WORDS = {
    CONFIRMS: "The held-out judge confirms the gain",
    NO_GAIN: "The held-out judge sees no gain",
    LOWER: "The held-out judge sees a loss",
    NO_CLAIM: "The held-out judge",
}


@dataclass(frozen=True, slots=True)
class HeldOut:
    """The held-out judge's scores of the first and the best round. They are None until it has answered."""

    model: str
    endpoint: str
    measurement: int | None  # None if it was not asked
    first_round: int | None = None
    best_round: int | None = None
    first: Decimal | None = None
    best: Decimal | None = None
    finding: str = ""  # confirms, no_gain, lower, or no_claim if the loop's judge saw no gain either
    sentence: str = ""
    waiting: bool = False
    problem: str = ""

    @property
    def doubted(self) -> bool:
        """Whether only the loop's own judge sees the gain."""
        return self.finding in (NO_GAIN, LOWER)


def compared_rounds(run: Run) -> tuple[int, int] | None:
    """The first judged round and the best one; None if they are the same or nothing is judged."""
    first = Round.objects.filter(run=run, judged_at__isnull=False).order_by("number")
    number = first.values_list("number", flat=True).first()
    if number is None or run.best_round is None or number >= run.best_round:
        return None
    return number, run.best_round


def held_out_of(run: Run, rubric: Rubric) -> HeldOut | None:
    """What the run's held-out judge says; None if it has none. Three queries at most, none without one."""
    if not run.held_out_model:
        return None
    asked = _measurements(run.pk)
    judge = (run.held_out_model, run.held_out_endpoint)
    if not asked:
        return HeldOut(*judge, None, problem=_not_asked(run))
    measurement, scores = asked[0], _scores(asked[0].pk)
    found = HeldOut(*judge, measurement.pk, waiting=not measurement.is_finished)
    if len(scores) < 2:
        return found
    (first, first_row), (best, best_row) = scores[min(scores)], scores[max(scores)]
    found = replace(found, first_round=first_row.number, best_round=best_row.number, first=first, best=best)
    if first is None or best is None:
        problem = measurement.status_reason if found.waiting else "It gave no valid scores."
        return replace(found, problem=problem)
    finding = _finding(best - first, _loops_gain(first_row, best_row), _noise(measurement))
    values = [shown(score, rubric.policy) for score in (first, best)]
    rounds = f"{round_name(first_row.number)} to {round_name(best_row.number)}"
    sentence = f"{WORDS[finding]}: {values[0]} → {values[1]} from {rounds}."
    return replace(found, finding=finding, sentence=sentence, waiting=False)


def _not_asked(run: Run) -> str:
    if not run.is_finished:
        return "It is asked when the run ends."
    if run.best_round is None or run.rounds_judged < 2:
        return "There is no gain to check."
    return "It was not asked: the best round is the first one, or the token budget is used up."


def _finding(gain: Decimal, loops: Decimal, noise: Decimal | None) -> str:
    """What the held-out judge's gain says of the loop's."""
    least = max(ZERO, LEAST_SHARE * loops) if noise is None else noise
    if loops <= ZERO:
        return NO_CLAIM
    if gain < -(noise or ZERO):
        return LOWER
    return CONFIRMS if gain > ZERO and gain >= least else NO_GAIN


def _loops_gain(first: Round, best: Round) -> Decimal:
    return (best.composite or ZERO) - (first.composite or ZERO)


def _measurements(run: int) -> list[Measurement]:
    return list(Measurement.objects.filter(run=run, kind=MeasurementKind.HELD_OUT).order_by("pk"))


def _scores(measurement: int) -> Mapping[int, tuple[Decimal | None, Round]]:
    """The composite of each compared round, by the round's number."""
    trials = BenchTrial.objects.filter(bench__measured__measurement=measurement, status=TrialStatus.DONE)
    composites = dict(trials.values_list("bench__measured__round", "composite"))
    rows = Round.objects.filter(measurement_items__measurement=measurement).only("number", "composite")
    return {row.number: (composites.get(row.pk), row) for row in rows.order_by("number")}


def _noise(measurement: Measurement) -> Decimal | None:
    rows = JudgeRecord.objects.filter(rubric_version=measurement.rubric_version_id, key=measurement.model)
    known = rows.values_list("smallest_difference", flat=True).first()
    return None if known is None else Decimal(str(known))
