"""What a judge's figures say, in sentences. Pure: reads the JSON of a trust report.

The page, the command line and the API say the same words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from refinement.charts.intervals import number_text

# How many labelled texts are needed: for any answer, for a usable one, to gate, and to compare two judges.
FIRST, USABLE, GATES, COMPARES = STEPS = (30, 50, 100, 200)
# A judge's noise counts as known from so many texts judged more than once, and so many repeats of them after
# the first judgement of each. With 10 repeats, the 95 % interval of a deviation reaches from 0.7 to 1.8 times
# its value; with one, to 32 times.
REPEATED_TEXTS, REPEATS = 5, 10
# People who agree less than this do not agree on what the criterion means: no judge can be measured.
LEAST_ALPHA = 0.2
# A judge is not worse than people if its κ is shown to be no further below theirs.
AS_GOOD = 0.1
MOST_NAMED = 4
NOTICEABLE = 0.025  # of the scale: smaller biases are not worth a sentence
CONSTANT = "no better than always giving the most common score"
FEW = f"Not enough evidence: fewer than {FIRST} texts."
RAISED = "too high"
LOWERED = "too low"

Report: TypeAlias = Mapping[str, Any]
Entry: TypeAlias = Mapping[str, Any]
Figure: TypeAlias = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence; what matters most is `strong`."""

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A verdict on one criterion: a sign, a few words, and the kind of colour: ok, warn, bad or none."""

    sign: str
    words: str
    kind: str = ""


STANDINGS: Mapping[str, Standing] = {
    "as_people": Standing("✓", "not worse than people", "ok"),
    "unclear": Standing("·", "not clear yet"),
    "below_people": Standing("▲", "below people", "warn"),
    "not_usable": Standing("✕", "not usable yet", "bad"),
    "not_measurable": Standing("–", "people disagree"),
    "not_enough": Standing("·", "not enough texts"),
    "unknown": Standing("·", "people unknown"),
}


def standing_of(entry: Entry) -> Standing:
    """The verdict on a criterion. Below 30 labelled texts it has no colour."""
    return STANDINGS.get(entry["standing"], STANDINGS["unknown"])


def headline(report: Report) -> str:
    """The judge's worth in two or three plain sentences."""
    return "".join(part.text for part in headline_parts(report))


def headline_parts(report: Report) -> list[Part]:
    """The same in pieces, so that a page can stress some of them."""
    sentences = [*_evidence(report), _noise(report)]
    parts: list[Part] = []
    for sentence in sentences:
        if sentence:
            parts += [Part(" "), *sentence] if parts else sentence
    return parts


def _evidence(report: Report) -> list[list[Part]]:
    labels = report["labels"]
    if labels < FIRST:
        disagree = _groups(report)["not_measurable"]
        start, rest = (
            "Not enough evidence yet.",
            f"{count_words(labels)} labelled so far; a first answer needs {FIRST}.",
        )
        if not labels:
            start = "Nobody knows yet how good this judge is."
            rest = "No person has scored a text that it scored. "
            rest += f"{FIRST} texts labelled blind give a first answer."
            if report["raters"]:
                rest = "People have scored texts for its rubric, but it has not scored any of them."
        known = [_people_disagree(disagree, len(report["criteria"]))] if disagree else []
        return [[Part(start, True)], [Part(rest)], *known]
    return [*_agreement(report), _overall_bias(report)]


def _agreement(report: Report) -> list[list[Part]]:
    """How the judge compares with people, by groups of criteria with the same standing."""
    groups = _groups(report)
    good, mid, bad = groups["as_people"], groups["below_people"], groups["not_usable"]
    everything = sum(len(entries) for entries in groups.values())
    sentences: list[list[Part]] = []
    if good:
        sentences.append(_as_people(good, mid, bad, report, whole=len(good) == everything))
        if bad and mid:
            sentences.append([Part("On "), *_names(mid), Part(" it is below them.")])
    elif mid or bad:
        sentences += _below(mid, bad, report, everything)
    if groups["unclear"]:
        sentences.append(_unclear(groups["unclear"], everything, first=not sentences))
    if groups["not_measurable"]:
        sentences.append(_people_disagree(groups["not_measurable"], everything))
    if groups["unknown"]:
        sentences.append(_unknown(groups["unknown"], everything))
    if groups["not_enough"] and len(groups["not_enough"]) < everything:
        names = _names(groups["not_enough"])
        sentences.append([Part("There are not enough labelled texts for "), *names, Part(".")])
    return sentences or [[Part("Not enough evidence yet.", True)]]


def _groups(report: Report) -> dict[str, list[Entry]]:
    """The criteria by standing; only the composite if there are none."""
    entries = report["criteria"] or [report["composite"]]
    found: dict[str, list[Entry]] = {name: [] for name in STANDINGS}
    for entry in entries:
        if entry:
            found[entry["standing"] if entry["standing"] in STANDINGS else "unknown"].append(entry)
    return found


