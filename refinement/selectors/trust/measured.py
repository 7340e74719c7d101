"""Planted defects and usable replies as the trust page shows them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refinement.charts.agreement import Span, Track
from refinement.charts.intervals import number_text

FEWEST_TOLD = 10  # with fewer copies there is no verdict
GOOD_FOUND, SOME_FOUND = 0.75, 0.5
FEW_ALARMS, SOME_ALARMS = 0.05, 0.15
ENOUGH_USABLE, SOME_USABLE = 0.97, 0.9
SHARES = Track(0.0, 1.0)
MOST_EXAMPLES = 3
NBSP = "\N{NO-BREAK SPACE}"
MARKS = {"ok": "✓", "warn": "▲", "bad": "✕", "none": ""}
RUNGS = {
    "embedded": "with text around the JSON",
    "dirtyjson": "as nearly valid JSON",
    "json_repair": "repaired",
    "lines": "as lines of text",
    "asked_again": "on a second ask",
    "unscored": "unscored",
}
WORDS = {"ok": "good", "warn": "mixed", "bad": "poor", "none": "too few to tell"}


@dataclass(frozen=True, slots=True)
class Example:
    """One copy: what was changed and what the score did. `item` is that of its measurement."""

    measurement: int
    item: int
    change: str
    score: str
    noticed: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A kind of edit with the share that was noticed."""

    name: str
    percent: str
    count: str
    kind: str  # ok, warn, bad or none
    mark: str
    words: str
    drawn: Span | None
    examples: tuple[Example, ...]


