"""People of whom a page shows a name: their rows come without the rest."""

from collections.abc import Iterator

UNSEEN = ("password", "last_login", "date_joined", "is_staff", "is_superuser")


def all_but_names(*relations: str) -> Iterator[str]:
    """What to defer of the people that a query follows these relations to."""
    for relation in relations:
        yield from (f"{relation}__{field}" for field in UNSEEN)
