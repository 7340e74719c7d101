"""The stream of a run's events."""

from collections.abc import Mapping

from refinement.models import Event, User
from refinement.models.statements import values_add


def event_record(
    run_id: int, kind: str, *, actor: str, user: User | None = None, data: Mapping[str, object] | None = None
) -> None:
    """Adds to the run's stream, in the transaction of what happened."""
    values_add(Event, event_values(run_id, kind, actor=actor, user=user, data=data))


def event_values(
    run_id: int, kind: str, *, actor: str, user: User | None = None, data: Mapping[str, object] | None = None
) -> dict[str, object]:
    """What goes into its row."""
    said = {"run_id": run_id, "kind": str(kind), "actor": actor[:120], "data": dict(data or {})}
    return said if user is None else {**said, "user_id": user.pk}


def actor_name(user: User | None) -> str:
    """Who did it, in words: a person, or the command line where nobody is signed in."""
    return user.display_name if user else "command line"
