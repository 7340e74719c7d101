"""The names of lines where they end."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from refinement.charts.axes import ValueAxis, at
from refinement.charts.labels import LINE, spread
from refinement.charts.palette import Palette
from refinement.charts.parts import End, Series, drawable

DECIMALS = 2
CHAR = 6.0  # width of a character at 11.5 px


def end_labels(
    series: Sequence[Series],
    x_of: Callable[[int], float],
    axis: ValueAxis,
    start: float,
    width: int,
    palette: Palette,
) -> tuple[End, ...]:
    """Names of the thin lines, at the heights where they end, moved apart. None if there is no room.

    The plot ends at `start`, the picture at `width`.
    """
    last = [(entry, _last(entry)) for entry in series if not entry.strong]
    drawn = [(entry, place) for entry, place in last if place is not None]
    top, bottom = 10.0, axis.bottom + 2
    if not drawn or len(drawn) > (bottom - top) / LINE + 1:
        return ()
    wanted = [axis.y(value) for _, (_, value) in drawn]
    heights = spread(wanted, LINE, top, bottom)
    x = start + 20
    most = int((width - x) / CHAR) - 5
    return tuple(
        End(
            slot=entry.slot,
            colour=palette.colour(entry.slot),
            x=at(x),
            y=at(y),
            name=_shortened(drawable(entry.name), most),
            score=f"{round(value, DECIMALS).normalize():f}",
            way=f"M{at(x_of(index) + 5)} {at(from_y)}H{at(start)}L{at(x - 4)} {at(y)}",
        )
        for (entry, (index, value)), from_y, y in zip(drawn, wanted, heights, strict=True)
    )


def _last(series: Series) -> tuple[int, Decimal] | None:
    """The last value of the line, and its round."""
    values = [(index, value) for index, value in enumerate(series.values) if value is not None]
    return values[-1] if values else None


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
