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
    if report["asking"]:
        click.echo(asking_words(report["run"]))
    if report["task_type"]:
        click.echo(f"Task type: {shown(report['task_type'])}")
    click.echo(
        f"{report['rubric']} · writer {shown(report['producer'])} · {judge_words(report)} · "
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
    if any(entry["key_change"] for entry in report["rounds"]):
        columns["key_change"] = "KEY CHANGE"
    print_table({"round": "ROUND", "composite": "SCORE", **columns}, rows)
    print_judges(report["rounds"][-1])
    print_feedback(report["rounds"][-1])
    if report["best_candidate"] is not None:
        click.echo(f"\nExport the best text: wiggum run export {report['run']} --format txt")


def asking_words(number: int, command: str = "wiggum run answer {} {}") -> str:
    """What to do about a run that asks whether to go on."""
    return (
        f"Run {number} has stopped improving and waits for a decision. "
        f"To end it: {command.format(number, 'stop')}. "
        f"For two more rounds judged by a board: {command.format(number, 'continue')}"
    )


def judge_words(report: RunReport) -> str:
    """Who judges: the judge, or the board with its clerk."""
    if report["judge_mode"] != "board" and not report["escalated_after"]:
        return f"judge {shown(report['judge'])}"
    names = ", ".join(shown(judge["name"]) for judge in report["panel"])
    board = f"board of {len(report['panel'])} ({names})" if names else "board, not composed yet"
    after = f" after round {report['escalated_after']}" if report["escalated_after"] else ""
    return f"{board}{after} · clerk {shown(report['clerk'])}"


def print_judges(entry: dict[str, Any]) -> None:
    """Print each judge's scores on a board, before and after the deliberation."""
    if entry["judges"]:
        click.echo(f"\nJudges of round {entry['round']}:")
    for judge in entry["judges"]:
        revised = judge["revised"] or {}
        scores = [
            f"{key} {score(value)}"
            + (f" → {score(revised[key])}" if revised.get(key, value) != value else "")
            for key, value in judge["scores"].items()
        ]
        said = ", ".join(scores) or f"no valid reply: {judge['problem']}"
        click.echo(f"  {shown(judge['name'])}: {' '.join(shown(said).split())}")


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
    change = " ".join(shown(entry["key_change"] or "").split())
    return {**scores, **metrics, "round": name, "composite": entry["composite"], "key_change": change}


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
