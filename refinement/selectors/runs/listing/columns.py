"""Columns of the run list that people choose."""

from collections.abc import Iterable

# Name, label, and whether it is shown until somebody chooses.
COLUMNS = (
    ("rubric", "Rubric", True),
    ("scores", "First → best", True),
    ("gain", "Gain", False),
    ("people", "People − judge", True),
    ("models", "Writer → judge", True),
    ("tokens", "Tokens, cost", True),
    ("rounds", "Rounds", False),
    ("time", "Model time", False),
    ("type", "Task type", False),
    ("person", "Launched by", True),
)
NAMES = frozenset(name for name, _, _ in COLUMNS)
USUAL = frozenset(name for name, _, usual in COLUMNS if usual)
NONE = "none"  # in place of an empty list


def columns_from(text: str | None) -> frozenset[str]:
    """The chosen columns in a cookie; the usual ones without it."""
    return USUAL if not text else frozenset(text.split("-")) & NAMES


def columns_text(names: Iterable[str]) -> str:
    """The cookie's value for these columns."""
    return "-".join(name for name, _, _ in COLUMNS if name in set(names)) or NONE
