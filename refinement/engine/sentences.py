"""Sentences that tell people why a run stopped."""

from collections.abc import Callable
from decimal import Decimal

from refinement.engine.scoring import best_round, shown
from refinement.engine.types import Assessment, Failure, History, Role, Round, Rubric, StopReason


def round_name(rubric: Rubric, number: int) -> str:
    """The displayed name of a round: `round 2`, or `iteration 1` if counting starts at 0."""
    return f"{rubric.policy.round_word} {number - 1 + rubric.policy.first_number}"


def why_stopped(rubric: Rubric, history: History, reason: StopReason) -> str:
    """Why the run stopped, and which round is the result if it is not the last."""
    assessed = history.assessed
    if not assessed:
        return f"Stopped before any {rubric.policy.round_word} was judged: {budget_sentence(rubric, reason)}."
    last = assessed[-1]
    describe = SENTENCES.get(reason)
    cause = describe(rubric, assessed) if describe else budget_sentence(rubric, reason)
    return f"Stopped after {round_name(rubric, last.number)}: {cause}.{result_sentence(rubric, assessed)}"


def result_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    """Names the result if it is not the last round."""
    best = best_round(rubric, assessed)
    if best is None or best.number == assessed[-1].number:
        return ""
    return f" {round_name(rubric, best.number).capitalize()} is the result."


def failure_sentence(failure: Failure) -> str:
    role = "The judge" if failure.role is Role.JUDGE else "The producer"
    return f"{role} failed: {failure.message}"


def composites(assessed: tuple[Round, ...]) -> list[Decimal]:
    return [latest(entry).composite for entry in assessed]


def latest(entry: Round) -> Assessment:
    assert entry.assessment is not None
    return entry.assessment


def passed_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    score = shown(composites(assessed)[-1], rubric.policy)
    return f"{score} reaches the threshold of {rubric.policy.pass_threshold}"


def perfect_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    return f"{shown(composites(assessed)[-1], rubric.policy)} is a perfect score"


def limit_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    policy = rubric.policy
    limit = f"reached the {policy.max_rounds}-{policy.round_word} limit"
    if policy.pass_threshold is None:
        return limit
    reached = max(composites(assessed)) >= policy.pass_threshold
    return f"{limit}, {'at' if reached else 'below'} the threshold of {policy.pass_threshold}"


def cycling_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    return f"all scores are the same as in {round_name(rubric, assessed[-2].number)}"


def regression_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    before, after = composites(assessed)[-2:]
    return f"the score fell from {shown(before, rubric.policy)} to {shown(after, rubric.policy)}"


def no_improvement_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    before, after = composites(assessed)[-2:]
    gain = shown(after - before, rubric.policy)
    return f"the gain of {gain} is below the minimum of {rubric.policy.minimum_gain}"


def plateau_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    window = rubric.policy.plateau_window
    best_before = shown(max(composites(assessed)[:-window]), rubric.policy)
    return f"no score above {best_before} in the last {window} {rubric.policy.round_word}s"


def budget_sentence(rubric: Rubric, reason: StopReason) -> str:
    budget = rubric.policy.budget
    limits = {
        StopReason.BUDGET_TOKENS: (budget.tokens, "token"),
        StopReason.BUDGET_SECONDS: (budget.seconds, "second"),
        StopReason.BUDGET_CALLS: (budget.calls, "call"),
    }
    limit, unit = limits[reason]
    return f"the budget of {limit:,} {unit}{'' if limit == 1 else 's'} is used up"


SENTENCES: dict[StopReason, Callable[[Rubric, tuple[Round, ...]], str]] = {
    StopReason.PASSED: passed_sentence,
    StopReason.QUALITY_THRESHOLD_MET: passed_sentence,
    StopReason.PERFECT_SCORE: perfect_sentence,
    StopReason.MAX_ROUNDS: limit_sentence,
    StopReason.MAX_ITERATIONS_REACHED: limit_sentence,
    StopReason.CYCLING: cycling_sentence,
    StopReason.SCORE_REGRESSION: regression_sentence,
    StopReason.NO_IMPROVEMENT: no_improvement_sentence,
    StopReason.PLATEAU: plateau_sentence,
}
