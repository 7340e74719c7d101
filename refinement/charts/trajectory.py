"""A line chart of scores by round, for one run or several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.charts.axes import ValueAxis, at, label_every, value_axis
from refinement.charts.palette import LIGHT, Palette
from refinement.engine.types import Scale

LEFT, RIGHT, TOP, BOTTOM = 44.0, 18.0, 26.0, 30.0
LEGEND_LINE = 20
LABEL_WIDTH = 74  # width of a round's name
SIGNS = {"penalty": -16.5, "signal": -5.5, "cut": 5.5, "split": 16.5}  # their distance from the round
MOST_DOTTED = 60  # with more rounds, dots would hide the line
_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Series:
    """One line with a value or None for each round. Slot 0 uses the text colour."""

    name: str
    values: Sequence[Decimal | None]
    slot: int
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at a round. The kind is best, first, penalty, signal, cut, split or board.

    `split` says that judges disagree; `board` draws a line before the round with which a board took over.
    """

    kind: str
    index: int  # of the round, from 0
    words: str = ""
    series: int = 0  # index of the line


@dataclass(frozen=True, slots=True)
class Dot:
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Line:
    """A drawn line. Missing values split it into pieces."""

    name: str
    slot: int
    strong: bool
    colour: str
    dash: str
    pieces: tuple[str, ...]
    dots: tuple[Dot, ...]
    legend_x: str
    legend_y: str


@dataclass(frozen=True, slots=True)
class Placed:
    """A mark with its position and its text."""

    kind: str
    x: str
    y: str
    text_y: str
    text: str
    words: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Label:
    x: str
    y: str
    text: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Column:
    """All values of one round, for hover and keyboard access."""

    index: int
    left: str
    width: str
    x: str
    words: str
    href: str


@dataclass(frozen=True, slots=True)
class TrajectoryChart:
    """Everything the template draws."""

    name: str  # prefix of ids in the SVG
    width: int
    height: int
    left: str
    right: str
    top: str
    bottom: str
    grid: tuple[Label, ...]
    rounds: tuple[Label, ...]
    lines: tuple[Line, ...]
    marks: tuple[Placed, ...]
    columns: tuple[Column, ...]
    threshold: Label | None
    title: str
    description: str
    palette: Palette
    legend: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """Positions of rounds and values in a chart of this size."""

    width: int
    rounds: int
    axis: ValueAxis

    @property
    def between(self) -> float:
        return (self.width - LEFT - RIGHT) / max(self.rounds, 1)

    def x(self, index: int) -> float:
        return LEFT + self.between * (index + 0.5)


def trajectory_chart(
    series: Sequence[Series],
    scale: Scale,
    threshold: Decimal | None = None,
    marks: Sequence[Mark] = (),
    *,
    labels: Sequence[str] = (),
    hrefs: Sequence[str] = (),
    decimals: int = 2,
    width: int = 900,
    height: int = 260,
    name: str = "trajectory",
    title: str = "Scores by round",
    palette: Palette = LIGHT,
    legend: bool = False,
) -> TrajectoryChart:
    """The chart's geometry. `labels` (by default `1`, `2`, …) and `hrefs` name and link the rounds."""
    rounds = max((len(entry.values) for entry in series), default=0)
    names = [drawable(text) for text in labels] or [str(number + 1) for number in range(rounds)]
    drawn = [value for entry in series for value in entry.values if value is not None]
    ends = [*drawn, threshold] if threshold is not None else drawn
    rows = _legend_rows(series, width) if legend else 0
    foot = height - BOTTOM
    axis = value_axis(ends, scale, top=TOP, bottom=foot, most=7)
    frame = _Frame(width, rounds, axis)
    return TrajectoryChart(
        name=name,
        width=width,
        height=height + rows * LEGEND_LINE,
        left=at(LEFT),
        right=at(width - RIGHT),
        top=at(TOP),
        bottom=at(foot),
        grid=tuple(
            Label(at(LEFT - 9), at(axis.y(tick)), f"{tick.normalize():f}", "end") for tick in axis.ticks
        ),
        rounds=_round_labels(frame, names, foot),
        lines=tuple(
            _line(frame, entry, palette, place) for entry, place in _legend_places(series, width, height)
        ),
        marks=tuple(filter(None, (_placed(frame, series, mark, decimals) for mark in marks))),
        columns=_columns(frame, series, names, hrefs, decimals, marks),
        threshold=None if threshold is None else _threshold(frame, threshold),
        title=drawable(title),
        description=_description(series, threshold, decimals),
        palette=palette,
        legend=legend,
    )


def drawable(text: str) -> str:
    """The text without characters that XML does not allow or that change the text direction."""
    return _UNDRAWABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def shown(value: Decimal, decimals: int) -> str:
    return f"{round(value, decimals):.{decimals}f}"


