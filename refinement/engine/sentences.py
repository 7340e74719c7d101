"""Why a run stopped, in a sentence for people."""

from collections.abc import Callable
from decimal import Decimal

from refinement.engine.scoring import best_round, shown
from refinement.engine.types import Assessment, Failure, History, Role, Round, Rubric, StopReason


def round_name(rubric: Rubric, number: int) -> str:
    """A round as people know it: `round 2`, or `iteration 1` where counting starts at 0."""
    return f"{rubric.policy.round_word} {number - 1 + rubric.policy.first_number}"


def why_stopped(rubric: Rubric, history: History, reason: StopReason) -> str:
    """The sentence for the run's page: what happened, and which round is the result."""
    assessed = history.assessed
    if not assessed:
        return f"Stopped before any {rubric.policy.round_word} was judged: {budget_words(rubric, reason)}."
    last = assessed[-1]
    told = SENTENCES.get(reason)
    cause = told(rubric, assessed) if told else budget_words(rubric, reason)
    return f"Stopped after {round_name(rubric, last.number)}: {cause}.{result_words(rubric, assessed)}"


def result_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    """Names the result where it is not the last round."""
    best = best_round(rubric, assessed)
    if best is None or best.number == assessed[-1].number:
        return ""
    return f" {round_name(rubric, best.number).capitalize()} is the result."


def failure_words(failure: Failure) -> str:
    who = "The judge" if failure.role is Role.JUDGE else "The producer"
    return f"{who} failed: {failure.message}"


def composites(assessed: tuple[Round, ...]) -> list[Decimal]:
    return [latest(entry).composite for entry in assessed]


def latest(entry: Round) -> Assessment:
    assert entry.assessment is not None
    return entry.assessment


def passed_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    score = shown(composites(assessed)[-1], rubric.policy)
    return f"{score} reaches the threshold of {rubric.policy.pass_threshold}"


def perfect_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    return f"{shown(composites(assessed)[-1], rubric.policy)} is a perfect score"


def limit_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    policy = rubric.policy
    used = f"all {policy.max_rounds} {policy.round_word}s are used"
    if policy.max_rounds == 1:
        used = f"its only {policy.round_word} is used"
    elif policy.first_number == 0:
        used = f"{policy.round_word}s 0 to {policy.max_rounds - 1} are used"
    if policy.pass_threshold is None:
        return used
    reached = max(composites(assessed)) >= policy.pass_threshold
    return f"{used}, {'at' if reached else 'below'} the threshold of {policy.pass_threshold}"


def cycling_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    return f"every score equalled {round_name(rubric, assessed[-2].number)}'s"


def regression_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    before, after = composites(assessed)[-2:]
    return f"the score fell from {shown(before, rubric.policy)} to {shown(after, rubric.policy)}"


def no_improvement_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    before, after = composites(assessed)[-2:]
    gain = shown(after - before, rubric.policy)
    return f"the gain of {gain} is smaller than the {rubric.policy.minimum_gain} asked for"


def plateau_words(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    window = rubric.policy.plateau_window
    best_before = shown(max(composites(assessed)[:-window]), rubric.policy)
    return f"the last {window} {rubric.policy.round_word}s brought nothing better than {best_before}"


def budget_words(rubric: Rubric, reason: StopReason) -> str:
    budget = rubric.policy.budget
    limits = {
        StopReason.BUDGET_TOKENS: (budget.tokens, "token"),
        StopReason.BUDGET_SECONDS: (budget.seconds, "second"),
        StopReason.BUDGET_CALLS: (budget.calls, "call"),
    }
    limit, unit = limits[reason]
    return f"the budget of {limit:,} {unit}{'' if limit == 1 else 's'} is used up"


SENTENCES: dict[StopReason, Callable[[Rubric, tuple[Round, ...]], str]] = {
    StopReason.PASSED: passed_words,
    StopReason.QUALITY_THRESHOLD_MET: passed_words,
    StopReason.PERFECT_SCORE: perfect_words,
    StopReason.MAX_ROUNDS: limit_words,
    StopReason.MAX_ITERATIONS_REACHED: limit_words,
    StopReason.CYCLING: cycling_words,
    StopReason.SCORE_REGRESSION: regression_words,
    StopReason.NO_IMPROVEMENT: no_improvement_words,
    StopReason.PLATEAU: plateau_words,
}
