"""Sentences that tell people why a run stopped."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

from refinement.engine.noise import usual_gain
from refinement.engine.scoring import best_round, gain, passes, reaches_threshold, shown, unmet_gates
from refinement.engine.stopping import round_limit
from refinement.engine.types import Assessment, Failure, Gate, History, Role, Round, Rubric, StopReason

UNKNOWN_NOISE = "(the judge's noise was not known)"


def round_name(number: int) -> str:
    """The displayed name of a round: `round 2`."""
    return f"round {number}"


def why_stopped(rubric: Rubric, history: History, reason: StopReason) -> str:
    """Why the run stopped, why the result did not pass despite its score, and which round is the result."""
    assessed = history.assessed
    if not assessed:
        return f"Stopped before any round was judged: {budget_sentence(rubric, reason)}."
    describe = SENTENCES.get(reason)
    cause = describe(rubric, history) if describe else budget_sentence(rubric, reason)
    ended = f"Stopped after {round_name(assessed[-1].number)}: {cause}."
    best = assessment_of(best_of(rubric, history))
    return f"{ended}{result_sentence(rubric, assessed)}{blocked_sentence(rubric, best)}"


def result_sentence(rubric: Rubric, assessed: tuple[Round, ...]) -> str:
    """Names the result if it is not the last round."""
    best = best_round(rubric, assessed)
    if best is None or best.number == assessed[-1].number:
        return ""
    return f" {round_name(best.number).capitalize()} is the result."


def blocked_sentence(rubric: Rubric, assessment: Assessment) -> str:
    """Why a round at the threshold did not pass; empty if it passed, or its score is too low."""
    missed = [result.key for result in assessment.blocking]
    gates = [gate for gate in unmet_gates(rubric, assessment) if not set(gate.keys) & set(missed)]
    if not reaches_threshold(rubric, assessment) or not (missed or gates):
        return ""
    words = [*([failed_checks(missed)] if missed else []), *(gate_words(gate) for gate in gates)]
    return f" {held_back_by(rubric, assessment.composite, ' and '.join(words))}"


def held_back(rubric: Rubric, composite: Decimal, checks: Sequence[str]) -> str:
    """Why a round with this composite did not pass, by the keys of the checks that failed."""
    return held_back_by(rubric, composite, failed_checks(checks))


def held_back_by(rubric: Rubric, composite: Decimal, cause: str) -> str:
    if rubric.policy.pass_threshold is None:
        return f"{cause[:1].upper()}{cause[1:]}."
    return f"Score {shown(composite, rubric.policy)} reached the pass mark, but {cause}."


def gate_words(gate: Gate) -> str:
    """What a gate asked for, in words: `“clarity” is below 0.8`."""
    keys = gate.keys
    if len(keys) == 1 and gate.threshold == 1:
        return failed_checks(keys)
    names = f"“{keys[0]}”" if len(keys) == 1 else f"the mean of {', '.join(f'“{key}”' for key in keys)}"
    return f"{names} is below {gate.threshold.normalize():f}"


def failed_checks(keys: Sequence[str]) -> str:
    """The checks in words: `the checks “a” and “b” failed`."""
    *others, last = [f"“{key}”" for key in keys]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"the check{'s' if others else ''} {names} failed"


def failure_sentence(failure: Failure) -> str:
    """Who failed and why. A message such as `did not answer` continues the sentence."""
    name = "writer" if failure.role is Role.PRODUCER else failure.role
    return f"The {name}{'' if failure.message.startswith('did ') else ' failed:'} {failure.message}"


def quorum_sentence(history: History, entry: Round) -> str:
    """Why a board's round is unscored: which judges could not be read."""
    names = [history.panel[answer.seat - 1].name for answer in entry.board if answer.verdict is None]
    *others, last = names
    listed = f"{', '.join(others)} and {last}" if others else last
    valid = len(history.panel) - len(names)
    return (
        f"The board has no quorum: {valid} of {len(history.panel)} judges returned valid scores. "
        f"{listed} did not. Retry the run, or change the judges' models."
    )


def best_of(rubric: Rubric, history: History) -> Round:
    best = best_round(rubric, history.rounds)
    assert best is not None
    return best


def assessment_of(entry: Round) -> Assessment:
    assert entry.assessment is not None
    return entry.assessment


def passed_sentence(rubric: Rubric, history: History) -> str:
    score = shown(history.window[-1].composite, rubric.policy)
    if rubric.policy.pass_threshold is None:
        return "everything that is required holds"
    return f"{score} reaches the pass mark of {rubric.policy.pass_threshold}"


