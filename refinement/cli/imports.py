"""`wiggum import`: imports runs of other tools and Wiggum exports."""

import sys
from pathlib import Path
from typing import Any

import click

from refinement.cli.exits import Exit, NotThere
from refinement.cli.instances.base import ImportAnswer, Instance
from refinement.cli.options import on_instance
from refinement.cli.output import print_json, print_message, shown
from refinement.cli.terminal import StatusLine
from refinement.interchange.runs_jsonl.weights import parsed_weights

EXAMPLES = """
\b
Examples:
  wiggum import --dry-run simmer/ runs.jsonl       shows what would be imported, and problems
  wiggum import simmer/ runs.jsonl run-42.json
  wiggum import --weights depth=.6,clarity=.4 runs.jsonl
  wiggum import --json runs.jsonl | jq '.runs[] | select(.state == "new") | .run'

\b
Exit status: 0 if every run is imported, now or before; 1 if one was refused; 2 if nothing could be read; 4 if
a file was not found.
"""
LABELS = {"new": "imported", "here": "already imported", "refused": "refused"}


@click.command("import", epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="show what would be imported, without changes")
@click.option(
    "--weights", "weights_text", metavar="NAME=W,…", help="weights for lines of runs.jsonl that have none"
)
@on_instance
def import_command(
    instance: Instance, paths: tuple[Path, ...], dry_run: bool, weights_text: str | None, as_json: bool
) -> None:
    """Import runs from `runs.jsonl`, Simmer folders and Wiggum exports.

    The same run is imported only once. Problems are listed by line. See docs/import.md for the formats.
    """
    for path in paths:
        if not path.exists():
            raise NotThere(f"{path} does not exist.")
    try:
        weights = parsed_weights(weights_text) if weights_text else {}
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--weights") from None
    with StatusLine(sys.stderr) as status:
        answer = instance.import_paths(paths, dry_run=dry_run, weights=weights, on_progress=status.show)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)
    sys.exit(Exit.FAILED if answer["refused"] else Exit.OK)


def print_answer(answer: ImportAnswer) -> None:
    would = "would be " if answer["dry_run"] else ""
    for entry in answer["runs"]:
        state = f"{would}imported" if entry["state"] == "new" else LABELS[entry["state"]]
        run = f" as run {entry['run']}" if entry["run"] else ""
        click.echo(f"{shown(entry['name'])}: {state}{run} · {shown(entry['title'])}")
        for contradiction in entry["contradictions"]:
            click.echo(f"  ! {shown(contradiction)}")
    notes = [*answer["notes"], *(note for entry in answer["runs"] for note in entry["notes"])]
    for note in notes:
        print_message(f"  {note_text(note)}")
    counts = (
        f"{answer['new']} {would}imported, {answer['here']} already imported, {answer['refused']} refused"
    )
    print_message(f"{counts}, {len(notes)} notes.")


def note_text(note: dict[str, Any]) -> str:
    place = f"{note['file']}, line {note['line']}" if note["line"] else note["file"]
    return f"{place}: {note['text']}: {note['why']}" if note["text"] else f"{place}: {note['why']}"
