"""Endpoints that administrators add beside those of the environment. No row holds a secret."""

import hashlib
import json

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from refinement.models import Endpoint, User
from refinement.models.system.endpoints import EndpointKind
from refinement.providers.registry import spec_from
from refinement.selectors.endpoints import fixed_specs, row_spec
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import audit_record

FIELDS = ("name", "kind", "url", "api_key_variable", "concurrency", "enabled")
SPEC_FIELDS = ("name", "kind", "url", "api_key_variable", "concurrency")


class EndpointChanged(Exception):
    """Somebody changed the endpoint since it was read."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__("The endpoint was changed since you read it.")
        self.endpoint = endpoint


@transaction.atomic
def endpoint_create(*, by: User, values: dict[str, object]) -> Endpoint:
    """A further endpoint; raises ValidationError, PermissionDenied."""
    _require_administrator(by)
    row = Endpoint(**values)
    _save(row)
    _record("endpoint.create", row, by, after=_said(row))
    return row


@transaction.atomic
def endpoint_change(*, name: str, by: User, values: dict[str, object], seen: str = "") -> Endpoint:
    """The endpoint with these values; raises NotFound, ValidationError, PermissionDenied, EndpointChanged.

    `seen` is the mark of what was read, where somebody may have been faster. A new address gets no key that
    was meant for the old one: the variable is named again, or there is none.
    """
    _require_administrator(by)
    row = _locked(name)
    before = _said(row)
    if seen and seen != endpoint_mark(row):
        raise EndpointChanged(row)
    if "url" in values and values["url"] != row.url:
        row.api_key_variable = ""
    for field, value in values.items():
        setattr(row, field, value)
    if _said(row) != before:
        _save(row)
        _record("endpoint.change", row, by, before=before, after=_said(row))
    return row


@transaction.atomic
def endpoint_remove(*, name: str, by: User) -> None:
    """No run can use it any more; raises NotFound, PermissionDenied."""
    _require_administrator(by)
    row = _locked(name)
    _record("endpoint.remove", row, by, before=_said(row))
    row.delete()


def endpoint_mark(row: Endpoint) -> str:
    """Tells one state of an endpoint from another."""
    return hashlib.sha256(json.dumps(_said(row)).encode()).hexdigest()[:24]


def _locked(name: str) -> Endpoint:
    row = Endpoint.objects.select_for_update().filter(name=name).first()
    if row is None:
        raise NotFound("No endpoint of this name was added here; those of the environment are set there.")
    return row


def _save(row: Endpoint) -> None:
    """Checked as the environment's are, and by the columns' own limits."""
    if row.name in {spec.name for spec in fixed_specs()}:
        raise ValidationError({"name": "An endpoint of the environment has this name."})
    if row.kind not in EndpointKind.values:
        raise ValidationError({"kind": f"Choose one of {', '.join(EndpointKind.values)}."})
    try:
        spec_from({field: getattr(row, field) for field in SPEC_FIELDS}, "endpoint")
    except ValueError as wrong:
        field = str(wrong).partition(" ")[0].removeprefix("endpoint.").rstrip(":")
        raise ValidationError({field if field in SPEC_FIELDS else "__all__": _plainly(str(wrong))}) from None
    # Who may set an address in a browser must not learn the secrets of the instance with it. An endpoint
    # that was saved with another variable can still be switched off.
    if row.enabled and (problem := row_spec(row).refusal):
        raise ValidationError({"api_key_variable": problem})
    row.full_clean()
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ValidationError({"name": "There is an endpoint of this name."}) from None


def _plainly(words: str) -> str:
    """Without the place, which the field's own name tells."""
    rest = words.removeprefix("endpoint.").partition(" ")[2]
    return rest[:1].upper() + rest[1:]


def _said(row: Endpoint) -> dict[str, object]:
    return {field: getattr(row, field) for field in FIELDS}


def _require_administrator(by: User) -> None:
    if not User.objects.filter(pk=by.pk, is_superuser=True, is_active=True).exists():
        raise PermissionDenied("Only administrators of this instance set endpoints. Ask one of them.")


def _record(
    action: str,
    row: Endpoint,
    by: User,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    audit_record(
        action=action, object_type="endpoint", object_id=row.name, user=by, before=before, after=after
    )
