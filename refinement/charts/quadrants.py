"""A scatter of scores before and after, with the pass mark's quadrants and the band of noise."""

from collections.abc import Sequence
from dataclasses import dataclass

LEFT, TOP, SIDE = 34.0, 10.0, 376.0
BOTTOM = TOP + SIDE
TICKS = 4


@dataclass(frozen=True, slots=True)
class Dot:
    """A text. `flip` is to_fail, to_pass or empty; `noise` says whether its change is within noise."""

    x: float
    y: float
    flip: str
    noise: bool
    title: str

    @property
    def down(self) -> str:
        """The triangle of a flip to FAIL."""
        return f"M{self.x - 6:.1f},{self.y - 5:.1f}h12l-6,10z"

    @property
    def up(self) -> str:
        return f"M{self.x - 6:.1f},{self.y + 5:.1f}h12l-6,-10z"


@dataclass(frozen=True, slots=True)
class Tick:
    value: str
    across: float
    up: float


@dataclass(frozen=True, slots=True)
class Quadrants:
    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    mark: tuple[float, float] | None  # of the pass mark: across, up
    band: str  # a path; empty without known noise


@dataclass(frozen=True, slots=True)
class Place:
    """One text's scores before and after."""

    before: float
    after: float
    flip: str = ""
    noise: bool = False
    title: str = ""


def quadrants(
    places: Sequence[Place], *, least: float, most: float, mark: float | None, noise: float | None
) -> Quadrants:
    """The chart, on an axis around the scores that occur and the pass mark."""
    values = [value for place in places for value in (place.before, place.after)]
    values += [] if mark is None else [mark]
    low, high = axis_ends(values, least, most)

    def across(value: float) -> float:
        return LEFT + SIDE * (value - low) / (high - low)

    def up(value: float) -> float:
        return BOTTOM - SIDE * (value - low) / (high - low)

    dots = [Dot(across(p.before), up(p.after), p.flip, p.noise, p.title) for p in places]
    step = (high - low) / TICKS
    ticks = [low + step * number for number in range(TICKS + 1)]
    return Quadrants(
        tuple(sorted(dots, key=lambda dot: bool(dot.flip))),
        tuple(Tick(f"{value:g}", across(value), up(value)) for value in ticks),
        None if mark is None else (across(mark), up(mark)),
        band_path(noise / (high - low) * SIDE) if noise else "",
    )


def axis_ends(values: Sequence[float], least: float, most: float) -> tuple[float, float]:
    """Ends on quarters of the scale, so that ticks are round."""
    step = (most - least) / 10
    low = max(least, least + step * ((min(values, default=least) - least) // step))
    high = min(most, least + step * -(-(max(values, default=most) - least) // step))
    while round((high - low) / step) % TICKS and (low > least or high < most):
        if low > least:
            low -= step
        else:
            high += step
    return (low, high) if high > low else (least, most)


def band_path(reach: float) -> str:
    """The area in which before and after differ by no more than noise."""
    reach = min(reach, SIDE)
    right, top = LEFT + SIDE, TOP
    return (
        f"M{LEFT},{BOTTOM - reach:.1f}L{right - reach:.1f},{top}L{right},{top}L{right},{top + reach:.1f}"
        f"L{LEFT + reach:.1f},{BOTTOM}L{LEFT},{BOTTOM}Z"
    )