def _line(frame: _Frame, series: Series, palette: Palette, place: tuple[str, str]) -> Line:
    pieces: list[list[str]] = [[]]
    dots: list[Dot] = []
    for index, value in enumerate(series.values):
        if value is None:
            pieces.append([])
            continue
        dot = Dot(at(frame.x(index)), at(frame.axis.y(value)))
        pieces[-1].append(f"{dot.x},{dot.y}")
        dots.append(dot)
    return Line(
        name=drawable(series.name),
        slot=series.slot,
        strong=series.strong,
        colour=palette.colour(series.slot),
        dash=palette.dash(series.slot),
        pieces=tuple(" ".join(piece) for piece in pieces if len(piece) > 1),
        dots=tuple(dots) if len(dots) <= MOST_DOTTED else (),
        legend_x=place[0],
        legend_y=place[1],
    )


def _placed(frame: _Frame, series: Sequence[Series], mark: Mark, decimals: int) -> Placed | None:
    value = _value_at(series[mark.series], mark.index) if mark.series < len(series) else None
    if value is None:
        return None
    x, y = frame.x(mark.index), frame.axis.y(value)
    if mark.kind == "board":
        left = at(frame.x(mark.index) - frame.between / 2)
        return Placed(
            mark.kind, left, at(TOP - 12), at(frame.axis.bottom), "board", drawable(mark.words), "start"
        )
    if mark.kind in SIGNS:
        # Signs are in a row at the bottom of the plot, away from the lines.
        offset = SIGNS[mark.kind]
        return Placed(mark.kind, at(x + offset), at(frame.axis.bottom - 7), "", "", drawable(mark.words))
    above = y - 13 if y - 13 > TOP - 14 else y + 22
    star = "★ " if mark.kind == "best" else ""
    return Placed(mark.kind, at(x), at(y), at(above), f"{star}{shown(value, decimals)}", drawable(mark.words))


def _value_at(series: Series, index: int) -> Decimal | None:
    return series.values[index] if 0 <= index < len(series.values) else None


def _round_labels(frame: _Frame, names: Sequence[str], foot: float) -> tuple[Label, ...]:
    if not names:
        return ()
    longest = max(len(name) for name in names)
    label_width = max(24.0, min(longest * 6.6 + 12, LABEL_WIDTH * 2))
    every = label_every(len(names), max(1, int((frame.width - LEFT - RIGHT) / label_width)))
    return tuple(
        Label(at(frame.x(index)), at(foot + 20), name)
        for index, name in enumerate(names)
        if index % every == 0
    )


def _columns(
    frame: _Frame,
    series: Sequence[Series],
    names: Sequence[str],
    hrefs: Sequence[str],
    decimals: int,
    marks: Sequence[Mark],
) -> tuple[Column, ...]:
    if frame.rounds > MOST_DOTTED:
        return ()
    mark_texts: dict[int, list[str]] = {}
    for mark in marks:
        if mark.words:
            mark_texts.setdefault(mark.index, []).append(drawable(mark.words))
    columns = []
    for index in range(frame.rounds):
        values = [(entry, _value_at(entry, index)) for entry in series]
        scores = [
            f"{drawable(entry.name)} {shown(value, decimals)}" for entry, value in values if value is not None
        ]
        text = " · ".join([*(scores or ["not judged"]), *mark_texts.get(index, [])])
        columns.append(
            Column(
                index=index,
                left=at(frame.x(index) - frame.between / 2),
                width=at(frame.between),
                x=at(frame.x(index)),
                words=f"{names[index]}: {text}",
                href=hrefs[index] if index < len(hrefs) else "",
            )
        )
    return tuple(columns)


def _threshold(frame: _Frame, threshold: Decimal) -> Label:
    return Label(at(frame.width - RIGHT), at(frame.axis.y(threshold)), f"{threshold.normalize():f}", "end")


def _description(series: Sequence[Series], threshold: Decimal | None, decimals: int) -> str:
    """A text alternative for the strong lines. A table on the page has the rest."""
    parts = []
    for entry in (entry for entry in series if entry.strong):
        values = [value for value in entry.values if value is not None]
        scores = ", ".join(shown(value, decimals) for value in values[:12])
        more = f" and {len(values) - 12} more" if len(values) > 12 else ""
        parts.append(f"{drawable(entry.name)}: {scores or 'no score yet'}{more}.")
    if threshold is not None:
        parts.append(f"Threshold {threshold.normalize():f}.")
    return " ".join(parts)


def _legend_places(series: Sequence[Series], width: int, height: int) -> list[tuple[Series, tuple[str, str]]]:
    """The position of each line in the legend below the chart."""
    places = []
    x, y = LEFT, height + 6.0
    for entry in series:
        entry_width = 34 + len(entry.name) * 6.8
        if x + entry_width > width - RIGHT and x > LEFT:
            x, y = LEFT, y + LEGEND_LINE
        places.append((entry, (at(x), at(y))))
        x += entry_width
    return places


def _legend_rows(series: Sequence[Series], width: int) -> int:
    heights = {place[1] for _, place in _legend_places(series, width, 0)}
    return len(heights)
