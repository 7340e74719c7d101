"""The audit log of a project, for its owners."""

from datetime import date, datetime
from typing import Any

from ninja import Field, Query, Router, Schema

from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.models import AuditEntry
from refinement.selectors.people.audit import AuditFilters, audit_rows
from refinement.selectors.people.audit_words import action_label

router = Router(tags=["People"])


class AuditQuery(Paging):
    """Filters of the log."""

    person: int | None = Field(None, ge=1, le=2**31 - 1, description="A member's ID.")
    action: str = Field("", max_length=60, examples=["run.cancel"])
    object_type: str = Field("", max_length=40, examples=["run"])
    object_id: str = Field("", max_length=40)
    since: date | None = Field(None, ge=date(1970, 1, 1), le=date(9999, 1, 1))
    until: date | None = Field(None, ge=date(1970, 1, 1), le=date(9999, 1, 1))


class AuditShape(Schema):
    """A change by a user or the command line."""

    id: int
    at: datetime
    actor: str
    address: str = Field(description="The client's IP address.")
    action: str = Field(examples=["run.cancel"])
    words: str
    object_type: str
    object_id: str
    before: dict[str, Any]
    after: dict[str, Any]


@router.get("/audit", response=Page[AuditShape])
@member("owner")
def audit_list(request: ApiRequest, query: Query[AuditQuery]) -> Page[AuditShape]:
    """List audit log entries. Newest first."""
    filters = AuditFilters(
        person=str(query.person or ""),
        **query.model_dump(include={"action", "object_type", "object_id", "since", "until"}),
    )
    found, following = page_by_number(audit_rows(request.project, filters, request.blind_runs), query)
    return Page[AuditShape].of([audit_shape(row) for row in found], following)


def audit_shape(row: AuditEntry) -> AuditShape:
    same = ("at", "actor", "address", "action", "object_type", "object_id", "before", "after")
    return AuditShape(
        id=row.pk, words=action_label(row.action), **{name: getattr(row, name) for name in same}
    )
