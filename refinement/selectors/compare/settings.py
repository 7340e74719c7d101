"""The settings in which runs differ: rubric fields and launch options."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from refinement.selectors.compare.runs import Side
from refinement.selectors.rubrics.comparisons import fields_of, members_of
from refinement.selectors.runs.history import definition_of_run

EXCERPT_CHARS = 240
BRIEF_CHARS = 60  # longer values are not part of the summary
MOST_BRIEF = 6
BLOCK_CHARS = 4096
BEFORE_CHARS = 60  # unchanged text shown before a difference


@dataclass(frozen=True, slots=True)
class Setting:
    """A field across all runs; None for runs that lack it."""

    group: str
    label: str
    values: tuple[str | None, ...]

    @property
    def same(self) -> bool:
        return len(set(self.values)) == 1

    @property
    def brief(self) -> str:
        """Each run's value; empty if one is long."""
        values = [value or "none" for value in self.values]
        is_short = all(len(value) <= BRIEF_CHARS and "\n" not in value for value in values)
        return " / ".join(values) if is_short else ""


@dataclass(frozen=True, slots=True)
class Settings:
    differing: tuple[Setting, ...]
    same: int

    @property
    def first(self) -> tuple[Setting, ...]:
        """What differs, in a line."""
        return self.differing[:MOST_BRIEF]

    @property
    def more(self) -> int:
        """How many others differ."""
        return max(len(self.differing) - MOST_BRIEF, 0)


def settings_compared(sides: Sequence[Side]) -> Settings:
    """The fields in which the runs differ, in the first run's order, and how many are the same."""
    found = list(_settings(sides))
    differing = tuple(Setting(e.group, e.label, _excerpts(e.values)) for e in found if not e.same)
    return Settings(differing, same=len(found) - len(differing))


def _settings(sides: Sequence[Side]) -> Iterator[Setting]:
    launches = [_launch(side) for side in sides]
    for label in launches[0]:
        yield Setting("Launch", label, tuple(launch[label] for launch in launches))
    definitions = [definition_of_run(side.run) for side in sides]
    shared = reduce(frozenset.intersection, (members_of(definition) for definition in definitions))
    columns = [{entry.place: entry for entry in fields_of(definition, shared)} for definition in definitions]
    groups: dict[str, dict[tuple[str, ...], str]] = {}
    for column in columns:
        for place, entry in column.items():
            groups.setdefault(entry.group, {}).setdefault(place, entry.label)
    for group, places in groups.items():
        for place, label in places.items():
            if place == ("About", "Name"):  # the rubric's, which is among the launch's
                continue
            found = [column.get(place) for column in columns]
            yield Setting(group, label, tuple(entry.value if entry else None for entry in found))


def _launch(side: Side) -> dict[str, str]:
    run = side.run
    return {
        "Task": run.task,
        "Task type": run.task_type,
        "Starting text": run.seed,
        "Rubric": f"{run.rubric.name}, version {run.rubric_version.number}",
        "Writer": f"{run.producer_model} at {run.producer_endpoint}",
        "Judged by": side.judges,
        "Clerk": f"{run.clerk_model} at {run.clerk_endpoint}" if run.clerk_model else "",
        "Writer context window": _window(run.producer_context),
        "Judge context window": _window(run.judge_context),
    }


def _window(tokens: int | None) -> str:
    return "unknown" if tokens is None else f"{tokens:,} tokens"


def _excerpts(values: tuple[str | None, ...]) -> tuple[str | None, ...]:
    """Long values, cut to start shortly before the first difference."""
    if all(value is None or len(value) <= EXCERPT_CHARS for value in values):
        return values
    start = max(0, _same_start([value for value in values if value]) - BEFORE_CHARS)
    return tuple(value if not value else _excerpt(value, start) for value in values)


def _same_start(texts: Sequence[str]) -> int:
    """Length of the common start of all texts. Compares in blocks, because texts can be long."""
    first, shortest = texts[0], min(len(text) for text in texts)
    place = 0
    while place < shortest and len({text[place : place + BLOCK_CHARS] for text in texts}) == 1:
        place += BLOCK_CHARS
    while place < shortest and all(text[place] == first[place] for text in texts):
        place += 1
    return min(place, shortest)


def _excerpt(value: str, start: int) -> str:
    if len(value) <= EXCERPT_CHARS:
        return value
    shown = value[start : start + EXCERPT_CHARS]
    after = "…" if start + EXCERPT_CHARS < len(value) else ""
    return f"{'…' if start else ''}{shown}{after} ({len(value):,} characters)"
