"""What the poller asks the database: one query for all watched runs, more only where something is new."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.template.loader import render_to_string

from refinement.judging.parsing.partial import partial_verdict
from refinement.selectors.reviews.blindness import blind_readers_of
from refinement.selectors.runs.live import (
    Glance,
    LiveState,
    events_after,
    glances_at,
    live_states,
    pieces_after,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """How far the watchers of a run have come: what the least of them has seen."""

    after_event: int
    after_piece: int
    seen: frozenset[object]  # how the run stood when each of them last heard of it
    html: bool = False  # whether any of them is a page, which shows a judge's reply as HTML


@dataclass(frozen=True, slots=True)
class News:
    """How a run stands and what is new of it; a frame is made once for all who watch."""

    glance: Glance
    events: list[dict[str, Any]] = field(default_factory=list)
    pieces: list[tuple[int, str]] = field(default_factory=list)
    state: LiveState | None = None
    blind: Collection[int] = ()  # who must not hear of it: they score the run blind
    frames: dict[object, bytes] = field(default_factory=dict)
    reading: str = ""  # a judge's reply so far as HTML, where it has grown

    def made(self, key: object, make: Callable[[], bytes]) -> bytes:
        """The frame of this key, made at the first asking."""
        if key not in self.frames:
            self.frames[key] = make()
        return self.frames[key]


def standing(glance: Glance) -> object:
    """Changes when the words for a run may."""
    return glance.status, glance.next_try_at, glance.newest_event


def look(wanted: Mapping[int, Wanted]) -> dict[int, News]:
    """The news of the watched runs; a run that is gone is not among them."""
    glances = glances_at(list(wanted))
    fresh = {
        pk: wanted[pk].after_event
        for pk, glance in glances.items()
        if glance.newest_event > wanted[pk].after_event
    }
    changed = [pk for pk, glance in glances.items() if wanted[pk].seen != {standing(glance)}]
    events = events_after(fresh) if fresh else {}
    pieces = {pk: pieces_of(pk, glance, wanted[pk]) for pk, glance in glances.items()}
    writing = {pk for pk, new in pieces.items() if new}
    states = live_states({*changed, *writing}) if changed or writing else {}
    readings = {
        pk: reading_of(pk, glances[pk])
        for pk in writing
        if wanted[pk].html and pk in states and states[pk].writer == "judge"
    }
    told = {*fresh, *changed, *writing}
    blind = blind_readers_of(told) if told else {}
    return {
        pk: News(
            glance,
            events.get(pk, []),
            pieces[pk],
            states.get(pk),
            blind.get(pk, ()),
            reading=readings.get(pk, ""),
        )
        for pk, glance in glances.items()
    }


def pieces_of(run_id: int, glance: Glance, wanted: Wanted) -> list[tuple[int, str]]:
    if glance.last_piece is None or glance.last_piece <= wanted.after_piece:
        return []
    return pieces_after(run_id, glance.attempt, wanted.after_piece)


def reading_of(run_id: int, glance: Glance) -> str:
    """The judge's reply so far as HTML; everything in it is escaped by the template."""
    text = "".join(piece for _, piece in pieces_after(run_id, glance.attempt, 0))
    return render_to_string("refinement/runs/_reading.html", {"reading": partial_verdict(text)})
