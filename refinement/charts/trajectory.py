"""A line chart of scores by round, for one run or several."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from refinement.charts.axes import ValueAxis, at, label_every, value_axis
from refinement.charts.ends import end_labels
from refinement.charts.labels import Box, settle
from refinement.charts.legend import LEGEND_LINE, legend_places, legend_rows
from refinement.charts.palette import LIGHT, Palette
from refinement.charts.parts import Band, Column, Dot, End, Label, Line, Mark, Placed, Series, drawable
from refinement.engine.types import Scale

LEFT, RIGHT, TOP, BOTTOM = 44.0, 18.0, 26.0, 30.0
ENDS = 176.0  # room on the right for the names of lines
NARROW = 600  # below this width there is no room for them
FLOOR = 8.0  # below the plot if the rounds are named elsewhere
LABEL_WIDTH = 74  # width of a round's name
STRIDE = 8.0  # between the boxes along a line
PREFIXES = {"best": "★ ", "people": "people "}
# Their distance from the round.
SIGNS = {"penalty": -16.5, "signal": -5.5, "cut": 5.5, "split": 16.5, "noise": 27.5}
MOST_DOTTED = 60  # with more rounds, dots would hide the line


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
    threshold_y: str
    ends: tuple[End, ...]
    title: str
    description: str
    palette: Palette
    legend: bool
    bands: tuple[Band, ...] = ()

    @property
    def grid_path(self) -> str:
        """All lines of the grid as one path."""
        return "".join(f"M{self.left} {tick.y}H{self.right}" for tick in self.grid)


@dataclass(frozen=True, slots=True)
class _Frame:
    """Positions of rounds and values in a chart of this size."""

    width: int
    rounds: int
    axis: ValueAxis
    right: float = RIGHT

    @property
    def between(self) -> float:
        return (self.width - LEFT - self.right) / max(self.rounds, 1)

    @property
    def bounds(self) -> Box:
        return Box(LEFT, 0, self.width - self.right, self.axis.bottom)

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
    ends: bool = False,
    axis_labels: bool = True,
) -> TrajectoryChart:
    """The chart's geometry. `labels` (by default `1`, `2`, …) and `hrefs` name and link the rounds.

    With `ends`, lines are named where they end, if it is wide enough. Without `axis_labels`, what stands
    below names the rounds.
    """
    rounds = max((len(entry.values) for entry in series), default=0)
    names = [drawable(text) for text in labels] or [str(number + 1) for number in range(rounds)]
    drawn = [value for entry in series for value in entry.values if value is not None]
    drawn += [mark.value for mark in marks if mark.value is not None]
    spanned = [*drawn, threshold] if threshold is not None else drawn
    rows = legend_rows(series, LEFT, width - RIGHT) if legend else 0
    foot = height - (BOTTOM if axis_labels else FLOOR)
    axis = value_axis(spanned, scale, top=TOP, bottom=foot, most=7)
    frame = _Frame(width, rounds, axis, right_room(width) if ends else RIGHT)
    named = ends and width >= NARROW
    placed, pass_label = _settled(frame, series, marks, decimals, threshold)
    return TrajectoryChart(
        name=name,
        width=width,
        height=height + rows * LEGEND_LINE,
        left=at(LEFT),
        right=at(width - frame.right),
        top=at(TOP),
        bottom=at(foot),
        grid=tuple(
            Label(at(LEFT - 9), at(axis.y(tick)), f"{tick.normalize():f}", "end") for tick in axis.ticks
        ),
        rounds=_round_labels(frame, names, foot) if axis_labels else (),
        lines=tuple(
            _line(frame, entry, palette, place)
            for entry, place in legend_places(series, LEFT, width - RIGHT, height)
        ),
        marks=placed,
        columns=_columns(frame, series, names, hrefs, decimals, marks),
        threshold=pass_label,
        threshold_y="" if threshold is None else at(axis.y(threshold)),
        ends=end_labels(series, frame.x, axis, width - frame.right, width, palette) if named else (),
        title=drawable(title),
        description=_description(series, threshold, decimals),
        palette=palette,
        legend=legend,
        bands=tuple(band for entry in series for band in _bands(frame, entry, palette)),
    )


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


def _bands(frame: _Frame, series: Series, palette: Palette) -> list[Band]:
    """The noise around a line: a piece for each run of neighbouring values, half a width above and below."""
    if not series.band:
        return []
    pieces: list[list[tuple[float, Decimal]]] = [[]]
    for index, value in enumerate(series.values):
        inside = value is not None and index < (series.band_until or len(series.values))
        if value is None or not inside:
            pieces.append([])
        else:
            pieces[-1].append((frame.x(index), value))
    half, axis = series.band / 2, frame.axis
    bands = []
    for piece in pieces:
        if not piece:
            continue
        # A single round gets a band of its own width.
        points = piece if len(piece) > 1 else [(piece[0][0] + side, piece[0][1]) for side in (-12, 12)]
        above = [f"{at(x)},{at(max(TOP - 12, axis.y(value + half)))}" for x, value in points]
        below = [f"{at(x)},{at(min(axis.bottom, axis.y(value - half)))}" for x, value in reversed(points)]
        bands.append(Band(series.slot, palette.colour(series.slot), " ".join([*above, *below])))
    return bands


def right_room(width: int) -> float:
    """The room for the names of lines."""
    return RIGHT if width < NARROW else ENDS


def _settled(
    frame: _Frame, series: Sequence[Series], marks: Sequence[Mark], decimals: int, threshold: Decimal | None
) -> tuple[tuple[Placed, ...], Label | None]:
    """The marks and the pass mark's label, at places where none covers another."""
    taken: list[Box] = []
    drawn = _on_lines(frame, series)
    found = [_placed(frame, series, mark, decimals, taken, drawn) for mark in marks]
    label = None if threshold is None else _threshold(frame, threshold, taken)
    return tuple(filter(None, found)), label


