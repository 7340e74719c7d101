"""What a pass mark would have done to the rubric's latest runs."""

from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.types import Outcome, Scale
from refinement.models import Rubric
from refinement.selectors.reviews.blindness import shown_runs

LATEST = 20


@dataclass(frozen=True, slots=True)
class PastScores:
    """Best scores of the latest finished runs on the same scale. Runs held back by a check never pass."""

    runs: int = 0
    scores: tuple[Decimal, ...] = ()

    def passing(self, mark: Decimal) -> int:
        return sum(score >= mark for score in self.scores)

    def words(self, mark: Decimal | None, before: Decimal | None) -> str:
        """How many of them would pass with this mark, and with the saved one if it is another."""
        if not self.runs:
            return "No finished runs yet."
        runs = f"the last {self.runs} runs" if self.runs > 1 else "the only run"
        if mark is None:
            return f"Without a pass mark, none of {runs} would pass or fail."
        other = f", {self.passing(before)} with {before}" if before is not None and before != mark else ""
        return f"Of {runs}, {self.passing(mark)} would pass with {mark}{other}."


def lately(rubric: Rubric) -> str:
    """How the rubric's latest runs ended, in a few words."""
    ends = list(
        shown_runs(rubric.project)
        .filter(rubric_version__rubric=rubric, outcome__in=(Outcome.PASS, Outcome.FAIL, Outcome.DONE))
        .order_by("-id")
        .values_list("outcome", flat=True)[:LATEST]
    )
    judged = [outcome for outcome in ends if outcome != Outcome.DONE]
    if judged:
        passed = sum(outcome == Outcome.PASS for outcome in judged)
        return f"{passed} of {len(judged)} runs passed"
    return f"{len(ends)} run{'' if len(ends) == 1 else 's'} done" if ends else "No finished runs"


def past_scores(rubric: Rubric, scale: Scale) -> PastScores:
    """The latest finished runs of the rubric whose scores are on this scale."""
    rows = (
        shown_runs(rubric.project)
        .filter(
            rubric_version__rubric=rubric,
            rubric_version__scale_minimum=scale.minimum,
            rubric_version__scale_maximum=scale.maximum,
            outcome__in=(Outcome.PASS, Outcome.FAIL, Outcome.DONE),
        )
        .order_by("-id")
        .values_list("outcome", "best", "snapshot__policy__pass_threshold")[:LATEST]
    )
    kept = [(outcome, best, mark) for outcome, best, mark in rows if best is not None]
    scores = tuple(best for outcome, best, mark in kept if not _held_back(outcome, best, mark))
    return PastScores(len(kept), scores)


def _held_back(outcome: str, best: Decimal, mark: str | None) -> bool:
    """Whether the run failed although its score reached the mark: a check kept it from passing."""
    return outcome == Outcome.FAIL and mark is not None and best >= Decimal(mark)
