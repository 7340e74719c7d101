"""Re-encrypts stored secrets when SECRET_KEY changes, and finds those that no known key can decrypt."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import QuerySet

from refinement.adapters import PURPOSE as TWO_FACTOR
from refinement.execution.deliveries import PURPOSE as WEBHOOK
from refinement.models import Webhook
from refinement.vault import Unreadable, known_keys, resealed

SEALED_TYPES = (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)
BATCH = 200


@dataclass(slots=True)
class SecretsReport:
    """How the stored secrets are encrypted, counted by row. The first key is the current one."""

    keys: Sequence[str]
    current: int = 0  # with the current key
    outdated: int = 0  # with one of the others
    unreadable: list[str] = field(default_factory=list)  # with no known key: the owners

    @property
    def total(self) -> int:
        return self.current + self.outdated + len(self.unreadable)

    def add(self, row: Webhook | Authenticator) -> bool:
        """Count a row and re-encrypt it in memory. Return whether it changed."""
        try:
            changed = _reseal(row, self.keys)
        except Unreadable:
            self.unreadable.append(_owner(row))
            return False
        self.outdated += changed
        self.current += not changed
        return changed


def secrets_report() -> SecretsReport:
    """Check every stored secret without changing it."""
    report = SecretsReport(known_keys())
    for rows in (_webhooks(), _authenticators()):
        for row in rows.iterator(BATCH):
            report.add(row)
    return report


def secrets_reseal(keys: Sequence[str]) -> SecretsReport:
    """Encrypt every secret with the first of these keys. `outdated` counts those that were re-encrypted.

    Each row is saved in a separate transaction. After an interruption, run it again to finish.
    """
    report = SecretsReport(keys)
    for webhook in list(_webhooks().values_list("pk", flat=True)):
        with transaction.atomic():
            hook = _webhooks().select_for_update(of=("self",)).filter(pk=webhook).first()
            if hook is not None and report.add(hook):
                hook.save(update_fields=["sealed_secret"])
    for authenticator in list(_authenticators().values_list("pk", flat=True)):
        with transaction.atomic():
            means = _authenticators().select_for_update(of=("self",)).filter(pk=authenticator).first()
            if means is not None and report.add(means):
                means.save(update_fields=["data"])
    return report


def _webhooks() -> QuerySet[Webhook]:
    return Webhook.objects.select_related("project").order_by("pk")


def _authenticators() -> QuerySet[Authenticator]:
    rows: QuerySet[Authenticator] = Authenticator.objects.filter(type__in=SEALED_TYPES)
    return rows.select_related("user").order_by("pk")


def _reseal(row: Webhook | Authenticator, keys: Sequence[str]) -> bool:
    if isinstance(row, Webhook):
        before = row.sealed_secret
        row.sealed_secret = resealed(WEBHOOK, before, keys)
        return bool(row.sealed_secret != before)
    # An authenticator app has a secret, recovery codes have a seed.
    name = "secret" if row.type == Authenticator.Type.TOTP else "seed"
    before = row.data.get(name, "")
    row.data = {**row.data, name: resealed(TWO_FACTOR, before, keys)} if before else row.data
    return bool(row.data.get(name, "") != before)


def _owner(row: Webhook | Authenticator) -> str:
    if isinstance(row, Webhook):
        return f"webhook {row.pk} of project {row.project.slug}"
    means = "authenticator app" if row.type == Authenticator.Type.TOTP else "recovery codes"
    return f"{means} of {row.user.email}"
