"""Places for labels, so that none covers another."""

from collections.abc import Sequence
from dataclasses import dataclass

CHAR = 6.9  # width of a bold character at 12 px
LINE = 13.0  # height of a line of text


@dataclass(frozen=True, slots=True)
class Box:
    """The room that a text takes."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def within(self, bounds: "Box") -> bool:
        inside = bounds.left <= self.left and self.right <= bounds.right
        return inside and bounds.top <= self.top and self.bottom <= bounds.bottom


def text_box(x: float, y: float, text: str, anchor: str = "middle") -> Box:
    """The box of a text whose baseline is at `y`."""
    width = len(text) * CHAR
    left = {"middle": x - width / 2, "start": x, "end": x - width}[anchor]
    return Box(left, y - LINE + 3, left + width, y + 3)


def settle(
    places: Sequence[tuple[float, float, str]],
    text: str,
    taken: list[Box],
    bounds: Box,
    also: Sequence[Box] = (),
) -> tuple[float, float, str]:
    """The first of these places that is free, else the first within bounds; its box is added to `taken`.

    A free place meets no box of `taken` or `also`.
    """
    boxes = [(place, text_box(place[0], place[1], text, place[2])) for place in places]
    inside = [entry for entry in boxes if entry[1].within(bounds)] or boxes
    free = (entry for entry in inside if not any(entry[1].meets(other) for other in (*taken, *also)))
    place, box = next(free, inside[0])
    taken.append(box)
    return place


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The wanted heights, in their order, moved apart by at least `gap` and kept between `low` and `high`.

    If there is no room for all, the gap shrinks.
    """
    if not wanted:
        return []
    step = min(gap, (high - low) / max(1, len(wanted) - 1))
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    found = [0.0] * len(wanted)
    floor = low
    for index in order:
        found[index] = max(wanted[index], floor)
        floor = found[index] + step
    ceiling = high
    for index in reversed(order):
        found[index] = min(found[index], ceiling)
        ceiling = found[index] - step
    return found
