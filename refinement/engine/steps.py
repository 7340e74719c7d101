"""The loop: decides what a run does next from its rubric and history."""

from dataclasses import replace

from refinement.engine.boards import board_step, has_board, lacks_quorum, wants_key_change
from refinement.engine.feedback import feedback_from
from refinement.engine.scoring import best_round
from refinement.engine.sentences import (
    assessment_of,
    failure_sentence,
    fall_sentence,
    quorum_sentence,
    round_name,
    why_stopped,
)
from refinement.engine.stopping import outcome_of, passed_in_round, spent_budget, stop_reason
from refinement.engine.types import (
    AskPlateau,
    Assessment,
    Describe,
    Draft,
    Escalate,
    Finish,
    History,
    Judge,
    NextBase,
    OnPlateau,
    Outcome,
    Repair,
    Revise,
    Role,
    Round,
    Rubric,
    Step,
    StopReason,
)


def next_step(rubric: Rubric, history: History) -> Step:
    """The next step of a run. The same history always gives the same step.

    A round is drafted or revised, repaired if its validation failed, and judged: by one judge, or by a board
    that scores, deliberates and merges. Then a stop rule ends the run, or the next revision follows.
    """
    if history.failure is not None:
        return give_up(rubric, history)
    last = history.rounds[-1] if history.rounds else None
    spent = spent_budget(rubric, history)
    if last is not None and last.assessment is not None:
        if spent is None and wants_key_change(rubric, history, last):
            return Describe(last.number)
        reason = stop_reason(rubric, history)
        if reason is not None:
            on_plateau = after_plateau(rubric, history, last) if reason is StopReason.PLATEAU else None
            return on_plateau or finish(rubric, history, reason)
    if spent is not None and next_needs_a_call(rubric, history):
        return finish(rubric, history, spent)
    if last is None:
        return Draft()
    if last.assessment is None:
        return judge(rubric, history, last)
    return revise(rubric, history, last, last.assessment)


def judge(rubric: Rubric, history: History, last: Round) -> Step:
    """How the last round is judged. A board of which too few judges can be read leaves it unscored."""
    if needs_repair(last):
        return Repair(last.number)
    if not has_board(rubric, history, last.number):
        return Judge(last.number)
    if lacks_quorum(history, last):
        return unscored(rubric, history, quorum_sentence(history, last))
    return board_step(rubric, history, last)


def after_plateau(rubric: Rubric, history: History, last: Round) -> Escalate | AskPlateau | None:
    """What a run does on its plateau instead of stopping: once, and only a board can be escalated to."""
    if history.plateau_accepted or history.escalated_after:
        return None
    if rubric.policy.on_plateau is OnPlateau.ASK:
        return AskPlateau(last.number)
    single = bool(rubric.criteria) and not has_board(rubric, history, last.number)
    return Escalate(last.number) if rubric.policy.on_plateau is OnPlateau.BOARD and single else None


def next_needs_a_call(rubric: Rubric, history: History) -> bool:
    """Whether the next step calls a model. Judging by checks alone is free and ignores the budget."""
    waiting = bool(history.rounds) and history.rounds[-1].assessment is None
    return not waiting or bool(rubric.criteria) or needs_repair(history.rounds[-1])


def needs_repair(entry: Round) -> bool:
    """Whether the producer repairs the candidate before it is judged: once, and never a person's edit."""
    return entry.invalid and not entry.repaired and not entry.by_hand


def revise(rubric: Rubric, history: History, last: Round, assessment: Assessment) -> Revise:
    """The next revision. Its feedback comes from the latest judgement, whatever its base."""
    if last.number in (history.extended_after, history.escalated_after):
        return extend(rubric, history, last)
    base, note = revision_base(rubric, history, last)
    feedback = feedback_from(rubric, last.number, assessment, note)
    return Revise(last.number + 1, base, replace(feedback, instructions=history.instructions))


def extend(rubric: Rubric, history: History, last: Round) -> Revise:
    """The first extra round: starts from the best round and its feedback."""
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
    if rubric.policy.next_base is NextBase.LATEST_OR_BEST or is_extra(history, last):
        best = best_round(rubric, history.rounds)
        if best is not None and best.number != last.number and is_worse(rubric, last, best):
            fell = fall_sentence(rubric, assessment_of(best), assessment_of(last))
            return best.number, (
                f"{round_name(last.number).capitalize()} was worse than {round_name(best.number)}: {fell}. "
                "This revision starts again from the better one."
            )
    return last.number, ""


def is_extra(history: History, last: Round) -> bool:
    """Whether the last round was added to the run. Extra rounds build on its best, or on a person's edit."""
    after = max(history.extended_after, history.escalated_after)
    added = [entry for entry in history.rounds if entry.number > after]
    return 0 < after < last.number and not any(entry.by_hand for entry in added)


def is_worse(rubric: Rubric, last: Round, best: Round) -> bool:
    """Whether the last round ranks below the best one. A tie is not worse."""
    return best_round(rubric, (last, best)) is not last


def finish(rubric: Rubric, history: History, reason: StopReason) -> Finish:
    best, outcome = best_round(rubric, history.rounds), outcome_of(rubric, history, reason)
    return Finish(
        outcome=outcome,
        reason=reason,
        why=why_stopped(rubric, history, reason),
        best_round=best.number if best else None,
        passed_in_round=passed_in_round(rubric, history) if outcome is Outcome.PASS else None,
    )


def give_up(rubric: Rubric, history: History) -> Finish:
    """Ends the run in ERROR after a failed step. The best round so far is still the result."""
    assert history.failure is not None
    by_producer = history.failure.role is Role.PRODUCER
    reason = StopReason.PRODUCER_FAILED if by_producer else StopReason.JUDGE_FAILED
    return unscored(rubric, history, failure_sentence(history.failure), reason)


def unscored(
    rubric: Rubric, history: History, why: str, reason: StopReason = StopReason.JUDGE_FAILED
) -> Finish:
    best = best_round(rubric, history.rounds)
    return Finish(outcome=Outcome.ERROR, reason=reason, why=why, best_round=best.number if best else None)
