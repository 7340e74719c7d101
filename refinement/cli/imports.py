"""`wiggum import`: what other loops recorded, as runs."""

import sys
from pathlib import Path
from typing import Any

import click

from refinement.cli.exits import Exit
from refinement.cli.instances.base import ImportAnswer, Instance
from refinement.cli.options import on_instance
from refinement.cli.output import print_json, shown, tell
from refinement.cli.terminal import StatusLine

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
@on_instance
def import_command(instance: Instance, paths: tuple[Path, ...], dry_run: bool, as_json: bool) -> None:
    """Bring in runs: `runs.jsonl`, Simmer folders, and exports of Wiggum.

    The same run is imported once, however often it is tried. What was not understood is told line by line;
    docs/import.md says what is read.
    """
    with StatusLine(sys.stderr) as status:
        answer = instance.import_paths(paths, dry_run=dry_run, told=status.show)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)
    sys.exit(Exit.FAILED if answer["refused"] else Exit.OK)


def print_answer(answer: ImportAnswer) -> None:
    would = "would be " if answer["dry_run"] else ""
    for entry in answer["runs"]:
        state = f"{would}imported" if entry["state"] == "new" else WORDS[entry["state"]]
        run = f" as run {entry['run']}" if entry["run"] else ""
        click.echo(f"{shown(entry['name'])}: {state}{run} · {shown(entry['title'])}")
        for words in entry["contradictions"]:
            click.echo(f"  ! {shown(words)}")
    notes = [*answer["notes"], *(note for entry in answer["runs"] for note in entry["notes"])]
    for note in notes:
        tell(f"  {in_words(note)}")
    counts = f"{answer['new']} {would}imported, {answer['here']} here already, {answer['refused']} refused"
    tell(f"{counts}, {len(notes)} notes.")


def in_words(note: dict[str, Any]) -> str:
    place = f"{note['file']}, line {note['line']}" if note["line"] else note["file"]
    return f"{place}: {note['text']}: {note['why']}" if note["text"] else f"{place}: {note['why']}"
