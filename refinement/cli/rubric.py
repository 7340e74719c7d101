"""`wiggum rubric`: manages rubrics as YAML files."""

from pathlib import Path

import click

from refinement.cli.completion import complete_rubrics
from refinement.cli.exits import BadInput, Refused
from refinement.cli.instances.base import Instance, Push
from refinement.cli.options import on_instance
from refinement.cli.output import print_json, print_message, print_table
from refinement.cli.pushing import (
    print_pushed,
    push_options,
    single_file_check,
    slug_and_base,
    version_number,
)
from refinement.cli.rubric_files import (
    Stamp,
    file_read,
    file_write,
    problems_of,
    stamp_of,
    stamped,
)

COLUMNS = {
    "slug": "RUBRIC", "version": "VERSION", "profile": "PROFILE", "criteria": "CRITERIA",
    "checks": "CHECKS", "name": "NAME",
}  # fmt: skip


@click.group()
def rubric() -> None:
    """List, pull and push rubrics as YAML files."""


@rubric.command(
    "list",
    epilog="\b\nExamples:\n  wiggum rubric list\n  wiggum rubric list --json | jq -r '.rubrics[].slug'",
)
@click.option("--archived", is_flag=True, help="list archived rubrics instead")
@on_instance
def rubric_list(instance: Instance, archived: bool, as_json: bool) -> None:
    """List the project's rubrics."""
    lines = instance.rubrics(archived=archived)
    if as_json:
        print_json({"rubrics": lines})
    elif lines:
        print_table(COLUMNS, lines, wide="name")
    else:
        print_message("The project has no archived rubrics." if archived else "The project has no rubrics.")


PULL_EXAMPLES = """
\b
Examples:
  wiggum rubric pull briefs                 writes briefs.yaml
  wiggum rubric pull briefs@3 --out -       prints an older version
  wiggum rubric pull --all --out rubrics/   writes one file per rubric
"""


@rubric.command("pull", epilog=PULL_EXAMPLES)
@click.argument("references", nargs=-1, metavar="[RUBRIC[@VERSION]]...", shell_complete=complete_rubrics)
@click.option("--all", "everything", is_flag=True, help="every rubric that is not archived")
@click.option("--out", metavar="FILE|FOLDER|-", default=".", help="the output; - for stdout (default: .)")
@click.option("--force", is_flag=True, help="overwrite files with local changes")
@on_instance
def rubric_pull(
    instance: Instance, references: tuple[str, ...], everything: bool, out: str, force: bool, as_json: bool
) -> None:
    """Write rubrics to YAML files.

    The first line of a file names its version, so that a push can detect newer versions. Files with local
    changes are not overwritten.
    """
    if everything == bool(references):
        raise BadInput("name at least one rubric, or pass --all; see wiggum rubric pull --help.")
    wanted = [line["slug"] for line in instance.rubrics()] if everything else list(references)
    if out == "-" and as_json:
        raise BadInput("--out - prints the file itself; it cannot be used with --json.")
    if len(wanted) > 1 and out != "-" and not Path(out).is_dir():
        raise BadInput(f"{out} is not a folder; several rubrics require one.")
    pulled = [pull_one(instance, reference, out, force=force) for reference in wanted]
    if as_json:
        print_json({"pulled": pulled})


def pull_one(instance: Instance, reference: str, out: str, *, force: bool) -> dict[str, object]:
    slug = reference.partition("@")[0]
    found = instance.rubric_text(slug, version_number(reference, noun="rubric"))
    text = stamped(found.text, Stamp(found.slug, found.version))
    if out == "-":
        click.echo(text, nl=False)
        return {}
    path = Path(out) / f"{slug}.yaml" if Path(out).is_dir() else Path(out)
    status = "written"
    if path.exists():
        kept = file_read(path)
        status = "unchanged" if kept == text else status
        if not force and kept != text and not is_a_version(instance, kept):
            raise Refused(
                f"{path} has changes that are not saved; push them, or overwrite them with --force."
            )
    if status == "written":
        file_write(path, text)
    print_message(f"{path}: {slug}, version {found.version}{' (unchanged)' if status == 'unchanged' else ''}")
    return {"rubric": slug, "version": found.version, "file": str(path), "status": status}


def is_a_version(instance: Instance, text: str) -> bool:
    """Whether the file is equal to the version it was pulled from."""
    stamp = stamp_of(text)
    if stamp is None:
        return False
    try:
        return stamped(instance.rubric_text(stamp.slug, stamp.version).text, stamp) == text
    except Refused:
        return False


PUSH_EXAMPLES = """
\b
Examples:
  wiggum rubric push briefs.yaml --note "Asks for sources"
  wiggum rubric push rubrics/*.yaml --force       in CI, where git is the source of truth
"""


@rubric.command("push", epilog=PUSH_EXAMPLES)
@push_options("rubric")
@on_instance
def rubric_push(
    instance: Instance,
    files: tuple[Path, ...],
    slug: str | None,
    base: int | None,
    note: str,
    force: bool,
    as_json: bool,
) -> None:
    """Save YAML files as new rubrics or new versions.

    A file that is equal to the newest version saves nothing. A file made from an older version is refused, so
    that changes by others are not overwritten. The push updates the first line of the file, which names its
    version.
    """
    single_file_check(files, "rubric", slug, base)
    pushes = [push_of(path, slug, base, note=note, force=force) for path in files]
    pushed = []
    for path, push in zip(files, pushes, strict=True):
        result = instance.rubric_push(push)
        file_stamped(path, push.text, Stamp(result["rubric"], result["version"]))
        print_pushed(path, result["rubric"], result["version"], result["status"])
        pushed.append({**result, "file": str(path)})
    if as_json:
        print_json({"pushed": pushed})


def push_of(path: Path, slug: str | None, base: int | None, *, note: str, force: bool) -> Push:
    """Read and validate a file. Raises BadInput."""
    text = file_read(path)
    if problems := problems_of(text):
        errors = "\n".join(f"{path}:{line}: {message}" for line, message in problems)
        raise BadInput(f"{path} is not a valid rubric; nothing was saved.\n{errors}")
    named, known = slug_and_base(path, stamp_of(text), slug, base, noun="rubric")
    return Push(slug=named, text=text, base=known, force=force, note=note)


def file_stamped(path: Path, text: str, stamp: Stamp) -> None:
    """Write the version into the file's first line, if it is not there."""
    if stamp_of(text) != stamp:
        file_write(path, stamped(text, stamp))
