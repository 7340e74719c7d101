"""Prints a run for people."""

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
        f"{report['tokens']:,} tokens · {report['seconds']:.0f} s model time"
    )
    if not report["rounds"]:
        return
    click.echo("")
    keys = list(dict.fromkeys(key for entry in report["rounds"] for key in entry["scores"]))
    rows = [round_row(entry, best=report["best_round"]) for entry in report["rounds"]]
    print_table({"round": "ROUND", "composite": "SCORE", **{key: key.upper() for key in keys}}, rows)
    print_feedback(report["rounds"][-1])
    if report["best_candidate"] is not None:
        click.echo(f"\nExport the best text: wiggum run export {report['run']} --format txt")


def headline(line: RunLine) -> str:
    state = coloured(line["outcome"] or line["status"])
    figures = f" · best {score(line['best'])} in round {line['best_round']}" if line["best_round"] else ""
    return f"Run {line['run']} · {state}{figures}"


def round_row(entry: dict[str, Any], *, best: int | None) -> dict[str, Any]:
    name = f"{entry['round']}{' (best)' if entry['round'] == best else ''}"
    return {**entry["scores"], "round": name, "composite": entry["composite"]}


def print_feedback(entry: dict[str, Any]) -> None:
    """Print failed checks, issues and the ASI of a round."""
    failed = [check["message"] for check in entry["checks"] if not check["passed"]]
    issues = [*failed, *(str(issue) for issue in entry["issues"])]
    if issues:
        click.echo(f"\nIssues in round {entry['round']}:")
    for issue in issues[:MOST_ISSUES]:
        click.echo(f"  - {' '.join(shown(issue).split())}")
    if len(issues) > MOST_ISSUES:
        click.echo(f"  … and {len(issues) - MOST_ISSUES} more")
    if entry["asi"]:
        click.echo(f"\nNext: {' '.join(shown(entry['asi']).split())}")
