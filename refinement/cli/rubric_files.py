"""Rubric files on disk. The first line names the rubric and its version."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from refinement.cli.exits import BadInput, NotThere
from refinement.interchange.rubrics.yaml import MAX_BYTES, BadFile, rubric_from_yaml

STAMP = re.compile(r"\A# wiggum: ([-a-zA-Z0-9_]{1,80})@([1-9][0-9]{0,8})\n")
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,72}")
MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class Stamp:
    slug: str
    version: int


def stamp_of(text: str) -> Stamp | None:
    match = STAMP.match(text)
    return Stamp(match[1], int(match[2])) if match else None


def stamped(text: str, stamp: Stamp) -> str:
    """The file with this first line, a YAML comment."""
    return f"# wiggum: {stamp.slug}@{stamp.version}\n{STAMP.sub('', text)}"


def slug_for(path: Path, option: str = "--rubric") -> str:
    slug = re.sub(r"[^a-z0-9_]+", "-", path.name.lower().removesuffix(".yaml").removesuffix(".yml")).strip(
        "-"
    )
    if not SLUG.fullmatch(slug):
        raise BadInput(f"the file name {path} is not usable as a slug; pass one with {option}.")
    return slug


def problems_of(text: str) -> list[tuple[int, str]]:
    """The errors in the file, by line."""
    try:
        rubric_from_yaml(text)
    except BadFile as error:
        problems = [(problem.line, problem.message) for problem in error.problems]
        more = len(problems) - MOST_PROBLEMS
        last = [(problems[-1][0], f"… and {more} more.")] if more > 0 else []
        return problems[:MOST_PROBLEMS] + last
    return []


def file_read(path: Path, most: int = MAX_BYTES, what: str = "rubric") -> str:
    try:
        if path.stat().st_size > most:
            raise BadInput(f"{path} is larger than {most:,} bytes, the limit for a {what}.")
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError as error:
        raise NotThere(f"cannot read {path}: {error.strerror}.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise BadInput(f"cannot read {path}: {reason}.") from None


def file_write(path: Path, text: str) -> None:
    """Write the file atomically, and keep the permissions of an existing one."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="")
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)
        part.replace(path)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}.") from None
    finally:
        part.unlink(missing_ok=True)