def _on_lines(frame: _Frame, series: Sequence[Series]) -> list[Box]:
    """Small boxes along the strong lines: what people's labels keep off."""
    found = []
    for entry in (entry for entry in series if entry.strong):
        points = [(frame.x(i), frame.axis.y(v)) for i, v in enumerate(entry.values) if v is not None]
        for (x, y), (to_x, to_y) in pairwise(points):
            steps = max(1, int((to_x - x) / STRIDE))
            for step in range(steps + 1):
                at_x, at_y = x + (to_x - x) * step / steps, y + (to_y - y) * step / steps
                found.append(Box(at_x - 2, at_y - 3, at_x + 2, at_y + 3))
    return found


def _placed(
    frame: _Frame, series: Sequence[Series], mark: Mark, decimals: int, taken: list[Box], drawn: list[Box]
) -> Placed | None:
    value = _value_at(series[mark.series], mark.index) if mark.series < len(series) else None
    value = value if mark.value is None else mark.value
    if value is None:
        return None
    x, y, words = frame.x(mark.index), frame.axis.y(value), drawable(mark.words)
    if mark.kind == "board":
        left = at(frame.x(mark.index) - frame.between / 2)
        return Placed(mark.kind, left, at(TOP - 12), at(frame.axis.bottom), "board", words, "start")
    if mark.kind in SIGNS:
        # Signs are in a row at the bottom of the plot, away from the lines.
        offset = SIGNS[mark.kind]
        return Placed(mark.kind, at(x + offset), at(frame.axis.bottom - 7), "", "", words)
    # On a phone the legend alone names people's sign.
    prefix = "" if mark.kind == "people" and frame.width < NARROW else PREFIXES.get(mark.kind, "")
    text = f"{prefix}{shown(value, decimals)}"
    also = drawn if mark.kind == "people" else []
    text_x, text_y, anchor = settle(label_places(x, y, mark.kind), text, taken, frame.bounds, also)
    return Placed(mark.kind, at(x), at(y), at(text_y), text, words, anchor, at(text_x))


def label_places(x: float, y: float, kind: str) -> list[tuple[float, float, str]]:
    """Where the label of a point may stand, the best place first."""
    above, below = (x, y - 12, "middle"), (x, y + 21, "middle")
    beside = [(x - 11, y + 4, "end"), (x + 11, y + 4, "start")]
    far = [(x, y - 26, "middle"), (x, y + 35, "middle")]
    if kind == "people":
        lower = [(x + 11, y + 15, "start"), (x - 11, y + 15, "end")]
        return [below, *lower, *beside, far[1], above, far[0]]
    return [above, below, *beside, *far]


def _value_at(series: Series, index: int) -> Decimal | None:
    return series.values[index] if 0 <= index < len(series.values) else None


def _round_labels(frame: _Frame, names: Sequence[str], foot: float) -> tuple[Label, ...]:
    if not names:
        return ()
    longest = max(len(name) for name in names)
    label_width = max(24.0, min(longest * 6.6 + 12, LABEL_WIDTH * 2))
    every = label_every(len(names), max(1, int((frame.width - LEFT - frame.right) / label_width)))
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


def _threshold(frame: _Frame, threshold: Decimal, taken: list[Box]) -> Label:
    """The pass mark's label, at an end of its line that no other label covers."""
    y, text = frame.axis.y(threshold), f"pass mark {threshold.normalize():f}"
    ends = [(LEFT + 4, "start"), (frame.width - frame.right - 4, "end")]
    places = [(x, y + off, anchor) for off in (-5, 14) for x, anchor in ends]
    x, label_y, anchor = settle(places, text, taken, frame.bounds)
    return Label(at(x), at(label_y), text, anchor)


def _description(series: Sequence[Series], threshold: Decimal | None, decimals: int) -> str:
    """A text alternative for the strong lines. A table on the page has the rest."""
    parts = []
    for entry in (entry for entry in series if entry.strong):
        values = [value for value in entry.values if value is not None]
        scores = ", ".join(shown(value, decimals) for value in values[:12])
        more = f" and {len(values) - 12} more" if len(values) > 12 else ""
        parts.append(f"{drawable(entry.name)}: {scores or 'no score yet'}{more}.")
    if threshold is not None:
        parts.append(f"Pass mark {threshold.normalize():f}.")
    return " ".join(parts)
