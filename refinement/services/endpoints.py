"""Endpoints that administrators add in addition to those of the environment. Rows hold no secrets."""

import hashlib
import json

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import IntegrityError, transaction

from refinement.models import Endpoint, ModelCheck, User
from refinement.models.system.endpoints import EndpointKind
from refinement.providers.preflight import preflight
from refinement.providers.registry import EndpointSpec, build, spec_from
from refinement.selectors.endpoints import fixed_specs, row_spec
from refinement.selectors.projects.lists import NotFound
from refinement.services.audit import audit_record
from refinement.texts import storable

FIELDS = ("name", "kind", "url", "api_key_variable", "concurrency", "enabled")
SPEC_FIELDS = ("name", "kind", "url", "api_key_variable", "concurrency")


CHECK_FIELDS = ("answered", "honours_schema", "thinks", "seconds")


class EndpointChanged(Exception):
    """The endpoint was changed since the form was opened."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__("The model server has changed since you opened it.")
        self.endpoint = endpoint


@transaction.atomic
def endpoint_create(*, by: User, values: dict[str, object]) -> Endpoint:
    """Add an endpoint. Raises ValidationError, PermissionDenied."""
    _require_administrator(by)
    row = Endpoint(**values)
    _save(row)
    _record("endpoint.create", row, by, after=_audit_values(row))
    return row


def endpoint_try(*, by: User, values: dict[str, object]) -> EndpointSpec:
    """The endpoint of these values, without saving it. Raises ValidationError, PermissionDenied."""
    _require_administrator(by)
    row = Endpoint(**values)
    _validate(row)
    return row_spec(row)


@transaction.atomic
def endpoint_change(*, name: str, by: User, values: dict[str, object], seen: str = "") -> Endpoint:
    """Change an endpoint. Raises NotFound, ValidationError, PermissionDenied, EndpointChanged.

    `seen` is the `endpoint_mark` of the form, to detect concurrent changes. A new URL clears the API key
    variable unless `values` sets it, so that a key is never sent to another server by mistake.
    """
    _require_administrator(by)
    row = _locked(name)
    before = _audit_values(row)
    if seen and seen != endpoint_mark(row):
        raise EndpointChanged(row)
    if "url" in values and values["url"] != row.url:
        row.api_key_variable = ""
    for field, value in values.items():
        setattr(row, field, value)
    if _audit_values(row) != before:
        _save(row)
        _record("endpoint.change", row, by, before=before, after=_audit_values(row))
    return row


@transaction.atomic
def endpoint_remove(*, name: str, by: User) -> None:
    """Remove an endpoint. Raises NotFound, PermissionDenied."""
    _require_administrator(by)
    row = _locked(name)
    _record("endpoint.remove", row, by, before=_audit_values(row))
    row.delete()


def model_check(spec: EndpointSpec, model: str) -> ModelCheck:
    """Ask the model for a small verdict, and keep what it did."""
    found = preflight(build(spec), model)
    values = {field: getattr(found, field) for field in CHECK_FIELDS}
    values["message"] = storable(found.message)
    check, _ = ModelCheck.objects.update_or_create(
        endpoint=spec.name, model=model, defaults={"address": spec.url, **values}
    )
    return check


def endpoint_mark(row: Endpoint) -> str:
    """A fingerprint of the endpoint's values, to detect concurrent changes."""
    return hashlib.sha256(json.dumps(_audit_values(row)).encode()).hexdigest()[:24]


def _locked(name: str) -> Endpoint:
    row = Endpoint.objects.select_for_update().filter(name=name).first()
    if row is None:
        raise NotFound(
            "No model server with this name was added here. Those from the environment are changed there."
        )
    return row


def _save(row: Endpoint) -> None:
    _validate(row)
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise ValidationError({"name": "A model server with this name already exists."}) from None


def _validate(row: Endpoint) -> None:
    """Validate like an endpoint of the environment, then by the columns' limits."""
    if row.name in {spec.name for spec in fixed_specs()}:
        raise ValidationError({"name": "A model server from the environment already has this name."})
    if row.kind not in EndpointKind.values:
        raise ValidationError({"kind": f"Choose one of {', '.join(EndpointKind.values)}."})
    try:
        spec_from({field: getattr(row, field) for field in SPEC_FIELDS}, "endpoint")
    except ValueError as wrong:
        field = str(wrong).partition(" ")[0].removeprefix("endpoint.").rstrip(":")
        message = _without_field(str(wrong))
        raise ValidationError({field if field in SPEC_FIELDS else "__all__": message}) from None
    # An administrator must not be able to send the instance's own secrets to a URL of their choice. An
    # endpoint that was saved with another variable can still be disabled.
    if row.enabled and (problem := row_spec(row).refusal):
        raise ValidationError({"api_key_variable": problem})
    row.full_clean()


def _without_field(message: str) -> str:
    """The message without the field's name in front."""
    rest = message.removeprefix("endpoint.").partition(" ")[2]
    return rest[:1].upper() + rest[1:]


def _audit_values(row: Endpoint) -> dict[str, object]:
    return {field: getattr(row, field) for field in FIELDS}


def _require_administrator(by: User) -> None:
    if not User.objects.filter(pk=by.pk, is_superuser=True, is_active=True).exists():
        raise PermissionDenied("Only administrators of this instance can change model servers.")


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
