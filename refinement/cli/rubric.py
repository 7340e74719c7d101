"""`wiggum rubric`: rubrics as files that can live in git."""

from pathlib import Path

import click

from refinement.cli.completion import complete_rubrics
from refinement.cli.exits import BadInput, Refused
from refinement.cli.instances.base import Instance, Push
from refinement.cli.options import on_instance
from refinement.cli.output import print_json, print_table, tell
from refinement.cli.rubric_files import (
    Stamp,
    file_read,
    file_write,
    problems_of,
    slug_for,
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
@click.option("--archived", is_flag=True, help="those in the archive instead")
@on_instance
def rubric_list(instance: Instance, archived: bool, as_json: bool) -> None:
    """List the project's rubrics."""
    lines = instance.rubrics(archived=archived)
    if as_json:
        print_json({"rubrics": lines})
    elif lines:
        print_table(COLUMNS, lines, wide="name")
    else:
        tell("There are no rubrics in the archive." if archived else "The project has no rubrics.")


PULL_EXAMPLES = """
\b
Examples:
  wiggum rubric pull briefs                 writes briefs.yaml
  wiggum rubric pull briefs@3 --out -       prints an older version
  wiggum rubric pull --all --out rubrics/   one file for each rubric
"""


@rubric.command("pull", epilog=PULL_EXAMPLES)
@click.argument("references", nargs=-1, metavar="[RUBRIC[@VERSION]]...", shell_complete=complete_rubrics)
@click.option("--all", "everything", is_flag=True, help="every rubric that is not in the archive")
@click.option("--out", metavar="FILE|FOLDER|-", default=".", help="where to; - prints (default: this folder)")
@click.option("--force", is_flag=True, help="overwrite files that have changes of their own")
@on_instance
def rubric_pull(
    instance: Instance, references: tuple[str, ...], everything: bool, out: str, force: bool, as_json: bool
) -> None:
    """Write rubrics to YAML files.

    The first line of a file says which version it is, so that a push can tell whether somebody saved a newer
    one. A file with changes that no version has is left alone.
    """
    if everything == bool(references):
        raise BadInput("name one rubric or more, or give --all; see wiggum rubric pull --help.")
    wanted = [line["slug"] for line in instance.rubrics()] if everything else list(references)
    if out == "-" and as_json:
        raise BadInput("--out - prints the file itself; leave --json out.")
    if len(wanted) > 1 and out != "-" and not Path(out).is_dir():
        raise BadInput(f"{out} is no folder, and several rubrics need one.")
    pulled = [pull_one(instance, reference, out, force=force) for reference in wanted]
    if as_json:
        print_json({"pulled": pulled})


def pull_one(instance: Instance, reference: str, out: str, *, force: bool) -> dict[str, object]:
    slug, _, number = reference.partition("@")
    found = instance.rubric_text(slug, version_number(reference, number))
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
                f"{path} has changes that no version has; push them, or overwrite them with --force."
            )
    if status == "written":
        file_write(path, text)
    tell(f"{path}: {slug}, version {found.version}{' (unchanged)' if status == 'unchanged' else ''}")
    return {"rubric": slug, "version": found.version, "file": str(path), "status": status}


def version_number(reference: str, number: str) -> int | None:
    if "@" not in reference:
        return None
    wanted = number.removeprefix("v")
    if not (wanted.isascii() and wanted.isdigit()):
        raise BadInput(f"{reference!r} names no version; write RUBRIC@3.")
    return int(wanted)


def is_a_version(instance: Instance, text: str) -> bool:
    """Whether the file is just what was pulled, so that nothing is lost with it."""
    stamp = stamp_of(text)
    if stamp is None:
        return False
    try:
        return stamped(instance.rubric_text(stamp.slug, stamp.version).text, stamp) == text
    except Refused:
        return False


PUSHED = {"created": "was made:", "saved": "was saved:", "unchanged": "is unchanged:"}
PUSH_EXAMPLES = """
\b
Examples:
  wiggum rubric push briefs.yaml --note "Asks for sources"
  wiggum rubric push rubrics/*.yaml --force       in CI, where git has the last word
"""


@rubric.command("push", epilog=PUSH_EXAMPLES)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path, dir_okay=False)
)
@click.option(
    "--rubric",
    "slug",
    metavar="SLUG",
    help="its name here (default: the file's first line, or the file's name)",
)
@click.option(
    "--base", type=click.IntRange(min=1), metavar="VERSION", help="the version that the file was made from"
)
@click.option("--note", default="", help="what is new in it; it stands beside the version")
@click.option("--force", is_flag=True, help="save on top of whatever version is there")
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
    """Save YAML files as new rubrics, or as new versions.

    A file that says what the newest version says makes none. One made from an older version than the newest
    is refused: what others saved meanwhile is not overwritten unseen. The first line of a pushed file names
    its version from then on.
    """
    if len(files) > 1 and (slug or base):
        raise BadInput("--rubric and --base are for one file; push the files one by one.")
    pushes = [push_of(path, slug, base, note=note, force=force) for path in files]
    pushed = []
    for path, push in zip(files, pushes, strict=True):
        result = instance.rubric_push(push)
        file_stamped(path, push.text, Stamp(result["rubric"], result["version"]))
        tell(f"{path}: {result['rubric']} {PUSHED[result['status']]} version {result['version']}")
        pushed.append({**result, "file": str(path)})
    if as_json:
        print_json({"pushed": pushed})


def push_of(path: Path, slug: str | None, base: int | None, *, note: str, force: bool) -> Push:
    """A file read and checked; all of them are before the first is sent."""
    text = file_read(path)
    if problems := problems_of(text):
        told = "\n".join(f"{path}:{line}: {message}" for line, message in problems)
        raise BadInput(f"{path} is no rubric as it stands; nothing was saved.\n{told}")
    stamp = stamp_of(text)
    named = slug or (stamp.slug if stamp else slug_for(path))
    known = stamp.version if stamp and stamp.slug == named else None
    return Push(slug=named, text=text, base=base or known, force=force, note=note)


def file_stamped(path: Path, text: str, stamp: Stamp) -> None:
    """Notes the version in the file, where it says another one or none."""
    if stamp_of(text) != stamp:
        file_write(path, stamped(text, stamp))
