"""Stop rules: functions of rubric and history, evaluated in the policy's order."""

from collections.abc import Callable
from decimal import Decimal

from refinement.engine.noise import same_text, usual_gain
from refinement.engine.safeguards import is_cycling
from refinement.engine.scoring import best_round, gain, is_perfect, passes, rank, succeeds
from refinement.engine.types import Assessment, History, Outcome, Rubric, StopReason

MORE_ROUNDS = 2  # that a board judges after a plateau
StopRule = Callable[[Rubric, History], bool]


def reached_threshold(rubric: Rubric, history: History) -> bool:
    """The latest round passes."""
    return passes(rubric, history.window[-1])


def reached_perfection(rubric: Rubric, history: History) -> bool:
    """The latest round is perfect."""
    return is_perfect(rubric, history.window[-1])


def round_limit(rubric: Rubric, history: History) -> int:
    """How many rounds the run has: the policy's, or two more than it had at its plateau."""
    if history.escalated_after > history.extended_after:
        return history.escalated_after + MORE_ROUNDS
    return rubric.policy.max_rounds


def used_all_rounds(rubric: Rubric, history: History) -> bool:
    return len(history.assessed) >= round_limit(rubric, history)


def cycles(rubric: Rubric, history: History) -> bool:
    """Every criterion has the same score as in the previous round."""
    assessments = history.window
    return len(assessments) > 1 and is_cycling(assessments[-1], assessments[-2])


def regressed(rubric: Rubric, history: History) -> bool:
    """The latest round ranks below the one before it."""
    assessments = history.window
    return len(assessments) > 1 and rank(rubric, assessments[-1]) < rank(rubric, assessments[-2])


def stopped_improving(rubric: Rubric, history: History) -> bool:
    """The latest gain is below the policy's minimum, or within the judge's noise."""
    assessments = history.window
    if len(assessments) < 2:
        return False
    if rubric.policy.goes_by_noise and history.noise is not None:
        return gain(rubric, assessments[-2], assessments[-1]) <= history.noise
    minimum = minimum_gain(rubric)
    return minimum is not None and gain(rubric, assessments[-2], assessments[-1]) < minimum


def minimum_gain(rubric: Rubric) -> Decimal | None:
    """The number that a gain must reach while the judge's noise is not known."""
    return usual_gain(rubric) if rubric.policy.goes_by_noise else rubric.policy.least_gain


def plateaued(rubric: Rubric, history: History) -> bool:
    """No round in the plateau window is better than the best round before it.

    If the policy goes by the judge's noise and it is known, better means by more than that.
    """
    window, assessments = rubric.policy.plateau_window, history.window
    if len(assessments) < rubric.policy.plateau_rounds:
        return False
    best = max(assessments[:-window], key=lambda entry: rank(rubric, entry))
    better = [entry for entry in assessments[-window:] if rank(rubric, entry) > rank(rubric, best)]
    if rubric.policy.goes_by_noise and history.noise is not None:
        return not any(shows_gain(rubric, best, entry, history.noise) for entry in better)
    return not better


def shows_gain(rubric: Rubric, before: Assessment, after: Assessment, noise: Decimal) -> bool:
    """Whether a better round gained more than noise, or passes checks that kept the other from passing."""
    return gain(rubric, before, after) > noise or (bool(before.blocking) and not after.blocking)


def repeats_itself(rubric: Rubric, history: History) -> bool:
    """The producer's newest text is the same as the one before it, or nearly so."""
    rounds = history.compared
    return (
        len(rounds) > 1 and not rounds[-1].by_hand and same_text(rounds[-2].candidate, rounds[-1].candidate)
    )


RULES: dict[StopReason, StopRule] = {
    StopReason.PASSED: reached_threshold,
    StopReason.QUALITY_THRESHOLD_MET: reached_threshold,
    StopReason.PERFECT_SCORE: reached_perfection,
    StopReason.MAX_ROUNDS: used_all_rounds,
    StopReason.MAX_ITERATIONS_REACHED: used_all_rounds,
    StopReason.CYCLING: cycles,
    StopReason.SCORE_REGRESSION: regressed,
    StopReason.NO_IMPROVEMENT: stopped_improving,
    StopReason.PLATEAU: plateaued,
    StopReason.UNCHANGED: repeats_itself,
}

SUCCESSES = frozenset({StopReason.PASSED, StopReason.QUALITY_THRESHOLD_MET, StopReason.PERFECT_SCORE})


def stop_reason(rubric: Rubric, history: History) -> StopReason | None:
    """The first rule that applies to the round just judged, in the policy's order."""
    if history.assessed[-1].number not in (history.extended_after, history.escalated_after):
        for reason in rubric.policy.stop_rules:
            if RULES[reason](rubric, history):
                return reason
    # The round limit applies even if the policy does not list it.
    return StopReason.MAX_ROUNDS if used_all_rounds(rubric, history) else None


def spent_budget(rubric: Rubric, history: History) -> StopReason | None:
    """The first budget that is used up, if any."""
    budget, used = rubric.policy.budget, history.usage
    for limit, spent, reason in (
        (budget.tokens, used.tokens, StopReason.BUDGET_TOKENS),
        (budget.seconds, used.seconds, StopReason.BUDGET_SECONDS),
        (budget.calls, used.calls, StopReason.BUDGET_CALLS),
    ):
        if limit is not None and Decimal(spent) >= Decimal(limit):
            return reason
    return None


def outcome_of(rubric: Rubric, history: History, reason: StopReason) -> Outcome:
    """PASS or FAIL if the policy has a threshold, otherwise DONE."""
    if reason in SUCCESSES:
        return Outcome.PASS
    best = best_round(rubric, history.rounds)
    if best is None or best.assessment is None:
        return Outcome.FAIL
    if not rubric.decides:
        return Outcome.DONE
    # Reaching the threshold is a pass even if the policy does not stop there.
    return Outcome.PASS if passes(rubric, best.assessment) else Outcome.FAIL


def passed_in_round(rubric: Rubric, history: History) -> int | None:
    """The first round that passed or was perfect, or None."""
    judged = ((entry.number, entry.assessment) for entry in history.rounds if entry.assessment)
    return next((number for number, assessment in judged if succeeds(rubric, assessment)), None)
