"""The stream of a run's events."""

from collections.abc import Mapping

from refinement.models import Event, User


def event_record(
    run_id: int, kind: str, *, actor: str, user: User | None = None, data: Mapping[str, object] | None = None
) -> None:
    """Adds to the run's stream, in the transaction of what happened."""
    Event.objects.create(run_id=run_id, kind=kind, actor=actor[:120], user=user, data=dict(data or {}))


def actor_name(user: User | None) -> str:
    """Who did it, in words: a person, or the command line where nobody is signed in."""
    return user.display_name if user else "command line"
