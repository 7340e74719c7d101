"""Two judges compared on the texts that both and people scored. Reads the JSON of a JUDGES report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refinement.charts.agreement import Span, Track, agreement_track
from refinement.charts.intervals import number_text
from refinement.selectors.trust.figures import interval_of, text_of
from refinement.selectors.trust.words import COMPARES, FIRST, count_words

VERDICTS: Mapping[str, tuple[str, str, str]] = {
    "first": ("◀", "A agrees better", "ok"),
    "second": ("▶", "B agrees better", "ok"),
    "no_difference": ("=", "no difference shown", ""),
    "not_enough": ("·", "not enough texts", ""),
}


@dataclass(frozen=True, slots=True)
class PairRow:
    """A criterion: both judges' κ, their difference, and the rest as texts."""

    key: str
    name: str
    n: int
    sign: str
    words: str
    kind: str
    first: str
    second: str
    first_span: Span | None
    second_span: Span | None
    shape_words: str
    difference: str
    interval: str
    biases: tuple[str, str]
    errors: tuple[str, str]


@dataclass(frozen=True, slots=True)
class PairTable:
    rows: list[PairRow]
    ticks: list[dict[str, str]]
    zero: str


def pair_entries(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The criteria that both rubric versions have and, where there are several, the composite."""
    several = len(report["criteria"]) != 1 and report["composite"]
    overall = [dict(report["composite"]) | {"name": "Composite"}] if several else []
    return [*report["criteria"], *overall]


def pair_table(report: Mapping[str, Any]) -> PairTable:
    entries = pair_entries(report)
    track = agreement_track([entry[side]["kappa"] for entry in entries for side in ("first", "second")])
    ticks = track.ticks([0.0, 0.5, 1.0])
    return PairTable([pair_row(entry, track) for entry in entries], ticks, track.at(0))


def pair_row(entry: Mapping[str, Any], track: Track) -> PairRow:
    first, second, apart = entry["first"], entry["second"], entry["difference"]["kappa"]
    sign, words, kind = VERDICTS[entry["verdict"]]
    texts = text_of(first["kappa"], 2), text_of(second["kappa"], 2)
    return PairRow(
        entry["key"], entry["name"], entry["n"], sign, words, kind, *texts,
        track.span(first["kappa"]), track.span(second["kappa"]),
        f"weighted kappa: A {texts[0]}, B {texts[1]}",
        text_of(apart, 2, signed=True), interval_of(apart, 2),
        (text_of(first["bias"], 1, signed=True), text_of(second["bias"], 1, signed=True)),
        (text_of(first["mae"], 2), text_of(second["mae"], 2)),
    )  # fmt: skip


def pair_headline(report: Mapping[str, Any], names: Sequence[str]) -> str:
    """Which of the two agrees better with people, in a sentence or two."""
    items, overall = report["items"], report["composite"]
    if not items:
        return "No text has scores by both judges and by a person."
    if items < FIRST:
        known = f"{count_words(items)} with scores by both judges and people"
        return f"Not enough evidence: {known}; {FIRST} are needed."
    sentence = overall_words(overall, names)
    others = [
        entry
        for entry in report["criteria"]
        if entry["verdict"] in ("first", "second") and entry["verdict"] != overall["verdict"]
    ]
    for side, name in zip(("first", "second"), names, strict=True):
        found = [entry["name"] for entry in others if entry["verdict"] == side]
        if found and len(report["criteria"]) > 1:
            sentence += f" {name} agrees better on {listed(found)}."
    return sentence


def overall_words(overall: Mapping[str, Any], names: Sequence[str]) -> str:
    verdict, apart = overall["verdict"], overall["difference"]["kappa"]
    if verdict in ("first", "second"):
        better, other = names if verdict == "first" else (names[1], names[0])
        sign = -1 if verdict == "first" else 1
        ends = sorted(sign * apart[end] for end in ("low", "high"))
        gap = number_text(sign * apart["value"], 2)
        return (
            f"{better} agrees better with people than {other}: κ is {gap} higher "
            f"({number_text(ends[0], 2)} to {number_text(ends[1], 2)}) over {overall['n']} texts."
        )
    if verdict == "no_difference":
        return f"No difference in agreement is shown over {overall['n']} texts. They need not be equal."
    return "There is not enough evidence to compare them."


def weak_words(items: int) -> str:
    """What to keep in mind below 200 texts; empty from there on."""
    if not FIRST <= items < COMPARES:
        return ""
    return (
        f"Weak evidence: {items} texts. With fewer than {COMPARES}, only large differences between two "
        "judges can show."
    )


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
