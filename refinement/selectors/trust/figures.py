"""A judge's figures as ready texts and shapes, so that templates only print them. Reads a report's JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from refinement.charts.agreement import (
    Grid,
    Span,
    Track,
    agreement_track,
    bias_track,
    score_grid,
    share_track,
)
from refinement.charts.intervals import Drawn, SharedAxis, difference_axis, number_text, shared_axis
from refinement.selectors.trust.words import (
    FEW,
    FIRST,
    Entry,
    Figure,
    Report,
    Standing,
    criterion_sentence,
    decimals,
    standing_of,
)

NOTHING = "–"
MOST_GRIDS = 8


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure with its interval as texts, and its shape on a track."""

    text: str
    interval: str
    span: Span | None
    words: str


@dataclass(frozen=True, slots=True)
class Row:
    """A criterion, or the composite."""

    key: str
    name: str
    n: int
    standing: Standing
    sentence: str
    kappa: Cell
    ceiling: Cell
    baseline_x: str
    within: Cell
    within_baseline: Cell
    bias: Cell
    mae: str
    tau_b: str
    retest_sd: str
    flip_rate: str
    real_from: str


@dataclass(frozen=True, slots=True)
class Table:
    """The rows with the axes that they share."""

    rows: list[Row]
    kappa_ticks: list[dict[str, str]]
    kappa_zero: str
    within_ticks: list[dict[str, str]]
    bias_ticks: list[dict[str, str]]
    bias_zero: str
    near: str  # the distance of "within …", in words


def agreement_table(report: Report) -> Table:
    """The criteria in the rubric's order and, where there are several, the composite at the end."""
    entries = entries_of(report)
    width = report["scale"]["most"] - report["scale"]["least"]
    kappas = agreement_track([entry[name] for entry in entries for name in ("kappa", "alpha")])
    names = ("within_one", "within_one_baseline")
    shares = share_track([entry[name] for entry in entries for name in names])
    biases = bias_track([entry["bias"] for entry in entries], width)
    reach = biases.high
    return Table(
        [row_of(entry, report, kappas, shares, biases) for entry in entries],
        kappas.ticks([0.0, 0.5, 1.0]),
        kappas.at(0),
        percent_ticks(shares),
        biases.ticks([-reach, 0.0, reach], 3, signed=True),
        biases.at(0),
        near_words(width),
    )


def entries_of(report: Report) -> list[Entry]:
    """The criteria and the composite; a rubric of one criterion has no other composite."""
    several = len(report["criteria"]) != 1 and report["composite"]
    overall = [dict(report["composite"]) | {"name": "Composite"}] if several else []
    return [*report["criteria"], *overall]


def near_words(width: float) -> str:
    """What "within one" means on this scale: a tenth of a very wide or narrow one."""
    return "1 point" if 2 <= width <= 20 else f"{number_text(width / 10, 1, short=True)} points"


def row_of(entry: Entry, report: Report, kappas: Track, shares: Track, biases: Track) -> Row:
    digits = decimals(report) or 1
    baseline = entry["kappa_baseline"]
    return Row(
        key=entry["key"],
        name=entry["name"],
        n=entry["n"],
        standing=standing_of(entry),
        sentence=criterion_sentence(entry, report),
        kappa=cell_of(entry["kappa"], kappas, 2, "weighted kappa"),
        ceiling=cell_of(entry["alpha"], kappas, 2, "people with each other"),
        baseline_x=kappas.at((baseline or {}).get("value") or 0.0) if entry["kappa"] else "",
        within=share_cell(entry["within_one"], shares, "within"),
        within_baseline=share_cell(entry["within_one_baseline"], shares, "always the most common score"),
        bias=cell_of(entry["bias"], biases, digits, "bias", signed=True),
        mae=text_of(entry["mae"], 2 if digits > 0 else 1),
        tau_b=text_of(entry["tau_b"], 2),
        retest_sd=text_of(entry["retest_sd"], 2),
        flip_rate=percent_of(entry["flip_rate"]),
        real_from=text_of(entry["smallest_difference"], digits),
    )


