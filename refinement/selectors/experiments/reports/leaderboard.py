"""The leaderboard of an experiment: the report's figures as rows on shared axes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refinement.charts.intervals import Drawn, SharedAxis, difference_axis, shared_axis
from refinement.models import Configuration
from refinement.selectors.experiments.reports.rulers import (
    KIN_WORDS,
    comparable,
    kin_of,
    ruler_of,
    rulers_differ,
)
from refinement.selectors.experiments.words import (
    VERDICTS,
    configuration_words,
    count_text,
    digits_for,
    interval_words,
    leaning,
    money_text,
    percent_change,
    share_text,
    signed,
)

Figures = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a configuration compares with the baseline."""

    kind: str  # better, worse, no_difference or not_enough
    words: str
    drawn: Drawn | None
    tasks: int
    leaning: str = ""  # better or worse, if a difference is likely but was not shown

    @property
    def sign(self) -> str:
        return "?" if self.leaning else VERDICTS[self.kind][0]

    @property
    def name(self) -> str:
        return f"may be {self.leaning}" if self.leaning else VERDICTS[self.kind][1]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a row. `note` is below it; `words` says it with its interval."""

    label: str
    text: str
    note: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A configuration. Without scored runs it has no composite."""

    configuration: Configuration
    changes: str
    composite: str
    drawn: Drawn | None
    verdict: Verdict | None
    figures: tuple[Figure, ...]
    worse_on: tuple[str, ...]  # task types on which it is worse, though not overall
    better_on: tuple[str, ...]
    runs: int
    scored: int
    missing: int
    unscored: int
    errors: int
    going_on: bool  # missing runs wait for their turn
    differs: str  # in what it is measured differently than the baseline; then it has no verdict
    kin: str  # how its judge is related to its writer

    @property
    def gaps(self) -> str:
        """How many runs its means are over, and which ones they leave out; empty if none is."""
        parts = (
            (self.errors, "error"),
            (self.unscored, "unscored"),
            (self.missing, "waiting" if self.going_on else "not run"),
        )
        said = [
            f"{count:,} {word}{'s' if word == 'error' and count > 1 else ''}"
            for count, word in parts
            if count
        ]
        return f"{self.scored:,} of {self.runs:,} runs: {', '.join(said)}" if said else ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the figures are over."""

    scored: int
    runs: int
    common: int  # tasks that all configurations have a score for
    tasks: int

    @property
    def is_whole(self) -> bool:
        return self.scored == self.runs

    @property
    def is_uneven(self) -> bool:
        """Whether the means of the configurations are over different tasks."""
        return self.common < self.tasks


@dataclass(frozen=True, slots=True)
class Leaderboard:
    rows: tuple[Row, ...]
    coverage: Coverage
    axis: SharedAxis | None
    baseline_x: str  # empty if the baseline has no composite
    differences: SharedAxis
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TypeRow:
    """A task type with one verdict per compared configuration."""

    name: str
    tasks: int
    cells: tuple[tuple[Configuration, Verdict | None], ...]


@dataclass(frozen=True, slots=True)
class TypeTable:
    rows: tuple[TypeRow, ...]
    heads: tuple[Configuration, ...]
    axis: SharedAxis


def leaderboard_of(
    report: Figures, configurations: Sequence[Configuration], *, going_on: bool = False
) -> Leaderboard:
    """The rows by composite, best first; those without one come last.

    `going_on`: the experiment has not ended, so runs without a result wait for their turn.
    """
    by_id = {configuration.pk: configuration for configuration in configurations}
    entries = [entry for entry in report["configurations"] if entry["id"] in by_id]
    base = next((entry for entry in entries if by_id[entry["id"]].baseline), None)
    axis = shared_axis([end for entry in entries for end in ends_of(entry.get("composite"))])
    gaps = [entry["against_baseline"] for entry in entries if entry.get("against_baseline")]
    differences = axis_of(gaps)
    has_cost = any(entry.get("cost") for entry in entries)
    types = types_by_verdict(report)
    ordered = sorted(entries, key=lambda entry: -(entry.get("composite") or {"value": -1})["value"])
    baseline = by_id[base["id"]] if base else None
    rows = tuple(
        row_of(
            entry,
            by_id[entry["id"]],
            baseline,
            base,
            axis,
            differences,
            types,
            has_cost=has_cost,
            going_on=going_on,
        )
        for entry in ordered
    )
    columns = tuple(figure.label for figure in rows[0].figures) if rows else ()
    at = axis.at(base["composite"]["value"]) if axis and base and base.get("composite") else ""
    return Leaderboard(rows, coverage_of(report, entries), axis, at, differences, columns)


def coverage_of(report: Figures, entries: Sequence[Figures]) -> Coverage:
    """Counted in the report, so that it fits the figures while newer runs end."""
    scored_by: Counter[str] = Counter(cell["task"] for cell in report.get("cells", ()) if cell.get("scored"))
    return Coverage(
        scored=sum(entry.get("scored", 0) for entry in entries),
        runs=sum(entry.get("runs", 0) for entry in entries),
        common=sum(count >= len(entries) for count in scored_by.values()),
        tasks=report.get("tasks", 0),
    )


def axis_of(comparisons: Sequence[Figures | None]) -> SharedAxis:
    """The axis of these comparisons with the baseline."""
    known = [ends for each in comparisons if (ends := ends_of(each, "difference"))]
    return difference_axis([end for ends in known for end in ends], centers=[ends[0] for ends in known])


def ends_of(figure: Figures | None, value: str = "value") -> list[float]:
    """The numbers of a figure that an axis must hold."""
    if not figure or figure.get(value) is None:
        return []
    return [figure[name] for name in (value, "low", "high") if figure.get(name) is not None]


def row_of(
    entry: Figures,
    configuration: Configuration,
    baseline: Configuration | None,
    base: Figures | None,
    axis: SharedAxis | None,
    differences: SharedAxis,
    types: Mapping[tuple[int, str], list[str]],
    *,
    has_cost: bool,
    going_on: bool,
) -> Row:
    composite = entry.get("composite")
    differs = rulers_differ(ruler_of(baseline), ruler_of(configuration)) if baseline else []
    verdict = None if differs else verdict_of(entry.get("against_baseline"), differences)
    overall = verdict.kind if verdict else ""
    if differs:
        types = {}
    kin = kin_of(configuration)
    return Row(
        configuration=configuration,
        changes=configuration_words(configuration, baseline),
        composite=f"{composite['value']:.2f}" if composite else "",
        drawn=axis.drawn(*ends_of(composite)) if axis and len(ends_of(composite)) == 3 else None,
        verdict=verdict,
        figures=tuple(figures_of(entry, None if entry is base else base, has_cost=has_cost)),
        worse_on=tuple(types.get((entry["id"], "worse"), ())) if overall != "worse" else (),
        better_on=tuple(types.get((entry["id"], "better"), ())) if overall != "better" else (),
        runs=entry.get("runs", 0),
        scored=entry.get("scored", 0),
        missing=entry.get("missing", 0),
        unscored=entry.get("unscored", 0),
        errors=entry.get("errors", 0),
        going_on=going_on,
        differs=", ".join(differs),
        kin=KIN_WORDS[kin] if kin else "",
    )


def types_by_verdict(report: Figures) -> dict[tuple[int, str], list[str]]:
    """The names of the task types by configuration and verdict; none if there is only one."""
    found: dict[tuple[int, str], list[str]] = {}
    if len(report.get("task_types", ())) < 2:
        return found
    for kind in report["task_types"]:
        for entry in kind["configurations"]:
            if against := entry.get("against_baseline"):
                found.setdefault((entry["id"], against["verdict"]), []).append(kind["task_type"] or "no type")
    return found


def verdict_of(against: Figures | None, axis: SharedAxis) -> Verdict | None:
    """The comparison with the baseline; None for the baseline."""
    if not against:
        return None
    ends = ends_of(against, "difference")
    drawn = axis.drawn(*ends) if len(ends) == 3 else None
    words = ""
    if drawn:
        words = f"{signed(ends[0], digits_for(*ends[1:]))} ({interval_words(ends[1], ends[2])})"
    return Verdict(against["verdict"], words, drawn, against.get("tasks", 0), leaning(against))


def figures_of(entry: Figures, base: Figures | None, *, has_cost: bool) -> Iterator[Figure]:
    """The other figures. Scores and shares show their interval, amounts their change from the baseline."""
    yield ranged(
        "First pass", entry.get("mean_r1"), lambda value: f"{value:.2f}", lambda value: f"{value:.1f}"
    )
    yield ranged("Met", entry.get("criteria_rate"), share_text, lambda value: f"{value * 100:.0f}")
    yield ranged("Pass rate", entry.get("pass_rate"), share_text, lambda value: f"{value * 100:.0f}")
    yield ranged("Best", entry.get("best"), lambda value: f"{value:.2f}", lambda value: f"{value:.1f}")
    rounds, other = entry.get("rounds"), (base or {}).get("rounds")
    change = signed(rounds["value"] - other["value"]) if rounds and other else ""
    yield with_interval("Rounds", rounds, lambda value: f"{value:.1f}", "" if change == "0.0" else change)
    amounts = [("Tokens", "tokens", count_text), ("Seconds", "seconds", count_text)]
    for label, name, text in [*amounts, *([("Cost", "cost", money_text)] if has_cost else [])]:
        own, other = entry.get(name), (base or {}).get(name)
        note = percent_change(own["value"], other["value"]) if own and other else ""
        yield with_interval(label, own, text, note)


def ranged(label: str, figure: Figures | None, text: Any, short: Any) -> Figure:
    """A figure with its interval below it."""
    note = (
        f"{short(figure['low'])}–{short(figure['high'])}" if figure and figure.get("low") is not None else ""
    )
    return with_interval(label, figure, text, note)


def with_interval(label: str, figure: Figures | None, text: Any, note: str) -> Figure:
    if not figure or figure.get("value") is None:
        return Figure(label, "–")
    words = text(figure["value"])
    if figure.get("low") is not None:
        words = f"{words}, 95 % interval {text(figure['low'])} to {text(figure['high'])}"
    return Figure(label, text(figure["value"]), note, words)


def types_of(report: Figures, configurations: Sequence[Configuration]) -> TypeTable | None:
    """The verdicts by task type; None if all tasks have the same type or nothing is compared."""
    types = report.get("task_types", [])
    same_ruler = comparable(configurations)
    heads = tuple(entry for entry in configurations if not entry.baseline and entry.pk in same_ruler)
    if len(types) < 2 or not heads or len(heads) == len(configurations):
        return None
    found = {
        (number, entry["id"]): entry.get("against_baseline")
        for number, kind in enumerate(types)
        for entry in kind["configurations"]
    }
    axis = axis_of(list(found.values()))
    rows = tuple(
        TypeRow(
            kind["task_type"] or "no type",
            kind["tasks"],
            tuple((head, verdict_of(found.get((number, head.pk)), axis)) for head in heads),
        )
        for number, kind in enumerate(types)
    )
    return TypeTable(rows, heads, axis)
