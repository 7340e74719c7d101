"""The result of an experiment in a sentence or two. Reads a report's JSON."""

from collections.abc import Sequence
from typing import Any

from refinement.selectors.experiments.words import NOT_COMPARABLE, digits_for, interval_words, leaning, signed

MOST_NAMED = 4
CARRIED = 0.8  # share of a difference that makes a task type its source
UNLABELLED = "unlabelled"
MANY_TOKENS = 10  # percent more or fewer, from which the headline says it
WORDS = {"better": "better", "worse": "worse"}


def headline(
    configurations: Sequence[dict[str, Any]],
    task_types: Sequence[dict[str, Any]],
) -> str:
    """What the comparisons with the baseline show: over all tasks first, then by task type."""
    configurations = [{**entry, "name": said_name(entry)} for entry in configurations]
    if not any(entry["scored"] for entry in configurations):
        return "No scores yet."
    baseline = next((entry for entry in configurations if entry["baseline"]), None)
    if baseline is None or len(configurations) == 1:
        return best_alone(configurations)
    compared = [entry for entry in configurations if entry["against_baseline"] is not None]
    others = [entry for entry in compared if entry["against_baseline"]["verdict"] == NOT_COMPARABLE]
    compared = [entry for entry in compared if entry not in others]
    digits = common_digits(compared)
    sentences = [
        *shown(compared, baseline, task_types, digits),
        *open_cases(compared, baseline, digits),
        *not_shown(compared),
        *of_types(compared, task_types),
        *not_comparable(others, baseline),
    ]
    return " ".join(sentences)


def said_name(entry: dict[str, Any]) -> str:
    """Its name; with its letter if it is named "Baseline" and another one is the baseline."""
    name = str(entry["name"])
    misleads = "baseline" in name.casefold() and not entry["baseline"]
    return f"{entry['letter']} (named “{name}”)" if misleads else name


def best_alone(configurations: Sequence[dict[str, Any]]) -> str:
    """Without comparisons: the highest composite."""
    scored = [entry for entry in configurations if entry["composite"] is not None]
    best = max(scored, key=lambda entry: entry["composite"]["value"])
    figure = best["composite"]
    sentence = f"{best['name']} has a composite of {figure['value']:.1f}{span(figure)}."
    if len(configurations) == 1:
        return sentence
    highest = sentence.replace("has a composite", "has the highest composite")
    return f"{highest} Choose a baseline to see whether the difference is more than chance."


def common_digits(compared: Sequence[dict[str, Any]]) -> int:
    """The digits of all differences, so that the sentences have one precision."""
    named = [
        entry["against_baseline"]
        for entry in compared
        if entry["against_baseline"]["verdict"] in WORDS or leaning(entry["against_baseline"])
    ]
    return max((digits_for(each["low"], each["high"]) for each in named), default=1)


def shown(
    compared: Sequence[dict[str, Any]],
    baseline: dict[str, Any],
    task_types: Sequence[dict[str, Any]],
    digits: int,
) -> list[str]:
    """A sentence for each configuration that is better or worse; the largest differences first."""
    differing = [entry for entry in compared if entry["against_baseline"]["verdict"] in WORDS]
    differing.sort(key=lambda entry: -entry["against_baseline"]["difference"])
    return [
        difference_sentence(entry, baseline, carried_by(entry, task_types), digits) for entry in differing
    ]


def carried_by(entry: dict[str, Any], task_types: Sequence[dict[str, Any]]) -> str:
    """The task type with at most half of the tasks that nearly all of the difference comes from; or empty."""
    against = entry["against_baseline"]
    total = against["difference"] * against["tasks"]
    for group in task_types:
        part = part_of(group, entry)
        if part is None or part["verdict"] != against["verdict"] or part["tasks"] * 2 > against["tasks"]:
            continue
        if part["difference"] * part["tasks"] / total >= CARRIED:
            return str(group["task_type"] or UNLABELLED)
    return ""


def part_of(group: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any] | None:
    """The configuration's comparison on this task type."""
    found = next(part for part in group["configurations"] if part["id"] == entry["id"])
    comparison: dict[str, Any] | None = found["against_baseline"]
    return comparison


