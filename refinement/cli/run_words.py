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
    if report["task_type"]:
        click.echo(f"Task type: {shown(report['task_type'])}")
    click.echo(
        f"{report['rubric']} · producer {shown(report['producer'])} · judge {shown(report['judge'])} · "
        f"{report['tokens']:,} tokens · {report['seconds']:.0f} s model time"
    )
    if not report["rounds"]:
        return
    click.echo("")
    keys = list(dict.fromkeys(key for entry in report["rounds"] for key in entry["scores"]))
    rows = [round_row(entry, best=report["best_round"]) for entry in report["rounds"]]
    metrics = list(dict.fromkeys(name for entry in report["rounds"] for name in entry["metrics"]))
    columns = {f"score {key}": key.upper() for key in keys} | {
        f"metric {name}": shown(name).upper() for name in metrics
    }
    print_table({"round": "ROUND", "composite": "SCORE", **columns}, rows)
    print_feedback(report["rounds"][-1])
    if report["best_candidate"] is not None:
        click.echo(f"\nExport the best text: wiggum run export {report['run']} --format txt")


def headline(line: RunLine) -> str:
    state = coloured(line["outcome"] or line["status"])
    figures = f" · best {score(line['best'])} in round {line['best_round']}" if line["best_round"] else ""
    return f"Run {line['run']} · {state}{figures}"


def round_row(entry: dict[str, Any], *, best: int | None) -> dict[str, Any]:
    name = f"{entry['round']}{' (best)' if entry['round'] == best else ''}"
    scores = {f"score {key}": value for key, value in entry["scores"].items()}
    metrics = {
        f"metric {key}": "not found" if value is None else value for key, value in entry["metrics"].items()
    }
    return {**scores, **metrics, "round": name, "composite": entry["composite"]}


def print_feedback(entry: dict[str, Any]) -> None:
    """Print the contract violation, failed checks, issues and the ASI of a round."""
    if entry["contract_violated"]:
        click.echo(f"\nOutput contract violated: {' '.join(shown(entry['contract_violation']).split())}")
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
