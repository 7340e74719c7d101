"""Reads a run's inputs from the command line: texts, files and settings."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from refinement.cli.exits import NotThere
from refinement.judging.sources import SourceText, source_decoded


def changes(options: Mapping[str, Any]) -> dict[str, str]:
    """The changes of the rubric by --max-rounds, --threshold, --judges and --set, by path."""
    values: dict[str, str] = {}
    if options["max_rounds"] is not None:
        values["policy.max_rounds"] = str(options["max_rounds"])
    if options["threshold"] is not None:
        values["policy.pass_threshold"] = options["threshold"]
    if options["judges"] is not None:
        values["judges.mode"] = options["judges"]
    for setting in options["overrides"]:
        path, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--set {setting!r} has no value; write --set policy.key=value.")
        values[path.strip()] = value.strip()
    return values


def text_of(value: str) -> str:
    """The text itself, or the content of the file after an @."""
    return read(value[1:]) if value.startswith("@") else value


def seed_of(value: str | None) -> str:
    if value is None:
        return ""
    seed = read_stdin() if value == "-" else read(value)
    if not seed.strip():
        raise ValueError(
            "the starting text is empty; leave out --seed to have the model write the first draft."
        )
    return seed


def sources_of(paths: Sequence[str]) -> list[SourceText]:
    """The sources in these files. Raises ValueError for one that cannot be used."""
    return [source_decoded(Path(path).name, read_bytes(path)) for path in paths]


def read_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise NotThere(f"cannot read {path}: {error.strerror}.") from None
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or 'unknown error'}.") from None


def read_stdin() -> str:
    """All of standard input. Read as bytes, because some locales accept invalid text."""
    try:
        return sys.stdin.buffer.read().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ValueError("cannot read standard input: it is not UTF-8 text.") from None


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise NotThere(f"cannot read {path}: {error.strerror}.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ValueError(f"cannot read {path}: {reason}.") from None
