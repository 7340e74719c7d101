"""What `rubric push` and `suite push` share: options, which version a file was made from, and the result."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from refinement.cli.exits import BadInput
from refinement.cli.output import print_message
from refinement.cli.rubric_files import Stamp, slug_for

Command = TypeVar("Command", bound=Callable[..., Any])
PUSHED = {"created": "created:", "saved": "saved:", "unchanged": "unchanged:"}
MOST_DIGITS = 9  # of a version


def push_options(noun: str) -> Callable[[Command], Command]:
    """The arguments `files`, `slug`, `base`, `note` and `force`."""
    options = (
        click.argument(
            "files",
            nargs=-1,
            required=True,
            metavar="FILE...",
            type=click.Path(path_type=Path, dir_okay=False),
        ),
        click.option(
            f"--{noun}",
            "slug",
            metavar="SLUG",
            help=f"the {noun}'s slug (default: from the first line, or the file's name)",
        ),
        click.option(
            "--base", type=click.IntRange(min=1), metavar="VERSION", help="the version the file was made from"
        ),
        click.option("--note", default="", help="a note for the version: what has changed"),
        click.option("--force", is_flag=True, help="save on top of any version"),
    )

    def decorated(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


def single_file_check(files: Sequence[Path], noun: str, *given: object) -> None:
    """Raises BadInput for several files with a slug or a base, which are those of one file."""
    if len(files) > 1 and any(given):
        raise BadInput(f"--{noun} and --base work with one file only; push the files one by one.")


def slug_and_base(
    path: Path, stamp: Stamp | None, slug: str | None, base: int | None, *, noun: str
) -> tuple[str, int | None]:
    """What to push to, and the version that the file was made from, if it is known.

    Raises BadInput for a file's name that is no slug.
    """
    named = slug or (stamp.slug if stamp else slug_for(path, f"--{noun}"))
    known = stamp.version if stamp and stamp.slug == named else None
    return named, base or known


def print_pushed(path: Path, slug: str, version: int, status: str) -> None:
    print_message(f"{path}: {slug} {PUSHED[status]} version {version}")


def version_number(reference: str, *, noun: str) -> int | None:
    """The version in `SLUG@VERSION`; None without one. Raises BadInput."""
    _, at, number = reference.partition("@")
    if not at:
        return None
    wanted = number.removeprefix("v")
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) <= MOST_DIGITS and int(wanted)):
        raise BadInput(f"{reference!r} has no valid version; write it like {noun.upper()}@3.")
    return int(wanted)
