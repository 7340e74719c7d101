"""The poller's queries: one for all watched runs, more only for runs with news."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import render_to_string

from refinement.judging.parsing.partial import last_entry, partial_verdict
from refinement.selectors.reviews.blindness import blind_readers_of
from refinement.selectors.runs.boards.live import texts_of_judges
from refinement.selectors.runs.live.page import (
    Glance,
    LiveState,
    events_after,
    glances_at,
    live_states,
    pieces_after,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the watchers of a run still need, by the one that has seen least."""

    after_event: int
    after_piece: int
    seen: frozenset[object]  # the run's state last sent to each watcher
    after_judges: int = 0
    html: bool = False  # whether any watcher is a page, which needs HTML


@dataclass(frozen=True, slots=True)
class News:
    """A run's state and news. Each frame is built once for all watchers."""

    glance: Glance
    events: list[dict[str, Any]] = field(default_factory=list)
    pieces: list[tuple[int, str]] = field(default_factory=list)
    state: LiveState | None = None
    blind: Collection[int] = ()  # users who score the run blind and must not see it
    frames: dict[object, bytes] = field(default_factory=dict)
    reading: str = ""  # the judge's reply so far as HTML, if it has grown
    judges: Mapping[int, str] = field(default_factory=dict)  # the same for a board, by seat

    def made(self, key: object, make: Callable[[], bytes]) -> bytes:
        """The frame for this key, built on first use."""
        if key not in self.frames:
            self.frames[key] = make()
        return self.frames[key]


def state_key(glance: Glance) -> object:
    """A value that changes when the displayed state may change."""
    return glance.status, glance.next_try_at, glance.newest_event


def collect_news(wanted: Mapping[int, Wanted]) -> dict[int, News]:
    """The news of the watched runs, without deleted runs."""
    glances = glances_at(list(wanted))
    fresh = {
        pk: wanted[pk].after_event
        for pk, glance in glances.items()
        if glance.newest_event > wanted[pk].after_event
    }
    changed = [pk for pk, glance in glances.items() if wanted[pk].seen != {state_key(glance)}]
    events = events_after(fresh) if fresh else {}
    pieces = {pk: pieces_of(pk, glance, wanted[pk]) for pk, glance in glances.items()}
    writing = {pk for pk, new in pieces.items() if new}
    states = live_states({*changed, *writing}) if changed or writing else {}
    readings = {
        pk: reading_of(pk, glances[pk])
        for pk in writing
        if wanted[pk].html and pk in states and states[pk].writer == "judge"
    }
    judges = {
        pk: judges_of(pk)
        for pk, glance in glances.items()
        if wanted[pk].html and (glance.last_of_judges or 0) > wanted[pk].after_judges
    }
    updated = {*fresh, *changed, *writing, *judges}
    blind = blind_readers_of(updated) if updated else {}
    return {
        pk: News(
            glance,
            events.get(pk, []),
            pieces[pk],
            states.get(pk),
            blind.get(pk, ()),
            reading=readings.get(pk, ""),
            judges=judges.get(pk, {}),
        )
        for pk, glance in glances.items()
    }


def pieces_of(run_id: int, glance: Glance, wanted: Wanted) -> list[tuple[int, str]]:
    if glance.last_piece is None or glance.last_piece <= wanted.after_piece:
        return []
    return pieces_after(run_id, glance.attempt, wanted.after_piece)


def reading_of(run_id: int, glance: Glance) -> str:
    """The judge's reply so far as HTML, escaped by the template."""
    text = "".join(piece for _, piece in pieces_after(run_id, glance.attempt, 0))
    return render_to_string("refinement/runs/_reading.html", {"reading": partial_verdict(text)})


def judges_of(run_id: int) -> dict[int, str]:
    """What each judge of a board is writing, as HTML."""
    return {
        seat: render_to_string("refinement/runs/_live_said.html", {"seat": seat, "said": last_entry(text)})
        for seat, text in texts_of_judges(run_id).items()
    }