def perfect_sentence(rubric: Rubric, history: History) -> str:
    return f"{shown(history.window[-1].composite, rubric.policy)} is a perfect score"


def limit_sentence(rubric: Rubric, history: History) -> str:
    policy = rubric.policy
    limit = f"reached the {round_limit(rubric, history)}-round limit"
    if policy.pass_threshold is None:
        return limit
    reached = reaches_threshold(rubric, assessment_of(best_of(rubric, history)))
    return f"{limit}, {'at' if reached else 'below'} the pass mark of {policy.pass_threshold}"


def cycling_sentence(rubric: Rubric, history: History) -> str:
    return f"all scores are the same as in {round_name(history.assessed[-2].number)}"


def regression_sentence(rubric: Rubric, history: History) -> str:
    return fall_sentence(rubric, *history.window[-2:])


def fall_sentence(rubric: Rubric, before: Assessment, after: Assessment) -> str:
    """What fell: a check that passed before, the primary criterion, the score or the metric."""
    if passes(rubric, before) and after.blocking:
        return failed_checks([result.key for result in after.blocking])
    primary = rubric.primary
    if primary is not None and after.scores[primary.key] < before.scores[primary.key]:
        old, new = (f"{entry.scores[primary.key].normalize():f}" for entry in (before, after))
        return f"{primary.name} fell from {old} to {new}"
    if after.composite < before.composite:
        old, new = (shown(entry.composite, rubric.policy) for entry in (before, after))
        return f"the score fell from {old} to {new}"
    if after.blocking and not before.blocking:
        return failed_checks([result.key for result in after.blocking])
    if unmet := unmet_gates(rubric, after):
        return gate_words(unmet[0])
    return f"the score stayed, and {rubric.evaluator.metrics[0].name} got worse"


def no_improvement_sentence(rubric: Rubric, history: History) -> str:
    policy = rubric.policy
    change = f"the gain of {shown(gain(rubric, *history.window[-2:]), policy)}"
    if not policy.goes_by_noise:
        return f"{change} is below the minimum of {policy.minimum_gain}"
    if history.noise is not None:
        return f"{change} is within the judge's noise of {shown(history.noise, policy)}"
    return f"{change} is below {usual_gain(rubric).normalize():f} {UNKNOWN_NOISE}"


def plateau_sentence(rubric: Rubric, history: History) -> str:
    window = rubric.policy.plateau_window
    before = replace(history, rounds=history.compared[:-window])
    name = round_name(best_of(rubric, before).number)
    return f"none of the last {window} rounds is better than {name}{noise_words(rubric, history.noise)}"


def noise_words(rubric: Rubric, noise: Decimal | None) -> str:
    """By how much a round has to be better, if the policy goes by the judge's noise."""
    if not rubric.policy.goes_by_noise:
        return ""
    if noise is None:
        return f" {UNKNOWN_NOISE}"
    return f" by more than the judge's noise of {shown(noise, rubric.policy)}"


def unchanged_sentence(rubric: Rubric, history: History) -> str:
    before, after = history.compared[-2:]
    same = "the same text as" if before.candidate == after.candidate else "nearly the same text as"
    return f"the writer returned {same} in {round_name(before.number)}"


def budget_sentence(rubric: Rubric, reason: StopReason) -> str:
    budget = rubric.policy.budget
    limits = {
        StopReason.BUDGET_TOKENS: (budget.tokens, "token"),
        StopReason.BUDGET_SECONDS: (budget.seconds, "second"),
        StopReason.BUDGET_CALLS: (budget.calls, "call"),
    }
    limit, unit = limits[reason]
    return f"the budget of {limit:,} {unit}{'' if limit == 1 else 's'} is used up"


SENTENCES: dict[StopReason, Callable[[Rubric, History], str]] = {
    StopReason.PASSED: passed_sentence,
    StopReason.QUALITY_THRESHOLD_MET: passed_sentence,
    StopReason.PERFECT_SCORE: perfect_sentence,
    StopReason.MAX_ROUNDS: limit_sentence,
    StopReason.MAX_ITERATIONS_REACHED: limit_sentence,
    StopReason.CYCLING: cycling_sentence,
    StopReason.SCORE_REGRESSION: regression_sentence,
    StopReason.NO_IMPROVEMENT: no_improvement_sentence,
    StopReason.PLATEAU: plateau_sentence,
    StopReason.UNCHANGED: unchanged_sentence,
}
