"""The legend below a chart that is kept as a file."""

from collections.abc import Sequence

from refinement.charts.axes import at
from refinement.charts.parts import Series

LEGEND_LINE = 20


def legend_places(
    series: Sequence[Series], left: float, right: float, height: int
) -> list[tuple[Series, tuple[str, str]]]:
    """The position of each line in the legend below the chart."""
    places = []
    x, y = left, height + 6.0
    for entry in series:
        entry_width = 46 + len(entry.name) * 6.8
        if x + entry_width > right and x > left:
            x, y = left, y + LEGEND_LINE
        places.append((entry, (at(x), at(y))))
        x += entry_width
    return places


def legend_rows(series: Sequence[Series], left: float, right: float) -> int:
    heights = {place[1] for _, place in legend_places(series, left, right, 0)}
    return len(heights)
