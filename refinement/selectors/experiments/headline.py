"""The result of an experiment in a sentence or two. Reads a report's JSON."""

from collections.abc import Sequence
from typing import Any

MOST_NAMED = 4
WORDS = {"better": "better", "worse": "worse"}


def headline(configurations: Sequence[dict[str, Any]], task_types: Sequence[dict[str, Any]]) -> str:
    """What the comparisons with the baseline show: over all tasks first, then by task type."""
    if not any(entry["scored"] for entry in configurations):
        return "No scores yet."
    baseline = next((entry for entry in configurations if entry["baseline"]), None)
    if baseline is None or len(configurations) == 1:
        return best_alone(configurations)
    compared = [entry for entry in configurations if entry["against_baseline"] is not None]
    sentences = [*shown(compared, baseline), *not_shown(compared), *of_types(compared, task_types)]
    return " ".join(sentences)


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


def shown(compared: Sequence[dict[str, Any]], baseline: dict[str, Any]) -> list[str]:
    """A sentence for each configuration that is better or worse; the largest differences first."""
    differing = [entry for entry in compared if entry["against_baseline"]["verdict"] in WORDS]
    differing.sort(key=lambda entry: -entry["against_baseline"]["difference"])
    return [difference_sentence(entry, baseline) for entry in differing]


def difference_sentence(entry: dict[str, Any], baseline: dict[str, Any]) -> str:
    against = entry["against_baseline"]
    sign = 1 if against["verdict"] == "better" else -1
    low, high = sorted((sign * against["low"], sign * against["high"]))
    digits = digits_for(low)
    return (
        f"{entry['name']} is {against['verdict']} than {baseline['name']} by "
        f"{sign * against['difference']:.{digits}f} ({low:.{digits}f} to {high:.{digits}f}) "
        f"over {against['tasks']} tasks."
    )


def digits_for(low: float) -> int:
    """One digit, or more if the interval would seem to include zero."""
    return next((digits for digits in (1, 2, 3) if round(low, digits) > 0), 3)


def not_shown(compared: Sequence[dict[str, Any]]) -> list[str]:
    sentences = []
    same = [entry["name"] for entry in compared if entry["against_baseline"]["verdict"] == "no_difference"]
    few = [entry["name"] for entry in compared if entry["against_baseline"]["verdict"] == "not_enough"]
    if same:
        sentences.append(f"For {listed(same)} no difference was shown.")
    if few:
        sentences.append(f"For {listed(few)} there are not enough scored tasks.")
    return sentences


def of_types(compared: Sequence[dict[str, Any]], task_types: Sequence[dict[str, Any]]) -> list[str]:
    """Verdicts by task type that say something else than the one over all tasks."""
    overall = {entry["id"]: entry["against_baseline"]["verdict"] for entry in compared}
    sentences = []
    for entry in compared:
        for verdict in WORDS:
            if overall[entry["id"]] == verdict:
                continue
            types = [
                group["task_type"] or "unlabelled"
                for group in task_types
                for part in group["configurations"]
                if part["id"] == entry["id"] and (part["against_baseline"] or {}).get("verdict") == verdict
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
