"""What people hand to a run on the command line: texts, files, and settings."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def changes(options: Mapping[str, Any]) -> dict[str, str]:
    """What --max-rounds, --threshold and --set change of the rubric, by path."""
    found: dict[str, str] = {}
    if options["max_rounds"] is not None:
        found["policy.max_rounds"] = str(options["max_rounds"])
    if options["threshold"] is not None:
        found["policy.pass_threshold"] = options["threshold"]
    for setting in options["overrides"]:
        path, equals, value = setting.partition("=")
        if not equals:
            raise ValueError(f"--set {setting!r} has no value; write --set policy.key=value.")
        found[path.strip()] = value.strip()
    return found


def text_of(value: str) -> str:
    """The text itself, or what the file after an @ holds."""
    return read(value[1:]) if value.startswith("@") else value


def seed_of(value: str | None) -> str:
    if value is None:
        return ""
    seed = read_stdin() if value == "-" else read(value)
    if not seed.strip():
        raise ValueError("the seed is empty; leave --seed out to have a first draft written.")
    return seed


def read_stdin() -> str:
    """All of standard input; as bytes, because a locale may let broken text through."""
    try:
        return sys.stdin.buffer.read().decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise ValueError("cannot read standard input: it is not text in UTF-8.") from None


def read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise ValueError(f"cannot read {path}: {reason}.") from None
