"""`wiggum import`: what other loops recorded, as runs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from refinement.cli.exits import BadInput, Exit, Refused
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import print_json, shown, tell
from refinement.cli.terminal import StatusLine

if TYPE_CHECKING:
    from refinement.services.imports import ImportEntry, ImportReport

EXAMPLES = """
\b
Examples:
  wiggum import --dry-run simmer/ runs.jsonl       what would be made, and what is not understood
  wiggum import simmer/ runs.jsonl run-42.json
  wiggum import --json runs.jsonl | jq '.runs[] | select(.state == "new") | .run'

\b
Exit status: 0 where every run came in or was here already, 1 where one was refused, 2 where nothing could be
read.
"""
WORDS = {"new": "imported", "here": "here already", "refused": "refused"}


@click.command("import", epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="say what would come of it, and change nothing")
@server_options
@project_option
@json_option
def import_command(
    paths: tuple[Path, ...],
    dry_run: bool,
    server: str | None,
    token: str | None,
    project: str | None,
    as_json: bool,
) -> None:
    """Bring in runs: `runs.jsonl`, Simmer folders, and exports of Wiggum.

    The same run is imported once, however often it is tried. What was not understood is told line by line;
    docs/import.md says what is read.
    """
    if server:
        raise Refused("import works on the local database; on a server, use its page Runs → Import.")
    report = imported(paths, project, dry_run=dry_run)
    if as_json:
        print_json(report.as_dict())
    else:
        print_report(report)
    sys.exit(Exit.FAILED if report.count("refused") else Exit.OK)


def imported(paths: tuple[Path, ...], project: str | None, *, dry_run: bool) -> "ImportReport":
    from refinement.cli.instances.opening import local_opened

    with local_opened(project) as local, StatusLine(sys.stderr) as status:
        from refinement.services.imports import BadUpload, import_paths

        def told(entry: "ImportEntry") -> None:
            status.show(f"{entry.name}: {WORDS[entry.state]}")

        try:
            return import_paths(paths, project=local.project, dry_run=dry_run, told=told)
        except BadUpload as error:
            raise BadInput(str(error)) from None


def print_report(report: "ImportReport") -> None:
    for entry in report.entries:
        run = f" as run {entry.run}" if entry.run else ""
        state = "would be imported" if report.dry_run and entry.state == "new" else WORDS[entry.state]
        click.echo(f"{shown(entry.name)}: {state}{run} · {shown(entry.title)}")
        for words in entry.contradictions:
            click.echo(f"  ! {shown(words)}")
    for note in report.all_notes:
        tell(f"  {note}")
    verb = "would be imported" if report.dry_run else "imported"
    here, refused, notes = report.count("here"), report.count("refused"), len(report.all_notes)
    tell(f"{report.count('new')} {verb}, {here} here already, {refused} refused, {notes} notes.")
