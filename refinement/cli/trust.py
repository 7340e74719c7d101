"""`wiggum trust`: what a judge's scores are worth."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.completion import complete_rubrics
from refinement.cli.exits import BadInput
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import print_json, print_message, print_table

if TYPE_CHECKING:
    from refinement.cli.instances.trust import Judges, JudgeTrust

FIGURES = (
    *("kappa", "kappa_baseline", "alpha", "alpha_ordinal", "bias", "mae", "tau_b"),
    *("within_one", "within_one_baseline", "retest_sd", "smallest_difference", "flip_rate"),
)
COUNTS = ("n", "raters", "pairs_n", "alpha_n", "retest_items", "retest_judgements")
UNKNOWN = {"value": None, "low": None, "high": None}
COLUMNS = {
    "name": "CRITERION", "n": "N", "kappa": "KAPPA", "alpha": "ALPHA", "bias": "BIAS", "mae": "MAE",
    "tau_b": "TAU-B", "retest_sd": "RETEST SD", "smallest_difference": "REAL FROM", "flip_rate": "FLIPS",
    "standing": "JUDGE",
}  # fmt: skip
STANDINGS = {
    "not_enough": "not enough evidence",
    "not_measurable": "people do not agree",
    "as_people": "not worse than people",
    "unclear": "not clear yet",
    "below_people": "below people",
    "not_usable": "not usable yet",
    "unknown": "no second person",
}
EVIDENCE = {
    "none": "no text has scores by people and by this judge.",
    "not_enough": "Not enough evidence: at least 30 texts are needed.",
    "usable": "Enough texts for a verdict. 100 are needed for a gate rule.",
    "may_gate": "Enough texts for a gate rule. 200 are needed to compare judges.",
    "compares": "Enough texts for a gate rule and to compare judges.",
}
EXAMPLES = """
\b
Examples:
  wiggum trust release-notes --judge gemma3:27b
  wiggum trust release-notes@3 --judge gemma3:27b --set "March labels" --json
"""


@contextmanager
def judges_opened(server: str | None, token: str | None, project: str | None) -> "Iterator[Judges]":
    """The judges of the instance that the options select."""
    from refinement.cli.instances.opening import local_opened, token_given

    if server:
        from refinement.cli.instances.remote import remote_opened
        from refinement.cli.instances.remote_trust import RemoteJudges

        with remote_opened(server, token_given(token), project) as remote:
            yield RemoteJudges(remote)
        return
    with local_opened(project) as instance:
        from refinement.cli.instances.local_trust import LocalJudges

        yield LocalJudges(instance)


@click.command(epilog=EXAMPLES)
@click.argument("rubric", metavar="RUBRIC[@VERSION]", shell_complete=complete_rubrics)
@click.option("--judge", required=True, metavar="MODEL", help="the judge's model, or a board's key")
@click.option("--set", "label_set", default="", metavar="NAME", help="only the texts of this label set")
@server_options
@project_option
@json_option
def trust(
    rubric: str,
    judge: str,
    label_set: str,
    as_json: bool,
    server: str | None,
    token: str | None,
    project: str | None,
) -> None:
    """Show what a judge's scores are worth: agreement with people, bias and noise.

    Each figure has a 95 % interval. Without labels, import some: wiggum labels import.
    """
    if not judge.strip():
        raise BadInput("--judge requires a model, such as gemma3:27b.")
    with judges_opened(server, token, project) as judges:
        found = judges.trust(rubric, judge.strip(), label_set)
    if found.note:
        print_message(found.note)
    if as_json:
        print_json(trust_values(found, label_set))
    else:
        print_trust(found)


def trust_values(found: "JudgeTrust", label_set: str) -> dict[str, Any]:
    report = found.report
    about = ("labels", "evidence", "raters", "items_with_two", "scale", "pass_mark")
    return {
        "rubric": found.rubric,
        "judge": found.judge,
        "set": label_set or None,
        **{name: report[name] for name in about},
        "criteria": {entry["key"]: criterion_values(entry) for entry in report["criteria"]},
        "composite": criterion_values(report["composite"]),
        **{name: report[name] for name in ("length", "family", "correction", "usable", "planted")},
    }


def criterion_values(entry: dict[str, Any]) -> dict[str, Any]:
    """Every figure has `value`, `low` and `high`, which are null where they are unknown."""
    return {
        **{name: entry[name] for name in COUNTS},
        **{name: entry.get(name) or UNKNOWN for name in FIGURES},
        "standing": entry["standing"],
        "worse_than_people": entry["worse_than_people"],
    }


def print_trust(found: "JudgeTrust") -> None:
    report = found.report
    print_message(f"{found.rubric} × {found.judge}: {labels_in_words(report)}{EVIDENCE[report['evidence']]}")
    entries = report["criteria"]
    if len(entries) != 1:
        entries = [*entries, report["composite"]]
    print_table(COLUMNS, [line_of(entry) for entry in entries])


def labels_in_words(report: dict[str, Any]) -> str:
    """How many texts count; the composite's people are those who scored every criterion."""
    texts, people = report["labels"], report["composite"]["raters"]
    if not texts:
        return ""
    texts_in_words = "1 text" if texts == 1 else f"{texts:,} texts"
    people_in_words = "1 person" if people == 1 else f"{people:,} people"
    return f"{texts_in_words} with scores by the judge and by {people_in_words}. "


def line_of(entry: dict[str, Any]) -> dict[str, Any]:
    figures = {name: with_interval(entry[name]) for name in COLUMNS if name in FIGURES}
    return {"name": entry["name"], "n": entry["n"], **figures, "standing": STANDINGS[entry["standing"]]}


def with_interval(figure: dict[str, float | None] | None) -> str:
    if figure is None:
        return ""
    if figure["low"] is None or figure["high"] is None:
        return f"{figure['value']:.2f}"
    return f"{figure['value']:.2f} ({figure['low']:.2f} to {figure['high']:.2f})"
