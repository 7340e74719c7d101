"""Totals of this process, added now and then to those that all processes share."""

import threading
from collections import Counter

from django.db import DatabaseError, connection

ADD = (
    'INSERT INTO "refinement_metrictotal" AS total ("name", "label", "value") VALUES {} '
    'ON CONFLICT ("name", "label") DO UPDATE SET "value" = total."value" + excluded."value"'
)
_lock = threading.Lock()
_totals: Counter[tuple[str, str]] = Counter()


def count(name: str, label: str = "", amount: float = 1) -> None:
    """Adds to a total; it becomes visible with the process's next sign of life."""
    with _lock:
        _totals[name, label] += amount  # type: ignore[assignment]


def totals_flush() -> None:
    """Adds what has come together to the shared totals."""
    with _lock:
        pending = dict(_totals)
        _totals.clear()
    if not pending:
        return
    try:
        totals_add(pending)
    except DatabaseError:
        with _lock:
            _totals.update(pending)  # counted once more with the next sign of life
        raise


def totals_add(pending: dict[tuple[str, str], int]) -> None:
    """One statement, in one order everywhere, so that two processes never wait for each other's rows."""
    entries = [(name, label, float(amount)) for (name, label), amount in sorted(pending.items())]
    places = ", ".join(["(%s, %s, %s)"] * len(entries))
    with connection.cursor() as cursor:
        cursor.execute(ADD.format(places), [value for entry in entries for value in entry])