def measured_page(report: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the partials `_planted` and `_usable` show; None where nothing was measured."""
    planted, usable = (report or {}).get("planted"), (report or {}).get("usable")
    return {
        "planted_shown": planted_shown(planted) if planted else None,
        "usable_shown": usable_shown(usable) if usable else None,
    }


def planted_shown(planted: Mapping[str, Any]) -> dict[str, Any]:
    noise = planted["noise"]
    size = number_text(noise["composite"], 2, short=True)
    return {
        "found": [found_row(entry) for entry in planted["kinds"]],
        "alarms": [alarm_row(entry) for entry in planted["harmless"]],
        "summary": summary(planted),
        "noise": f"Noise: {size} points"
        if noise["known"]
        else f"Noise not measured: drops from {size} count",
        "is_known": noise["known"],
        "right": right_words(planted["right"]),
        "blind": blind_to(planted["kinds"]),
        "padding": padding_row(planted["padding"]) if planted["padding"] else None,
    }


def summary(planted: Mapping[str, Any]) -> str:
    """The answer in a sentence."""
    found = planted["found"]
    if not found["n"]:
        return ""
    share = found["share"]
    span = f"{percent(share['low']).removesuffix(f'{NBSP}%')} to {percent(share['high'])}"
    return f"Noticed {found['hits']} of {found['n']} defects: {percent(share['value'])} ({span})."


def blind_to(kinds: Sequence[Mapping[str, Any]]) -> list[str]:
    """Kinds of defects that the judge more likely misses than finds, whatever the rest of the interval."""
    return [
        entry["name"] for entry in kinds if entry["n"] >= FEWEST_TOLD and entry["share"]["high"] < SOME_FOUND
    ]


def right_words(right: Mapping[str, Any] | None) -> str:
    if not right or not right["n"]:
        return ""
    return f"{right['hits']} of {right['n']} that it noticed lowered the right criterion most."


def found_row(entry: Mapping[str, Any]) -> Row:
    share = entry["share"]["value"]
    kind = "ok" if share >= GOOD_FOUND else "warn" if share >= SOME_FOUND else "bad"
    return row(entry, kind)


def alarm_row(entry: Mapping[str, Any]) -> Row:
    share = entry["share"]["value"]
    kind = "ok" if share <= FEW_ALARMS else "warn" if share <= SOME_ALARMS else "bad"
    return row(entry, kind)


def row(entry: Mapping[str, Any], kind: str) -> Row:
    kind = kind if entry["n"] >= FEWEST_TOLD else "none"
    return Row(
        name=entry["name"],
        percent=percent(entry["share"]["value"]),
        count=f"{entry['hits']}/{entry['n']}",
        kind=kind,
        mark=MARKS[kind],
        words=f"{interval(entry['share'])}, {WORDS[kind]}",
        drawn=SHARES.span(entry["share"]),
        examples=tuple(example(each) for each in entry["examples"][:MOST_EXAMPLES]),
    )


def example(entry: Mapping[str, Any]) -> Example:
    return Example(
        measurement=entry["measurement"],
        item=entry["item"],
        change=entry["change"],
        score=number_text(-entry["drop"], 2, signed=True, short=True),
        noticed=entry["noticed"],
    )


def padding_row(padding: Mapping[str, Any]) -> dict[str, Any]:
    """By how much the score changes when only words are added."""
    change = padding["change"]
    ends = [abs(end) for end in change.values() if end is not None]
    reach = max([0.5, *ends])
    track = Track(-reach, reach)
    low, high = change["low"], change["high"]
    is_real = low is not None and high is not None and not low <= 0 <= high
    if not is_real:
        words = "No preference for length shown."
    else:
        words = "It rewards longer texts." if change["value"] > 0 else "It prefers shorter texts."
    span = (
        "" if low is None else f"{number_text(low, 2, signed=True)} to {number_text(high, 2, signed=True)}, "
    )
    return {
        "text": number_text(change["value"], 2, signed=True),
        "words": padding["words"],
        "note": f"{span}{padding['n']} texts with filler that says nothing new. {words}",
        "kind": "warn" if is_real else "none",
        "drawn": track.span(change),
        "zero": track.at(0),
    }


def usable_shown(usable: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **usable_row(usable),
        "models": [{"name": entry["model"], **usable_row(entry)} for entry in usable["models"]]
        if len(usable["models"]) > 1
        else [],
        "form": form_words(usable["form"]),
        "newest": usable["newest"],
    }


def usable_row(entry: Mapping[str, Any]) -> dict[str, Any]:
    share = entry["usable"]["value"]
    kind = "ok" if share >= ENOUGH_USABLE else "warn" if share >= SOME_USABLE else "bad"
    kind = kind if entry["n"] >= FEWEST_TOLD else "none"
    return {
        "percent": percent(share, digits=1),
        "n": entry["n"],
        "interval": interval(entry["usable"], digits=1),
        "kind": kind,
        "mark": MARKS[kind],
        "drawn": SHARES.span(entry["usable"]),
        "rungs": rung_words(entry["rungs"]),
    }


def rung_words(rungs: Mapping[str, int]) -> str:
    """How the replies were read, without the ways that none needed."""
    parts = [f"{rungs['strict']:,} as strict JSON"]
    parts += [f"{rungs[rung]:,} {words}" for rung, words in RUNGS.items() if rungs.get(rung)]
    return f"{', '.join(parts)}."


def form_words(form: Mapping[str, Any]) -> str:
    """Whether the model keeps to the requested form, with thinking and without."""
    parts = []
    for name, words in (("thinking", "with thinking"), ("plain", "without thinking")):
        if entry := form[name]:
            parts.append(f"{percent(entry['share']['value'])} of {entry['n']:,} {words}")
    return f"First replies in the requested form: {', '.join(parts)}." if parts else ""


def interval(share: Mapping[str, float], *, digits: int = 0) -> str:
    low, high = percent(share["low"], digits=digits), percent(share["high"], digits=digits)
    return f"{percent(share['value'], digits=digits)}, 95 % interval {low} to {high}"


def percent(share: float, *, digits: int = 0) -> str:
    text = f"{100 * share:.{digits}f}"
    return f"{text.removesuffix('.0')}{NBSP}%"
