"""The audit log. Entries are written in the transaction of the change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from refinement.access.client_address import means, origin
from refinement.execution.events import actor_name
from refinement.models import AuditEntry, Project, User

NAME_CHARS = 60
ACTOR_CHARS = 120


def audit_record(
    *,
    action: str,
    object_type: str,
    object_id: object,
    project: Project | None = None,
    user: User | None = None,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    actor: str = "",
) -> None:
    """Record who changed what and from where, with the values before and after.

    `actor` names the cause if it is not a user, such as a rule.
    """
    AuditEntry.objects.create(
        action=action,
        object_type=object_type,
        object_id=str(object_id),
        project=project,
        user=user,
        actor=named(actor or actor_name(user)),
        address=origin.get(),
        before=dict(before or {}),
        after=dict(after or {}),
    )


class InProject(Protocol):
    """A row that belongs to a project."""

    pk: int

    @property
    def project(self) -> Project: ...


@dataclass(frozen=True, slots=True)
class AuditOf:
    """Records changes of one type of project row."""

    kind: str

    def __call__(
        self,
        action: str,
        row: InProject,
        user: User,
        *,
        before: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
    ) -> None:
        audit_record(
            action=action,
            object_type=self.kind,
            object_id=row.pk,
            project=row.project,
            user=user,
            before=before,
            after=after,
        )


def named(actor: str) -> str:
    """The actor's name, with the name of the API token that acted for them."""
    by = means.get()
    return (f"{actor[:NAME_CHARS]}, by {by}" if by else actor)[:ACTOR_CHARS]
