"""Colours for exported charts. On pages the stylesheet's tokens are used."""

from dataclasses import dataclass

DASHES = ("", "7 3", "2 3")


@dataclass(frozen=True, slots=True)
class Palette:
    """The same values as `static/css/tokens.css`, for one theme."""

    paper: str
    ink: str
    soft: str
    line: str
    ok: str
    star: str
    warn: str
    bad: str
    people: str
    series: tuple[str, ...]

    def colour(self, slot: int) -> str:
        """The colour of a line. Slot 0 is the composite; the others cycle through the series."""
        return self.ink if slot == 0 else self.series[(slot - 1) % len(self.series)]

    def dash(self, slot: int) -> str:
        """The dash pattern of a line. It distinguishes lines of the same colour."""
        return DASHES[(slot - 1) // len(self.series) % len(DASHES)] if slot else ""


LIGHT = Palette(
    paper="#ffffff",
    ink="#171b22",
    soft="#525b69",
    line="#e0e4ea",
    ok="#116a42",
    star="#d99a00",
    warn="#7c5000",
    bad="#ad231b",
    people="#7a3fb0",
    series=("#1f5fd0", "#0b7d71", "#a93f85", "#ab5a0a", "#614cc0", "#53701a", "#b8324a", "#6d5a4c"),
)
DARK = Palette(
    paper="#171b23",
    ink="#e8ebf0",
    soft="#a9b2bf",
    line="#2a303b",
    ok="#5fd39b",
    star="#f2c14b",
    warn="#f0c060",
    bad="#ff948c",
    people="#c99cf5",
    series=("#7fa9ff", "#4fc9bb", "#e58cc6", "#eda25a", "#a99af0", "#a8c866", "#ff8fa0", "#cdb3a0"),
)
