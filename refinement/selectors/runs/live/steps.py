"""The step that a run is in, and how a page says it."""

from collections.abc import Mapping
from typing import Any

from refinement.engine.types import Information
from refinement.models import EventKind, RoundOrigin, RunStatus
from refinement.selectors.runs.boards.live import BoardState, board_step

PLACE = "a free slot at "
WORKER_LOST = "The worker stopped or stopped responding"


def is_held(row: Mapping[str, Any]) -> bool:
    """Whether a worker carries out the run now."""
    return row["status"] == RunStatus.RUNNING and bool(row["lease_owner"])


WRITERS = {
    "judge": "judge",
    "draft": "producer",
    "revise": "producer",
    "repair": "producer",
    "evaluate": "evaluator",
    "score": "board",
    "deliberate": "board",
    "compose": "clerk",
    "merge": "clerk",
    "describe": "clerk",
}


def position(
    row: Mapping[str, Any], event: Mapping[str, Any] | None, board: BoardState | None
) -> tuple[str, int]:
    """The step carried out now and its round, or those with which a waiting run continues."""
    step, number = current_step(row, event, board) if event else ("", 1)
    if step:
        return step, number
    newest = row["newest_number"] or 0
    if not newest:
        return "draft", 1
    if row["newest_judged"] is not None:
        return "revise", newest + 1
    return (board.step if board else "judge"), newest


def current_step(
    row: Mapping[str, Any], event: Mapping[str, Any], board: BoardState | None
) -> tuple[str, int]:
    """The step carried out now, and its round; an empty step if the run is about to end."""
    step, number = step_in_progress(event)
    of_board = board_step(board, event, step) if board else None
    if of_board:
        return of_board
    if event["kind"] == EventKind.JUDGED and names_change(row):
        return "describe", number - 1
    return step, number


def names_change(row: Mapping[str, Any]) -> bool:
    """Whether the clerk has yet to name what the newest round of a single judge changed."""
    read = bool(row["clerk"]) or Information.HISTORY in (row["judge_sees"] or ())
    unnamed = row["newest_change"] is None and row["newest_origin"] != RoundOrigin.HAND
    return read and unnamed and (row["newest_number"] or 1) > 1


def step_in_progress(event: Mapping[str, Any]) -> tuple[str, int]:
    """The step that follows the event, and its round: recording one step begins the next."""
    kind, data = event["kind"], event["data"]
    number = data.get("round") or 1
    if kind == EventKind.CLAIMED:
        return data.get("step", ""), number
    if kind == EventKind.EVALUATING:
        return "evaluate", number
    if kind == EventKind.EVALUATED:
        invalid = data.get("command") == "validation" and data.get("number") == 1 and data["exit_code"] != 0
        return ("repair" if invalid else "judge"), number
    if kind in (EventKind.DRAFTED, EventKind.REVISED, EventKind.REPAIRED, EventKind.UNREADABLE):
        return "judge", number
    if kind in (EventKind.JUDGED, EventKind.DESCRIBED, EventKind.ESCALATED):
        return "revise", number + 1
    return "", number


def status_message(
    row: Mapping[str, Any], event: Mapping[str, Any] | None, board: BoardState | None = None
) -> str:
    """The current status as a sentence."""
    if row["status"] == RunStatus.QUEUED:
        return "Queued. Starts when a worker is free."
    if row["status"] == RunStatus.WAITING:
        return waiting_words(row["waiting_for"])
    if row["status"] == RunStatus.PAUSED:
        return "Paused on a plateau." if row["plateau_asked"] else "Paused. Resume it to continue."
    if row["status"] == RunStatus.FINISHED:
        return row["why"] or "Finished."
    return step_message(row, event, board)


def waiting_words(reason: str) -> str:
    if reason.startswith(PLACE):
        return f"Waiting for {reason}: it is at its limit of concurrent runs."
    if reason.startswith(WORKER_LOST):
        return f"Waiting to retry. {reason}"
    return f"Waiting for a model server. {reason}"


def step_message(
    row: Mapping[str, Any], event: Mapping[str, Any] | None, board: BoardState | None = None
) -> str:
    """The current step of a running run, from the last event."""
    if not row["lease_owner"]:
        return "Waiting for a free worker."
    if event is None:
        return "Started by a worker."
    if event["kind"] == EventKind.FAILED:
        return "A step failed; the run is about to end."
    step, number = current_step(row, event, board)
    name = f"Round {number}"
    if event["kind"] == EventKind.UNREADABLE:
        return f"{name}: {speaker_of(event, board)} reply was not valid, retrying."
    if event["kind"] == EventKind.EVALUATING:
        return f"{name}: {command_words(row, event['data'])} is running."
    if board and step == board.step:
        return f"{name}: {board.words}"
    return {
        "draft": f"{name}: the writer is writing the first draft.",
        "judge": f"{name}: the judge is answering.",
        "repair": f"{name}: the writer is repairing a text that failed validation.",
        "revise": f"{name}: the writer is writing a revision.",
        "describe": f"{name}: the clerk is naming what changed.",
    }.get(step, "Started by a worker.")


def speaker_of(event: Mapping[str, Any], board: BoardState | None) -> str:
    """Whose reply an event is about, in the genitive."""
    seat = event["data"].get("seat")
    if seat is None:
        return "the judge's"
    seats = board.seats if board else ()
    return next((f"{entry.name}'s" for entry in seats if entry.seat == seat), "the clerk's")


def command_words(row: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """The command that runs now, and which of its repeats."""
    if data.get("command") == "validation":
        return "the validation command"
    repeats = row["repeats"] or 1
    return f"the evaluator ({data.get('number')} of {repeats})" if repeats > 1 else "the evaluator"
