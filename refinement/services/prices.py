"""Prices of models, set by administrators. A run uses the prices of its launch."""

from decimal import Decimal

from django.core.exceptions import PermissionDenied
from django.db import transaction

from refinement.models import ModelPrice, User
from refinement.services.audit import audit_record


@transaction.atomic
def price_set(*, endpoint: str, model: str, prompt: Decimal, completion: Decimal, by: User) -> ModelPrice:
    """Add or change the price of a model, per million tokens. Raises ValidationError, PermissionDenied."""
    _require_administrator(by)
    row = ModelPrice.objects.select_for_update().filter(endpoint=endpoint, model=model).first()
    before = _audit_values(row) if row else None
    row = row or ModelPrice(endpoint=endpoint, model=model)
    row.prompt, row.completion = prompt, completion
    row.full_clean(validate_unique=False)
    if _audit_values(row) != before:
        row.save()
        _record("price.set", row, by, before=before, after=_audit_values(row))
    return row


@transaction.atomic
def price_remove(*, price: int, by: User) -> bool:
    """Remove a price. Return False if there is none. Raises PermissionDenied."""
    _require_administrator(by)
    row = ModelPrice.objects.select_for_update().filter(pk=price).first()
    if row is None:
        return False
    _record("price.remove", row, by, before=_audit_values(row))
    row.delete()
    return True


def _audit_values(row: ModelPrice) -> dict[str, object]:
    return {"input": f"{row.prompt:.4f}", "output": f"{row.completion:.4f}"}


def _require_administrator(by: User) -> None:
    if not User.objects.filter(pk=by.pk, is_superuser=True, is_active=True).exists():
        raise PermissionDenied("Only administrators of this instance can change prices.")


def _record(
    action: str,
    row: ModelPrice,
    by: User,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    audit_record(action=action, object_type="price", object_id=str(row), user=by, before=before, after=after)
