"""The loop: decides what a run does next from its rubric and history."""

from dataclasses import replace

from refinement.engine.scoring import best_round
from refinement.engine.sentences import failure_sentence, round_name, why_stopped
from refinement.engine.stopping import outcome_of, spent_budget, stop_reason
from refinement.engine.types import (
    Assessment,
    Draft,
    Feedback,
    FeedbackStyle,
    Finish,
    History,
    Judge,
    NextBase,
    Outcome,
    Revise,
    Role,
    Round,
    Rubric,
    Step,
    StopReason,
)

# Contains no evaluator output, which the producer must not see. The judge names the cause.
FAILED_COMPLETELY = (
    "When this version was tried, it failed completely. Put the cause right before anything else."
)


def next_step(rubric: Rubric, history: History) -> Step:
    """The next step: draft, judge, revise or finish. The same history always gives the same step."""
    if history.failure is not None:
        return give_up(rubric, history)
    if history.rounds and history.rounds[-1].assessment is not None:
        reason = stop_reason(rubric, history)
        if reason is not None:
            return finish(rubric, history, reason)
    spent = spent_budget(rubric, history)
    if spent is not None and next_needs_a_call(rubric, history):
        return finish(rubric, history, spent)
    if not history.rounds:
        return Draft()
    last = history.rounds[-1]
    if last.assessment is None:
        return Judge(last.number)
    return revise(rubric, history, last, last.assessment)


def next_needs_a_call(rubric: Rubric, history: History) -> bool:
    """Whether the next step calls a model. Judging by checks alone is free and ignores the budget."""
    waiting = bool(history.rounds) and history.rounds[-1].assessment is None
    return not waiting or bool(rubric.criteria)


def revise(rubric: Rubric, history: History, last: Round, assessment: Assessment) -> Revise:
    """The next revision. Its feedback comes from the latest judgement, whatever its base."""
    if last.number == history.extended_after:
        return extend(rubric, history, last)
    base, note = revision_base(rubric, history, last)
    feedback = feedback_from(rubric, last.number, assessment, note)
    return Revise(last.number + 1, base, replace(feedback, instructions=history.instructions))


def extend(rubric: Rubric, history: History, last: Round) -> Revise:
    """The first extra round of a finished run: starts from the best round and its feedback."""
    best = best_round(rubric, history.rounds)
    assert best is not None
    assert best.assessment is not None
    feedback = feedback_from(rubric, best.number, best.assessment, note="")
    return Revise(last.number + 1, best.number, replace(feedback, instructions=history.instructions))


def revision_base(rubric: Rubric, history: History, last: Round) -> tuple[int | None, str]:
    """The round to start from (None is the original task), and a note if it is not the latest.

    A round edited by a person is always used as the base, so that the edit is not lost.
    """
    if rubric.policy.next_base is NextBase.ORIGINAL and not last.by_hand:
        return None, ""
    if rubric.policy.next_base is NextBase.LATEST_OR_BEST:
        best = best_round(rubric, history.rounds)
        if best is not None and best.number != last.number and is_worse(rubric, last, best):
            return best.number, (
                f"{round_name(rubric, last.number).capitalize()} was worse than "
                f"{round_name(rubric, best.number)}; this revision starts again from the better one."
            )
    return last.number, ""


def is_worse(rubric: Rubric, last: Round, best: Round) -> bool:
    """Whether the last round ranks below the best one. A tie is not worse."""
    return best_round(rubric, (last, best)) is not last


def feedback_from(rubric: Rubric, number: int, assessment: Assessment, note: str) -> Feedback:
    """The feedback for the producer in the policy's style. It contains no scores."""
    style = rubric.policy.feedback
    if assessment.evaluator is not None and assessment.evaluator.failure:
        note = f"{note} {FAILED_COMPLETELY}".strip()
    issues = tuple(issue for verdict in assessment.verdicts for issue in verdict.issues)
    asi = next((verdict.asi for verdict in assessment.verdicts if verdict.asi), "")
    failures = tuple(result for result in assessment.checks if not result.passed)
    if style is FeedbackStyle.ASI:
        return Feedback(style, number, issues=() if asi else issues[:1], asi=asi, note=note)
    if style is FeedbackStyle.ISSUES:
        return Feedback(style, number, issues=issues or ((asi,) if asi else ()), note=note)
    return Feedback(style, number, issues=issues, failures=failures, note=note)


def finish(rubric: Rubric, history: History, reason: StopReason) -> Finish:
    best = best_round(rubric, history.rounds)
    return Finish(
        outcome=outcome_of(rubric, history, reason),
        reason=reason,
        why=why_stopped(rubric, history, reason),
        best_round=best.number if best else None,
    )


def give_up(rubric: Rubric, history: History) -> Finish:
    """Ends the run in ERROR after a failed step. The best round so far is still the result."""
    assert history.failure is not None
    by_judge = history.failure.role is Role.JUDGE
    best = best_round(rubric, history.rounds)
    return Finish(
        outcome=Outcome.ERROR,
        reason=StopReason.JUDGE_FAILED if by_judge else StopReason.PRODUCER_FAILED,
        why=failure_sentence(history.failure),
        best_round=best.number if best else None,
    )
