"""A run in words, for people at a terminal."""

from typing import Any

import click

from refinement.cli.instances.base import RunLine, RunReport
from refinement.cli.output import coloured, print_table, score, shown

MOST_ISSUES = 5


def print_report(report: RunReport) -> None:
    click.echo(f"{headline(report)}\n{shown(report['title'])}")
    if report["why"]:
        click.echo(shown(report["why"]))
    if report["waiting_for"]:
        click.echo(f"Waiting: {shown(report['waiting_for'])}")
    click.echo(
        f"{report['rubric']} · producer {shown(report['producer'])} · judge {shown(report['judge'])} · "
        f"{report['tokens']:,} tokens · {report['seconds']:.0f} s of models"
    )
    if not report["rounds"]:
        return
    click.echo("")
    keys = list(dict.fromkeys(key for entry in report["rounds"] for key in entry["scores"]))
    rows = [round_row(entry, best=report["best_round"]) for entry in report["rounds"]]
    print_table({"round": "ROUND", "composite": "SCORE", **{key: key.upper() for key in keys}}, rows)
    print_last_word(report["rounds"][-1])
    if report["best_candidate"] is not None:
        click.echo(f"\nThe best text: wiggum run export {report['run']} --format txt")


def headline(line: RunLine) -> str:
    state = coloured(line["outcome"] or line["status"])
    figures = f" · best {score(line['best'])} in round {line['best_round']}" if line["best_round"] else ""
    return f"Run {line['run']} · {state}{figures}"


def round_row(entry: dict[str, Any], *, best: int | None) -> dict[str, Any]:
    name = f"{entry['round']}{' (best)' if entry['round'] == best else ''}"
    return {**entry["scores"], "round": name, "composite": entry["composite"]}


def print_last_word(entry: dict[str, Any]) -> None:
    """What the judge and the checks said of the last round."""
    failed = [check["message"] for check in entry["checks"] if not check["passed"]]
    told = [*failed, *(str(issue) for issue in entry["issues"])]
    if told:
        click.echo(f"\nOf round {entry['round']}:")
    for words in told[:MOST_ISSUES]:
        click.echo(f"  - {' '.join(shown(words).split())}")
    if len(told) > MOST_ISSUES:
        click.echo(f"  … and {len(told) - MOST_ISSUES} more")
    if entry["asi"]:
        click.echo(f"\nNext: {' '.join(shown(entry['asi']).split())}")
