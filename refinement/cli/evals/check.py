"""`wiggum eval --check`: reads eval files and says what would run, without running anything."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from refinement.cli.exits import Exit
from refinement.cli.output import print_json, shown
from refinement.evals.planning import Planner
from refinement.evals.reading import Checked, check_eval
from refinement.evals.types import BadEval, EvalFile, Ignored


def checked_files(paths: Sequence[Path], targets: Sequence[str], *, strict: bool, as_json: bool) -> int:
    """Reports on every file. The exit code says whether all of them would run."""
    reports = [
        report_of(check_eval(path, own_targets=bool(targets), strict=strict), targets) for path in paths
    ]
    if as_json:
        print_json({"files": reports})
    else:
        for report in reports:
            print_report(report)
        accepted = sum(report["accepted"] for report in reports)
        click.echo(f"{accepted} of {len(reports)} {'file' if len(reports) == 1 else 'files'} can run.")
    return Exit.OK if all(report["accepted"] for report in reports) else Exit.USAGE


def report_of(checked: Checked, targets: Sequence[str]) -> dict[str, Any]:
    """The report on one file. Without --target, its targets must be known as well."""
    refused: list[dict[str, Any]] = []
    for refusal in checked.refused:
        place = {"line": refusal.line, "reason": refusal.reason}
        refused.append(place if refusal.file == checked.path else {"file": str(refusal.file), **place})
    if checked.file is not None and not targets:
        refused += planning_problems(checked.file)
    return {
        "file": str(checked.path),
        "dialect": str(checked.dialect),
        "accepted": not refused,
        "cases": len(checked.file.cases) if checked.file else 0,
        "ignored": [ignored_entry(entry) for entry in checked.ignored],
        "refused": refused,
    }


def planning_problems(file: EvalFile) -> list[dict[str, Any]]:
    try:
        Planner().jobs([file])
    except BadEval as bad:
        return [placed(file, problem) for problem in bad.problems]
    return []


def placed(file: EvalFile, problem: str) -> dict[str, Any]:
    """The problem with its line, if it has one in this file."""
    line, found, reason = problem.removeprefix(f"{file.path}:").partition(": ")
    return (
        {"line": int(line), "reason": reason} if found and line.isdigit() else {"line": 1, "reason": problem}
    )


def ignored_entry(entry: Ignored) -> dict[str, Any]:
    return {"what": entry.what, "count": entry.count, "line": entry.line, "reason": entry.reason}


def print_report(report: dict[str, Any]) -> None:
    name = shown(report["file"])
    if report["accepted"]:
        count = report["cases"]
        cases = f"{count} {'case' if count == 1 else 'cases'}"
        click.echo(f"{click.style('✓', fg='green')} {name}: {cases} ({report['dialect']})")
    else:
        click.echo(f"{click.style('✗', fg='red')} {name} ({report['dialect']})")
    for entry in report["refused"]:
        place = shown(entry.get("file", report["file"]))
        click.echo(f"  {place}:{entry['line']}: {shown(entry['reason'])}")
    for entry in report["ignored"]:
        click.echo(f"  {name}:{entry['line']}: {shown(ignored_text(entry))}")


def ignored_text(entry: dict[str, Any]) -> str:
    times = f" ({entry['count']} times)" if entry["count"] > 1 else ""
    return f"ignored: {entry['what']}{times}. {entry['reason']}"


def ignored_lines(files: Sequence[EvalFile]) -> list[str]:
    """What the readers left out, for the end of a run."""
    return [
        f"{file.path}:{entry.line}: {ignored_text(ignored_entry(entry))}"
        for file in files
        for entry in file.ignored
    ]
