"""Tags for a running run."""

from dataclasses import dataclass

from django import template

from refinement.judging.parsing.partial import Entry, partial_verdict
from refinement.models import Run, RunStatus
from refinement.selectors.runs.boards.live import LiveBoard, live_board
from refinement.selectors.runs.live import LiveState, live_states, text_under_way

register = template.Library()


@dataclass(frozen=True, slots=True)
class LiveBlock:
    state: LiveState
    text: str
    reading: list[Entry]  # the judge's reply so far; empty for other texts
    board: LiveBoard | None  # the judges, while a board judges a round


@register.simple_tag
def live_of(run: Run) -> LiveBlock:
    """The run's current state, and the end of the text in progress."""
    text = text_under_way(run) if run.status == RunStatus.RUNNING else ""
    state = live_states([run.pk])[run.pk]
    reading = partial_verdict(text) if state.writer == "judge" else []
    return LiveBlock(state, text, reading, live_board(run, state.board))


@register.filter
def duration(seconds: int | None) -> str:
    """Seconds as text: 45 s, 3 min 05 s, 2 h 07 min."""
    if seconds is None:
        return ""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
