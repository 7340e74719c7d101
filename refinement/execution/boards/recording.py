"""Records a board's answers: each in one transaction under the lease, as soon as it arrives."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone

from refinement.engine.types import BoardVerdict as Answer
from refinement.engine.types import CriterionStance, History, PanelJudge, Verdict
from refinement.execution.lost_connections import retry_lost_connection
from refinement.execution.steps.record_values import usage_values, verdict_values
from refinement.execution.steps.recording import STEP_DONE, Recorder, insert
from refinement.models import BoardVerdict, Call, EventKind, Round, Run
from refinement.models import PanelJudge as PanelRow

# A judge's answer is progress: its failures so far no longer count.
ANSWERED: dict[str, object] = {"step_calls": 0, "step_failures": 0, "crashes": 0}


@retry_lost_connection
def unreadable_record(
    recorder: Recorder, call: Call, key: str, *, slots: dict[str, int], after: History
) -> History:
    """Records a reply that could not be read; its judge is asked again."""
    run = recorder.run
    counts = {**run.board_unreadable, key: run.board_unreadable.get(key, 0) + 1}
    change = {**usage_values(run, call), **ANSWERED, "board_unreadable": counts, "calling": slots}
    with recorder.step(change, after):
        insert(call)
        said = {"round": call.round_number, "seat": call.seat, "complaint": call.complaint[:500]}
        recorder.event(EventKind.UNREADABLE, purpose=call.purpose, **said)
    return recorder.history(after)


@retry_lost_connection
def failed_call_record(recorder: Recorder, call: Call, *, after: History) -> None:
    """Records a failed call in addition to the one for which the run waits."""
    with recorder.step(usage_values(recorder.run, call), after):
        insert(call)


@retry_lost_connection
def panel_record(
    recorder: Recorder, call: Call | None, panel: Sequence[PanelJudge], *, problem: str = "", after: History
) -> History:
    """Records the run's panel. Its judges without a model of their own use the run's judge model."""
    run = recorder.run
    after = replace(after, panel=tuple(panel))
    with recorder.step({**(usage_values(run, call) if call else {}), **STEP_DONE}, after):
        if call is not None:
            insert(call)
        PanelRow.objects.bulk_create(panel_rows(run, panel, by_clerk=not problem))
        recorder.event(EventKind.COMPOSED, judges=len(panel), problem=problem)
    return recorder.history(after)


def panel_rows(run: Run, panel: Sequence[PanelJudge], *, by_clerk: bool = False) -> list[PanelRow]:
    """The rows of a panel for this run."""
    rows = []
    for seat, judge in enumerate(panel, start=1):
        endpoint, _, model = judge.model.partition("/")
        rows.append(
            PanelRow(
                run=run,
                seat=seat,
                name=judge.name,
                lens=judge.lens,
                endpoint=endpoint or run.judge_endpoint,
                model=model or run.judge_model,
                by_clerk=by_clerk,
            )
        )
    return rows


@retry_lost_connection
def answer_record(
    recorder: Recorder,
    call: Call | None,
    number: int,
    answer: Answer,
    *,
    seen_chars: int | None,
    slots: dict[str, int],
    after: History,
) -> History:
    """Records a judge's own verdict, or why there is none."""
    after = with_answer(after, answer)
    with recorder.step(answered(recorder, call, slots), after):
        if call is not None:
            insert(call)
        BoardVerdict.objects.create(
            round_id=recorder.round_key(number),
            judge_id=seat_key(recorder, answer.seat),
            seat=answer.seat,
            seen_chars=seen_chars,
            problem=answer.problem,
            **(board_values(answer.verdict) if answer.verdict else {}),
        )
        recorder.event(EventKind.ANSWERED, round=number, seat=answer.seat, problem=bool(answer.problem))
    return recorder.history(after)


@retry_lost_connection
def stances_record(
    recorder: Recorder,
    call: Call | None,
    number: int,
    seat: int,
    stances: Sequence[CriterionStance],
    *,
    problem: str = "",
    slots: dict[str, int],
    after: History,
) -> History:
    """Records what a judge says after reading the others. Without stances, its own scores stand."""
    answer = next(entry for entry in after.rounds[-1].board if entry.seat == seat)
    after = with_answer(after, replace(answer, stances=tuple(stances)))
    with recorder.step(answered(recorder, call, slots), after):
        if call is not None:
            insert(call)
        BoardVerdict.objects.filter(round_id=recorder.round_key(number), seat=seat).update(
            stances=[stance_values(stance) for stance in stances],
            stances_problem=problem,
            deliberated_at=timezone.now(),
        )
        recorder.event(EventKind.DELIBERATED, round=number, seat=seat, problem=bool(problem))
    return recorder.history(after)


@retry_lost_connection
def change_record(
    recorder: Recorder, call: Call | None, number: int, change: str, *, slots: dict[str, int], after: History
) -> History:
    """Records what a round changed, in the clerk's words; empty if it could not name the change."""
    rounds = tuple(
        replace(entry, key_change=change) if entry.number == number else entry for entry in after.rounds
    )
    after = replace(after, rounds=rounds)
    with recorder.step(answered(recorder, call, slots), after):
        if call is not None:
            insert(call)
        Round.objects.filter(pk=recorder.round_key(number)).update(key_change=change)
        recorder.event(EventKind.DESCRIBED, round=number)
    return recorder.history(after)


def answered(recorder: Recorder, call: Call | None, slots: dict[str, int]) -> dict[str, Any]:
    """The run's fields after an answer: its usage, and the slots that other calls still need."""
    return {**(usage_values(recorder.run, call) if call else {}), **ANSWERED, "calling": slots}


def with_answer(history: History, answer: Answer) -> History:
    """The history with a judge's answer added to its last round, or replaced."""
    last = history.rounds[-1]
    board = {entry.seat: entry for entry in last.board} | {answer.seat: answer}
    entry = replace(last, board=tuple(board[seat] for seat in sorted(board)))
    return replace(history, rounds=(*history.rounds[:-1], entry))


def seat_key(recorder: Recorder, seat: int) -> int:
    return PanelRow.objects.values_list("pk", flat=True).get(run_id=recorder.run.pk, seat=seat)


def board_values(verdict: Verdict) -> dict[str, Any]:
    values = verdict_values(verdict)
    del values["judge"]
    return {**values, "contract_violation": verdict.contract_violation}


def stance_values(stance: CriterionStance) -> dict[str, str]:
    return {
        "key": stance.key,
        "stance": stance.stance.value,
        "score": str(stance.score),
        "reasoning": stance.reasoning,
    }