def _as_people(
    good: Sequence[Entry], mid: Sequence[Entry], bad: Sequence[Entry], report: Report, *, whole: bool
) -> list[Part]:
    start = Part("This judge agrees with people about as well as people agree with each other")
    if whole:
        return [start, *_on(good, len(good)), Part(".")]
    parts = [start, Part(" on "), *_names(good)]
    worst = bad or mid
    if worst:
        parts += [Part(", but not on "), *_names(worst), *_where(worst, report)]
    return [*parts, Part(".")]


def _below(mid: Sequence[Entry], bad: Sequence[Entry], report: Report, everything: int) -> list[list[Part]]:
    sentences: list[list[Part]] = []
    if bad:
        if everything == 1:
            parts = [Part(f"This judge is not usable yet: it may agree with people {CONSTANT}")]
            parts += [*_and_bias(bad, report), Part(".")]
        else:
            parts = [
                Part("This judge is not usable yet"),
                *_on(bad, everything),
                *_where(bad, report),
                Part("."),
            ]
        sentences.append(parts)
    if mid:
        parts = [Part("This judge agrees with people less than people agree with each other")]
        if bad:
            parts = [Part("It agrees with people less than they agree with each other")]
        parts += _on(mid, everything)
        sentences.append([*parts, *([] if everything == 1 else _where(mid, report)), Part(".")])
    return sentences


def _unclear(entries: Sequence[Entry], everything: int, *, first: bool) -> list[Part]:
    if first:
        start = "It is not clear yet whether this judge agrees with people as well as people agree with "
        return [Part(f"{start}each other"), *_on(entries, everything), Part(".")]
    return [Part("On "), *_names(entries), Part(" it is not clear yet.")]


def _people_disagree(entries: Sequence[Entry], everything: int) -> list[Part]:
    if len(entries) == everything:
        return [
            Part("People do not agree with each other here: no judge can be measured against this.", True)
        ]
    return [
        Part("On "), *_names(entries),
        Part(" people do not agree with each other: no judge can be measured against this."),
    ]  # fmt: skip


def _unknown(entries: Sequence[Entry], everything: int) -> list[Part]:
    start = "How well people agree with each other is not known"
    where = [] if len(entries) == everything else [Part(" for "), *_names(entries)]
    return [Part(start), *where, Part(": two people have to score the same texts.")]


def _on(entries: Sequence[Entry], everything: int) -> list[Part]:
    """Where it is so: on these criteria, on all, or nothing if there is only one."""
    if everything == 1:
        return []
    if len(entries) == everything:
        return [Part(f" on all {everything} criteria")]
    return [Part(" on "), *_names(entries)]


def _names(entries: Sequence[Entry]) -> list[Part]:
    """Criteria in a sentence; the rest is counted."""
    names = [Part(entry["name"], True) for entry in entries[:MOST_NAMED]]
    if len(entries) > MOST_NAMED:
        names.append(Part(f"{len(entries) - MOST_NAMED} more"))
    parts = [names[0]]
    for number, name in enumerate(names[1:], start=2):
        parts += [Part(" and " if number == len(names) else ", "), name]
    return parts


def _where(entries: Sequence[Entry], report: Report) -> list[Part]:
    """The bias of a single criterion, after its name."""
    words = bias_words(entries[0], report) if len(entries) == 1 else ""
    return [Part(f", where it scores {words}")] if words else []


def _and_bias(entries: Sequence[Entry], report: Report) -> list[Part]:
    words = bias_words(entries[0], report)
    return [Part(f", and scores {words}")] if words else []


def _overall_bias(report: Report) -> list[Part]:
    """The composite, where people agree enough to tell: its bias, and whether it is below good criteria."""
    overall = report["composite"]
    if not overall or (len(report["criteria"]) == 1 and overall["standing"] == "not_usable"):
        return []
    if overall["standing"] in ("not_measurable", "not_enough"):
        return []
    bias = bias_words(overall, report)
    found = [f"scores {bias}"] if bias else []
    if overall["standing"] == "below_people" and _groups(report)["as_people"]:
        found.insert(0, "agrees with people less than they agree with each other")
    return [Part(f"Overall it {' and '.join(found)}.")] if found else []


def enough_repeats(texts: int, judgements: int) -> bool:
    """Whether repeated judgements, the first of each text included, are enough to know a judge's noise."""
    return texts >= REPEATED_TEXTS and judgements - texts >= REPEATS


def few_repeats_words(report: Report) -> str:
    """That there are repeats, but not enough of them; else empty."""
    entry = report["composite"] or {}
    texts, judgements = entry.get("retest_items", 0), entry.get("retest_judgements", 0)
    if not texts or enough_repeats(texts, judgements):
        return ""
    repeats = judgements - texts
    return (
        f"Not enough repeats to know its noise: {repeats} repeat{'' if repeats == 1 else 's'} of "
        f"{count_words(texts)}; it takes {REPEATS} repeats of at least {REPEATED_TEXTS} texts."
    )


def all_noise_words(report: Report) -> str:
    """Which differences are noise, on the composite and at worst; empty if that is not known."""
    words = noise_words(report["composite"], report)
    return (len(report["criteria"]) > 1 and words and _noise_of_all(report)) or words


