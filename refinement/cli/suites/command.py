"""`wiggum suite`: suites of tasks as files, and experiments with them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from refinement.cli.exits import BadInput
from refinement.cli.options import json_option, project_option, server_options
from refinement.cli.output import print_json, print_message, print_table
from refinement.cli.pushing import (
    print_pushed,
    push_options,
    single_file_check,
    slug_and_base,
    version_number,
)
from refinement.cli.suites.run import suite_run

if TYPE_CHECKING:
    from refinement.cli.instances.suites import SuitePush, Suites
    from refinement.cli.suites.files import SuiteFile

COLUMNS = {"slug": "SUITE", "version": "VERSION", "tasks": "TASKS", "name": "NAME"}
TASK_COLUMNS = {"key": "KEY", "task_type": "TYPE", "also": "ALSO HAS", "title": "TITLE"}


@click.group()
def suite() -> None:
    """List, show and push suites, and run them."""


suite.add_command(suite_run)


@contextmanager
def suites_opened(server: str | None, token: str | None, project: str | None) -> "Iterator[Suites]":
    """The suites of the instance that the options select."""
    from refinement.cli.instances.opening import local_opened, token_given

    if server:
        from refinement.cli.instances.remote import remote_opened
        from refinement.cli.instances.remote_suites import RemoteSuites

        with remote_opened(server, token_given(token), project) as remote:
            yield RemoteSuites(remote)
        return
    with local_opened(project) as instance:
        from refinement.cli.instances.local_suites import LocalSuites

        yield LocalSuites(instance)


@suite.command(
    "list", epilog="\b\nExamples:\n  wiggum suite list\n  wiggum suite list --json | jq -r '.suites[].slug'"
)
@click.option("--archived", is_flag=True, help="list archived suites instead")
@server_options
@project_option
@json_option
def suite_list(
    archived: bool, as_json: bool, server: str | None, token: str | None, project: str | None
) -> None:
    """List the project's suites."""
    with suites_opened(server, token, project) as suites:
        lines = suites.suites(archived=archived)
    if as_json:
        print_json({"suites": lines})
    elif lines:
        print_table(COLUMNS, lines, wide="name")
    else:
        print_message("The project has no archived suites." if archived else "The project has no suites.")


SHOW_EXAMPLES = """
\b
Examples:
  wiggum suite show support-answers
  wiggum suite show support-answers@3 --yaml > support-answers.yaml
"""


@suite.command("show", epilog=SHOW_EXAMPLES)
@click.argument("name", metavar="NAME[@VERSION]")
@click.option("--yaml", "as_yaml", is_flag=True, help="print the suite's YAML file")
@server_options
@project_option
@json_option
def suite_show(
    name: str, as_yaml: bool, as_json: bool, server: str | None, token: str | None, project: str | None
) -> None:
    """Show a suite and its tasks, or print its file."""
    from refinement.cli.rubric_files import Stamp, stamped
    from refinement.interchange.suites.tables import as_json as json_text
    from refinement.interchange.suites.yaml import suite_to_yaml, task_fields

    if as_yaml and as_json:
        raise BadInput("choose --yaml or --json.")
    slug = name.partition("@")[0]
    with suites_opened(server, token, project) as suites:
        found = suites.suite(slug, version_number(name, noun="suite"))
    text = found.suite
    if as_yaml:
        click.echo(stamped(suite_to_yaml(text), Stamp(found.slug, found.version)), nl=False)
        return
    about = {"slug": found.slug, "name": text.name, "description": text.description, "version": found.version}
    if as_json:
        tasks = json.loads(json_text([task_fields(task) for task in text.tasks]))
        print_json({**about, "tasks": tasks})
        return
    count = len(text.tasks)
    print_message(f"{text.name}, version {found.version}: {count:,} task{'' if count == 1 else 's'}")
    if text.tasks:
        print_table(TASK_COLUMNS, [task_line(task) for task in text.tasks], wide="title")


def task_line(task: Any) -> dict[str, Any]:
    counted = ((len(task.sources), "source"), (len(task.checks), "check"))
    also = ["starting text"] if task.seed else []
    also += [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counted if count]
    return {"key": task.key, "task_type": task.task_type, "title": task.title, "also": ", ".join(also)}


PUSH_EXAMPLES = """
\b
Examples:
  wiggum suite push support-answers.yaml --note "Adds two tickets"
  wiggum suite push tickets.csv --suite support-answers --base 4
  wiggum suite push suites/*.yaml --force         in CI, where git is the source of truth
"""


@suite.command("push", epilog=PUSH_EXAMPLES)
@push_options("suite")
@server_options
@project_option
@json_option
def suite_push(
    files: tuple[Path, ...],
    slug: str | None,
    base: int | None,
    note: str,
    force: bool,
    as_json: bool,
    server: str | None,
    token: str | None,
    project: str | None,
) -> None:
    """Save files as new suites or new versions.

    Reads a suite's YAML, CSV, JSON Lines and eval files. The file is the whole suite: tasks that it does not
    have are removed. A file with the same content saves nothing. A file made from an older version is
    refused, so that changes by others are not overwritten. The push updates the first line of a YAML file,
    which names its version.
    """
    single_file_check(files, "suite", slug, base)
    from refinement.cli.rubric_files import Stamp
    from refinement.cli.suites.files import file_stamped, suite_file

    read = [suite_file(path) for path in files]
    pushes = [push_of(file, slug, base, note=note, force=force) for file in read]
    pushed = []
    with suites_opened(server, token, project) as suites:
        for file, push in zip(read, pushes, strict=True):
            for message in file.notes:
                print_message(f"{file.path}: {message}")
            result = suites.push(push)
            file_stamped(file, Stamp(result["suite"], result["version"]))
            print_pushed(file.path, result["suite"], result["version"], result["status"])
            pushed.append({**result, "file": str(file.path)})
    if as_json:
        print_json({"pushed": pushed})


def push_of(file: "SuiteFile", slug: str | None, base: int | None, *, note: str, force: bool) -> "SuitePush":
    from refinement.cli.instances.suites import SuitePush

    named, known = slug_and_base(Path(file.path.stem), file.stamp, slug, base, noun="suite")
    names = file.kind == "yaml"
    return SuitePush(slug=named, suite=file.suite, names=names, base=known, force=force, note=note)
