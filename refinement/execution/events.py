"""Events of runs."""

from collections.abc import Mapping

from refinement.models import Event, User


def event_record(
    run_id: int, kind: str, *, actor: str, user: User | None = None, data: Mapping[str, object] | None = None
) -> None:
    """Adds an event to the run. Call it in the transaction that makes the change."""
    Event.objects.create(run_id=run_id, kind=kind, actor=actor[:120], user=user, data=dict(data or {}))


def actor_name(user: User | None) -> str:
    """The name to show for an event: the user's, or "command line" without a user."""
    return user.display_name if user else "command line"