def cell_of(figure: Figure | None, track: Track, digits: int, name: str, *, signed: bool = False) -> Cell:
    text, interval = text_of(figure, digits, signed=signed), interval_of(figure, digits)
    words = f"{name} {text}{f' ({interval})' if interval else ''}"
    return Cell(text, interval, track.span(figure), words)


def share_cell(figure: Figure | None, track: Track, name: str) -> Cell:
    text, interval = percent_of(figure), percent_interval(figure)
    return Cell(text, interval, track.span(figure), f"{name} {text}{f' ({interval})' if interval else ''}")


def text_of(figure: Figure | None, digits: int, *, signed: bool = False) -> str:
    if not figure or figure["value"] is None:
        return NOTHING
    return number_text(figure["value"], digits, signed=signed)


def interval_of(figure: Figure | None, digits: int) -> str:
    if not figure or figure["low"] is None or figure["high"] is None:
        return ""
    return f"{number_text(figure['low'], digits)} to {number_text(figure['high'], digits)}"


def percent_of(figure: Figure | None) -> str:
    return NOTHING if not figure or figure["value"] is None else f"{figure['value'] * 100:.0f} %"


def percent_interval(figure: Figure | None) -> str:
    if not figure or figure["low"] is None or figure["high"] is None:
        return ""
    return f"{figure['low'] * 100:.0f} to {figure['high'] * 100:.0f} %"


def percent_ticks(track: Track) -> list[dict[str, str]]:
    ticks = track.ticks([track.low, track.high])
    texts = [f"{value * 100:.0f} %" for value in (track.low, track.high)]
    return [tick | {"text": text} for tick, text in zip(ticks, texts, strict=True)]


# All figures as a table: heading, key of the entry, digits (None for shares).
COLUMNS: Sequence[tuple[str, str, int | None]] = (
    ("Weighted κ", "kappa", 3),
    ("κ of the most common score", "kappa_baseline", 3),
    ("α of people", "alpha", 3),
    ("α, ordinal", "alpha_ordinal", 3),
    ("Bias", "bias", 3),
    ("MAE", "mae", 3),
    ("Kendall τ-b", "tau_b", 3),
    ("Within one", "within_one", None),
    ("Within one, most common score", "within_one_baseline", None),
    ("Retest SD", "retest_sd", 3),
    ("Flip rate", "flip_rate", None),
    ("Real from", "smallest_difference", 3),
)


def all_figures(report: Report) -> list[dict[str, Any]]:
    """Each criterion with every figure, its interval and its counts."""
    return [
        {
            "name": entry["name"],
            "n": entry["n"],
            "raters": entry["raters"],
            "alpha_n": entry["alpha_n"],
            "retests": (entry["retest_items"], entry["retest_judgements"]),
            "figures": [full_text(entry.get(key), digits) for _, key, digits in COLUMNS],
        }
        for entry in entries_of(report)
    ]


def full_text(figure: Figure | None, digits: int | None) -> tuple[str, str]:
    if digits is None:
        return percent_of(figure), percent_interval(figure)
    return text_of(figure, digits), interval_of(figure, digits)


