"""`wiggum labels`: scores by people, in and out."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.completion import complete_rubrics
from refinement.cli.exits import BadInput
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import print_json, print_message, print_table

if TYPE_CHECKING:
    from refinement.cli.instances.labels import LabelFile, LabelSets

COLUMNS = {"name": "LABEL SET", "rubric": "RUBRIC", "texts": "TEXTS", "labels": "LABELS", "people": "PEOPLE"}


@click.group()
def labels() -> None:
    """Import, list and export labels: scores that people gave."""


@contextmanager
def labels_opened(server: str | None, token: str | None, project: str | None) -> "Iterator[LabelSets]":
    """The label sets of the instance that the options select."""
    from refinement.cli.instances.opening import local_opened, token_given

    if server:
        from refinement.cli.instances.remote import remote_opened
        from refinement.cli.instances.remote_labels import RemoteLabelSets

        with remote_opened(server, token_given(token), project) as remote:
            yield RemoteLabelSets(remote)
        return
    with local_opened(project) as instance:
        from refinement.cli.instances.local_labels import LocalLabelSets

        yield LocalLabelSets(instance)


IMPORT_EXAMPLES = """
\b
Examples:
  wiggum labels import march.csv --set "March labels" --rubric summaries --dry-run
  wiggum labels import march.csv --items march.jsonl --set "March labels" --rubric summaries
  wiggum labels import judged.csv --set "Judge twice" --rubric summaries \\
      --judge-rater gpt-4#1=gpt-4 --judge-rater gpt-4#2=gpt-4
"""


@labels.command("import", epilog=IMPORT_EXAMPLES)
@click.argument("ratings", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--items",
    type=click.Path(path_type=Path, dir_okay=False),
    help="the texts: item, text, task, task_type",
)
@click.option("--set", "name", required=True, metavar="NAME", help="the label set; created if there is none")
@click.option(
    "--rubric",
    required=True,
    metavar="RUBRIC[@VERSION]",
    shell_complete=complete_rubrics,
    help="its criteria and scale apply",
)
@click.option(
    "--judge-rater",
    "judge_raters",
    multiple=True,
    metavar="RATER=MODEL",
    help="a rater that is a judge; several with the same model are repeats of one judge",
)
@click.option("--dry-run", is_flag=True, help="only report what would be imported")
@server_options
@project_option
@json_option
def labels_import(
    ratings: Path,
    items: Path | None,
    name: str,
    rubric: str,
    judge_raters: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    server: str | None,
    token: str | None,
    project: str | None,
) -> None:
    """Import ratings (CSV or JSON Lines: item, criterion, rater, score) into a label set.

    Importing the same file twice changes nothing. If anything is wrong, nothing is imported, and every
    problem is listed with its line.
    """
    from refinement.cli.instances.labels import LabelImportWanted
    from refinement.interchange.labels.reading import judge_raters_read

    try:
        judges = judge_raters_read(judge_raters)
    except ValueError as wrong:
        raise BadInput(f"--judge-rater: {wrong}") from None
    wanted = LabelImportWanted(
        name=name,
        rubric=rubric,
        ratings=label_file(ratings),
        items=label_file(items) if items else None,
        judges=judges,
        dry_run=dry_run,
    )
    with labels_opened(server, token, project) as sets:
        result = sets.imported(wanted)
    for note in result["notes"]:
        print_message(note)
    if as_json:
        print_json(result)
    else:
        print_message(import_words(result))


def label_file(path: Path) -> "LabelFile":
    from refinement.cli.instances.labels import LabelFile
    from refinement.cli.rubric_files import file_read
    from refinement.interchange.labels.types import MAX_BYTES

    return LabelFile(str(path), file_read(path, MAX_BYTES, "label file"))


def import_words(result: dict[str, Any]) -> str:
    verb = "Would import" if result["dry_run"] else "Imported"
    counts = [
        f"{result[name]:,} {words}"
        for name, words in (
            ("labels_new", "new"),
            ("labels_changed", "changed"),
            ("labels_unchanged", "unchanged"),
        )
        if result[name] or name == "labels_new"
    ]
    raters = len(result["raters"])
    texts = result["items_new"] + result["items_known"]
    return (
        f"{verb} {result['scores']:,} scores by {raters:,} rater{'' if raters == 1 else 's'} into "
        f"{result['name']} ({result['rubric']}@{result['version']}): {', '.join(counts)} labels, "
        f"{texts:,} text{'' if texts == 1 else 's'} in the set."
    )


@labels.command("list", epilog="\b\nExamples:\n  wiggum labels list\n  wiggum labels list --json")
@click.option("--archived", is_flag=True, help="list archived label sets instead")
@server_options
@project_option
@json_option
def labels_list(
    archived: bool, as_json: bool, server: str | None, token: str | None, project: str | None
) -> None:
    """List the project's label sets."""
    with labels_opened(server, token, project) as sets:
        lines = sets.label_sets(archived=archived)
    if as_json:
        print_json({"label_sets": lines})
    elif lines:
        print_table(COLUMNS, lines, wide="name")
    else:
        print_message(
            "The project has no archived label sets." if archived else "The project has no label sets."
        )


EXPORT_EXAMPLES = """
\b
Examples:
  wiggum labels export "March labels" > march.csv
  wiggum labels export "March labels" --items --format jsonl > march.jsonl
"""


@labels.command("export", epilog=EXPORT_EXAMPLES)
@click.argument("name", metavar="NAME")
@click.option("--items", is_flag=True, help="the texts instead of the ratings")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl"]), default="csv", show_default=True)
@server_options
@project_option
def labels_export(
    name: str, items: bool, form: str, server: str | None, token: str | None, project: str | None
) -> None:
    """Print a label set's ratings, or its texts, as the import reads them."""
    with labels_opened(server, token, project) as sets:
        for piece in sets.exported(name, "items" if items else "ratings", form):
            click.echo(piece, nl=False)