def _noise(report: Report) -> list[Part]:
    if words := all_noise_words(report):
        return [Part(words, True)]
    if words := few_repeats_words(report):
        return [Part(words)]
    return [Part("Its noise is not known yet.")] if report["labels"] >= FIRST else []


def _noise_of_all(report: Report) -> str:
    """The noise of the composite, and of the criterion with the most; empty if it has none."""
    value = report["composite"]["smallest_difference"]["value"]
    known = [entry for entry in report["criteria"] if entry["smallest_difference"]]
    worst = max(known, key=lambda entry: float(entry["smallest_difference"]["value"]), default=None)
    if not value or worst is None:
        return ""
    most = points(worst["smallest_difference"]["value"], report).removesuffix(" points")
    return f"Composite differences under {points(value, report)} ({worst['name']}: {most}) are noise."


def noise_words(entry: Entry | None, report: Report) -> str:
    """Which differences are too small to mean anything; empty if that is not known."""
    figure = entry and entry["smallest_difference"]
    if not figure:
        return ""
    value = figure["value"]
    if not value:
        return "It repeats its scores exactly."
    return f"Differences under {points(value, report)} are noise."


def bias_words(entry: Entry, report: Report) -> str:
    """How far its scores are off, such as `about 1.4 points too high`; empty if that may be chance."""
    figure: Figure | None = entry["bias"]
    if not figure or figure["value"] is None:
        return ""
    value, low, high = figure["value"], figure["low"], figure["high"]
    if low is None or high is None or low <= 0 <= high or abs(value) < NOTICEABLE * _width(report):
        return ""
    return f"about {points(abs(value), report)} {RAISED if value > 0 else LOWERED}"


def criterion_sentence(entry: Entry, report: Report) -> str:
    """What is known about one criterion or the composite, in one or two sentences."""
    if not entry["n"]:
        words = "No texts labelled yet."
    elif entry["standing"] == "not_enough":
        words = f"Not enough evidence: {count_words(entry['n'])} labelled, and a first answer needs {FIRST}."
    else:
        words = f"{_standing_sentence(entry)}{_bias_sentence(entry, report)}"
    noise = noise_words(entry, report)
    return f"{words} {noise}" if noise else words


def _standing_sentence(entry: Entry) -> str:
    kappa = _two(entry["kappa"])
    alpha = f" (κ {kappa} of {_two(entry['alpha'])})" if entry["alpha"] else ""
    match entry["standing"]:
        case "as_people":
            return f"Agrees with people about as well as they agree with each other{alpha}."
        case "unclear":
            return f"May agree with people less than they agree with each other{alpha}: more texts will tell."
        case "below_people":
            return f"Agrees with people less than they agree with each other{alpha}."
        case "not_usable":
            return f"Not usable yet: it may agree with people {CONSTANT}{alpha}."
        case "not_measurable":
            shown = f" (α {_two(entry['alpha'])})" if entry["alpha"] else ""
            return f"People do not agree with each other{shown}: no judge can be measured against this."
    start = f"Agrees with people with κ {kappa}. " if entry["kappa"] else ""
    return f"{start}How well people agree with each other is not known: nobody scored the same texts."


def _bias_sentence(entry: Entry, report: Report) -> str:
    words = bias_words(entry, report) if entry["standing"] != "not_measurable" else ""
    return f" Scores {words}." if words else ""


def evidence_words(labels: int) -> str:
    """What so many labelled texts are enough for, and what the next step takes. Not about the judge."""
    if not labels:
        return f"No texts labelled yet. {FIRST} give a first answer."
    if labels < FIRST:
        return f"Not enough evidence. {FIRST - labels} more for a first answer."
    if labels < USABLE:
        return f"Enough texts for a first answer. {USABLE} make it usable."
    if labels < GATES:
        return f"Enough texts for a verdict. {GATES} are needed for a gate rule."
    if labels < COMPARES:
        return f"Enough texts for a gate rule. {COMPARES} are needed to compare judges."
    return "Enough texts for a gate rule and to compare judges."


def next_step(labels: int) -> int:
    """How many labelled texts are missing for the next step; 0 if none is left."""
    return next((step - labels for step in STEPS if labels < step), 0)


def points(value: float, report: Report) -> str:
    """A distance on the rubric's scale with as many decimals as make sense on it."""
    digits = decimals(report)
    while digits < 3 and value and not round(value, digits):
        digits += 1
    return f"{value:.{digits}f} points"


def signed(value: float, report: Report) -> str:
    return number_text(value, decimals(report), signed=True)


def decimals(report: Report) -> int:
    """1 on a scale of 10 points, none on one of 100, two on 0 to 1."""
    width = _width(report)
    if width >= 40:
        return 0
    return 1 if width >= 3 else 2


def _width(report: Report) -> float:
    return float(report["scale"]["most"]) - float(report["scale"]["least"])


def _two(figure: Figure | None) -> str:
    return "" if not figure or figure["value"] is None else number_text(figure["value"], 2)


def count_words(count: int) -> str:
    return f"{count} text{'' if count == 1 else 's'}"