def difference_sentence(entry: dict[str, Any], baseline: dict[str, Any], carrier: str, digits: int) -> str:
    against = entry["against_baseline"]
    sign = 1 if against["verdict"] == "better" else -1
    low, high = sorted((sign * against["low"], sign * against["high"]))
    interval = interval_words(low, high, plus=False, digits=digits)
    return (
        f"{entry['name']} is {against['verdict']} than {baseline['name']} by "
        f"{sign * against['difference']:.{digits}f} ({interval}) "
        f"over {against['tasks']} tasks{f', nearly all of it on {carrier} tasks' if carrier else ''}"
        f"{tokens_words(entry, baseline)}."
    )


def tokens_words(entry: dict[str, Any], baseline: dict[str, Any]) -> str:
    """How many more or fewer tokens a better configuration uses; empty if it is about as many."""
    own, base = entry.get("tokens"), baseline.get("tokens")
    if entry["against_baseline"]["verdict"] != "better" or not own or not base or not base["value"]:
        return ""
    change = round((own["value"] / base["value"] - 1) * 100)
    if abs(change) < MANY_TOKENS:
        return ""
    return f", and uses {abs(change)} % {'more' if change > 0 else 'fewer'} tokens"


def open_cases(compared: Sequence[dict[str, Any]], baseline: dict[str, Any], digits: int) -> list[str]:
    """A sentence for each configuration that may well differ, though none was shown; the worst first."""
    found = [entry for entry in compared if leaning(entry["against_baseline"])]
    found.sort(key=lambda entry: entry["against_baseline"]["difference"])
    return [
        open_sentence(entry["name"], entry["against_baseline"], baseline["name"], digits) for entry in found
    ]


def open_sentence(name: str, against: dict[str, Any], other: str, digits: int = 0) -> str:
    low, high = against["low"], against["high"]
    digits = digits or digits_for(low, high)
    return (
        f"{name} may be {leaning(against)} than {other}: {signed(against['difference'], digits)} "
        f"({interval_words(low, high, digits=digits)})."
    )


def not_shown(compared: Sequence[dict[str, Any]]) -> list[str]:
    sentences = []
    same = [
        entry["name"]
        for entry in compared
        if entry["against_baseline"]["verdict"] == "no_difference" and not leaning(entry["against_baseline"])
    ]
    few = [entry["name"] for entry in compared if entry["against_baseline"]["verdict"] == "not_enough"]
    if same:
        sentences.append(f"For {listed(same)} no difference was shown.")
    if few:
        sentences.append(f"For {listed(few)} there are not enough scored tasks.")
    return sentences


def not_comparable(others: Sequence[dict[str, Any]], baseline: dict[str, Any]) -> list[str]:
    if not others:
        return []
    verb = "does" if len(others) == 1 else "do"
    names = listed([entry["name"] for entry in others])
    return [f"{names} {verb} not compare with {baseline['name']}: the judge or the rubric version differs."]


def of_types(compared: Sequence[dict[str, Any]], task_types: Sequence[dict[str, Any]]) -> list[str]:
    """Verdicts by task type that say something else than the one over all tasks."""
    overall = {entry["id"]: entry["against_baseline"]["verdict"] for entry in compared}
    sentences = []
    for entry in compared:
        for verdict in WORDS:
            if overall[entry["id"]] == verdict:
                continue
            types = [
                group["task_type"] or UNLABELLED
                for group in task_types
                if (part_of(group, entry) or {}).get("verdict") == verdict
            ]
            if types:
                sentences.append(f"{entry['name']} is {verdict} on {listed(types)} tasks.")
    return sentences


def span(figure: dict[str, Any]) -> str:
    return "" if figure["low"] is None else f" ({figure['low']:.1f} to {figure['high']:.1f})"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence; the rest is counted."""
    shown_names, more = list(names[:MOST_NAMED]), len(names) - MOST_NAMED
    if more > 0:
        shown_names.append(f"{more} more")
    if len(shown_names) == 1:
        return shown_names[0]
    return f"{', '.join(shown_names[:-1])} and {shown_names[-1]}"