def score_grids(report: Report) -> list[tuple[Entry, str, Grid]]:
    """Scores against scores for each criterion that has some, with its κ."""
    scale, far = report["scale"], report["disagreements"]["threshold"]
    found = []
    for entry in report["criteria"][:MOST_GRIDS]:
        grid = score_grid(entry["grid"], scale["least"], scale["most"], far=far, name=entry["name"])
        if grid is not None:
            found.append((entry, text_of(entry["kappa"], 2), grid))
    return found


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge prefers apart from quality: 0 is no preference."""

    name: str
    text: str
    unit: str
    note: str
    kind: str
    drawn: Drawn | None
    zero: str


def preferences(report: Report) -> list[Preference]:
    """By length, and by the family of the model that wrote the text."""
    found = []
    length, family = report["length"], report["family"]
    if length and length["slope"]:
        note = f"at equal scores by people, {length['n']} texts. {length_words(report)}"
        found.append(preference("Length", length["slope"], "per 100 words", note, length["n"]))
    if family and family["gap"]:
        note = f"{family['same']} {family['family']} texts against {family['others']} others."
        found.append(
            preference(
                "Same family",
                family["gap"],
                f"for {family['family']} texts",
                f"{note} {family_words(report)}",
                family["same"] + family["others"],
            )
        )
    return found


def preference(name: str, figure: Figure, unit: str, note: str, texts: int) -> Preference:
    value, low, high = figure["value"], figure["low"], figure["high"]
    assert value is not None
    interval = interval_of(figure, 2)
    axis = difference_axis([end for end in (value, low, high) if end is not None], least=abs(value) or 0.1)
    shown = None if low is None or high is None else axis.drawn(value, low, high)
    is_shown = texts >= FIRST and low is not None and high is not None and not low <= 0 <= high
    kind = "warn" if is_shown else "none"
    words = f"{interval}, {note}" if interval else note
    return Preference(name, number_text(value, 2, signed=True), unit, words, kind, shown, axis.at(0))


@dataclass(frozen=True, slots=True)
class Correction:
    """The mean of all scored rounds, as the judge gave it and corrected by people's labels."""

    raw: str
    corrected: str
    interval: str
    rounds: int
    labels: int
    words: str
    axis: SharedAxis
    raw_x: str
    drawn: Drawn


def correction_of(report: Report) -> Correction | None:
    given = report["correction"]
    if not given or not given["raw"] or not given["corrected"]:
        return None
    raw, corrected = given["raw"]["value"], given["corrected"]
    low = corrected["value"] if corrected["low"] is None else corrected["low"]
    high = corrected["value"] if corrected["high"] is None else corrected["high"]
    width = report["scale"]["most"] - report["scale"]["least"]
    axis = shared_axis([raw, corrected["value"], low, high], least=width / 20)
    assert axis is not None
    digits = 2 if width <= 20 else 1
    return Correction(
        number_text(raw, digits),
        number_text(corrected["value"], digits),
        interval_of(corrected, digits),
        given["rounds"],
        given["labels"],
        FEW if given["labels"] < FIRST else gap_words(raw - corrected["value"], low, high, raw, digits),
        axis,
        axis.at(raw),
        axis.drawn(corrected["value"], low, high, decimals=digits),
    )


def gap_words(gap: float, low: float, high: float, raw: float, digits: int) -> str:
    if low <= raw <= high:
        return "The raw mean is inside the interval: no correction is shown to be needed."
    return f"Raw scores read about {abs(gap):.{digits}f} points too {'high' if gap > 0 else 'low'}."


def most_disagreed(report: Report) -> list[tuple[str, str, int]]:
    """Key, name and number of disagreements of each criterion that has some, the most first."""
    counts = report["disagreements"]["by_criterion"]
    named = {entry["key"]: entry["name"] for entry in entries_of(report)}
    found = [(key, named.get(key, key), count) for key, count in counts.items() if count]
    return sorted(found, key=lambda entry: -entry[2])


def length_words(report: Report) -> str:
    """Whether it rewards long texts, at equal scores by people."""
    slope = (report["length"] or {}).get("slope")
    if not slope or slope["low"] is None:
        return ""
    if report["length"]["n"] < FIRST:
        return FEW
    if slope["low"] > 0:
        return "It rewards longer texts."
    return "It rewards shorter texts." if slope["high"] < 0 else "No preference shown."


def family_words(report: Report) -> str:
    """Whether it scores texts by models of its own family higher, at equal scores by people."""
    gap = (report["family"] or {}).get("gap")
    if not gap or gap["low"] is None:
        return ""
    if report["family"]["same"] + report["family"]["others"] < FIRST:
        return FEW
    if gap["low"] > 0:
        return "It prefers texts by its own family."
    return "It prefers texts by other families." if gap["high"] < 0 else "No preference shown."
