"""Deferred columns for users of whom a page shows only the name."""

from collections.abc import Iterator

UNSEEN = ("password", "last_login", "date_joined", "is_staff", "is_superuser")


def all_but_names(*relations: str) -> Iterator[str]:
    """Columns to defer on users reached by these relations."""
    for relation in relations:
        yield from (f"{relation}__{field}" for field in UNSEEN)
