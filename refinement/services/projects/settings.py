"""Project settings. Concurrent changes by owners are detected, not overwritten."""

import hashlib
import json
from decimal import Decimal

from django.db import transaction

from refinement.models import Project, User
from refinement.services.audit import audit_record
from refinement.services.people.memberships import project_lock, require_owner

SETTINGS = (
    "name", "blind_scores", "sharing", "monthly_cost", "monthly_tokens", "gate_labels", "gate_kappa",
    "gate_like_people",
)  # fmt: skip


class SettingsChanged(Exception):
    """Another owner saved first. `project` has the current settings."""

    def __init__(self, project: Project) -> None:
        super().__init__("the project's settings have changed in the meantime")
        self.project = project


def settings_mark(project: Project) -> str:
    """A fingerprint of the settings. Forms send it back, to detect concurrent changes."""
    values = json.dumps([getattr(project, name) for name in SETTINGS], default=str)
    return hashlib.sha256(values.encode()).hexdigest()[:16]


@transaction.atomic
def project_settings_change(
    *,
    project: Project,
    by: User,
    seen: str,
    name: str,
    blind_scores: bool,
    sharing: bool,
    monthly_cost: Decimal | None = None,
    monthly_tokens: int | None = None,
    gate_labels: int | None = None,
    gate_kappa: Decimal | None = None,
    gate_like_people: bool = False,
) -> bool:
    """Change the settings. Return False if nothing changed. Raises SettingsChanged, PermissionDenied.

    A budget of None is no limit. `gate_…` is what a judge needs before its PASS counts in gates and badges.
    """
    project_lock(project)
    require_owner(project, by)
    fresh = Project.objects.get(pk=project.pk)
    before = {key: getattr(fresh, key) for key in SETTINGS}
    after = {
        "name": name.strip(),
        "blind_scores": blind_scores,
        "sharing": sharing,
        "monthly_cost": monthly_cost,
        "monthly_tokens": monthly_tokens,
        "gate_labels": gate_labels,
        "gate_kappa": gate_kappa,
        "gate_like_people": gate_like_people,
    }
    if before == after:
        return False
    if seen != settings_mark(fresh):
        raise SettingsChanged(fresh)
    for key, value in after.items():
        setattr(fresh, key, value)
    fresh.full_clean()
    fresh.save(update_fields=SETTINGS)
    audit_record(
        action="project.settings",
        object_type="project",
        object_id=fresh.pk,
        project=fresh,
        user=by,
        before=_recorded(before),
        after=_recorded(after),
    )
    return True


def _recorded(values: dict[str, object]) -> dict[str, object]:
    """The values as the audit log stores them."""
    return {key: str(value) if isinstance(value, Decimal) else value for key, value in values.items()}
