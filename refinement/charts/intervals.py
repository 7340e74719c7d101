"""Values with their intervals on one shared horizontal axis, as shares of its width."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from refinement.charts.axes import round_step

MINUS = "\N{MINUS SIGN}"
FAR = 2.5  # times the largest center: wider intervals would make all others tiny
MARGIN = 4.0  # percent on both sides, so that dots and labels at the ends are whole


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    text: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A value and its interval: places on the axis, and the same in words."""

    x: str
    low_x: str
    high_x: str
    words: str


@dataclass(frozen=True, slots=True)
class SharedAxis:
    """An axis for several rows, so that their intervals can be compared by eye."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    signed: bool = False

    def at(self, value: float) -> str:
        """The place of a value; those beyond an end are drawn there."""
        return place(value, self.low, self.high)

    def drawn(self, value: float, low: float, high: float, *, decimals: int = 2) -> Drawn:
        said = [number_text(each, decimals, signed=self.signed) for each in (value, low, high)]
        words = f"{said[0]}, 95 % interval {said[1]} to {said[2]}"
        return Drawn(self.at(value), self.at(low), self.at(high), words)


def shared_axis(values: Iterable[float], *, most: int = 4, least: float = 0.5) -> SharedAxis | None:
    """An axis around all values with round ticks; None without values. It spans at least `least`."""
    known = list(values)
    if not known:
        return None
    spread = max(max(known) - min(known), least)
    middle = (max(known) + min(known)) / 2
    ends = [min(*known, middle - spread / 2), max(*known, middle + spread / 2)]
    return _axis(ends[0], ends[1], most, signed=False)


def difference_axis(
    values: Iterable[float], *, centers: Iterable[float] = (), least: float = 0.5
) -> SharedAxis:
    """An axis with 0 in its middle. Ends far beyond all `centers` are drawn at its ends."""
    reach = max([least, *(abs(value) for value in values)])
    if (farthest := max((abs(value) for value in centers), default=0.0)) and reach > FAR * farthest:
        reach = max(least, FAR * farthest)
    step = float(round_step(Decimal(str(round(reach, 6)))))
    end = step if step <= reach else step / 2
    ticks = [
        Tick(place(value, -reach, reach), number_text(value, 2, signed=True, short=True))
        for value in (-end, 0.0, end)
    ]
    return SharedAxis(-reach, reach, tuple(ticks), signed=True)


def _axis(low: float, high: float, most: int, *, signed: bool) -> SharedAxis:
    step = round_step(Decimal(str(round((high - low) / most, 9))))
    first = (Decimal(str(low)) / step).to_integral_value(ROUND_CEILING)
    last = (Decimal(str(high)) / step).to_integral_value(ROUND_FLOOR)
    values = [float(step * number) for number in range(int(first), int(last) + 1)]
    ticks = [
        Tick(place(value, low, high), number_text(value, 2, signed=signed, short=True)) for value in values
    ]
    return SharedAxis(low, high, tuple(ticks), signed)


def place(value: float, low: float, high: float) -> str:
    """The value's place as an SVG length, such as `42.5%`."""
    share = 0.5 if high <= low else (min(max(value, low), high) - low) / (high - low)
    return f"{MARGIN + share * (100 - 2 * MARGIN):.1f}%"


def number_text(value: float, decimals: int, *, signed: bool = False, short: bool = False) -> str:
    """A number with a real minus sign, and a plus sign if `signed`; `short` drops zeros at the end."""
    text = f"{abs(value):.{decimals}f}"
    if short and "." in text:
        text = text.rstrip("0").rstrip(".")
    if not float(text):
        return text
    return f"{MINUS if value < 0 else '+' if signed else ''}{text}"
