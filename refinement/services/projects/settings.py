"""Project settings. Concurrent changes by owners are detected, not overwritten."""

import hashlib
import json

from django.db import transaction

from refinement.models import Project, User
from refinement.services.audit import audit_record
from refinement.services.people.memberships import project_lock, require_owner

SETTINGS = ("name", "blind_scores", "sharing")


class SettingsChanged(Exception):
    """Another owner saved first. `project` has the current settings."""

    def __init__(self, project: Project) -> None:
        super().__init__("the project's settings have changed in the meantime")
        self.project = project


def settings_mark(project: Project) -> str:
    """A fingerprint of the settings. Forms send it back, to detect concurrent changes."""
    values = json.dumps([getattr(project, name) for name in SETTINGS])
    return hashlib.sha256(values.encode()).hexdigest()[:16]


@transaction.atomic
def project_settings_change(
    *, project: Project, by: User, seen: str, name: str, blind_scores: bool, sharing: bool
) -> bool:
    """Change the settings. Return False if nothing changed. Raises SettingsChanged, PermissionDenied."""
    project_lock(project)
    require_owner(project, by)
    fresh = Project.objects.get(pk=project.pk)
    before = {key: getattr(fresh, key) for key in SETTINGS}
    after = {"name": name.strip(), "blind_scores": blind_scores, "sharing": sharing}
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
        before=before,
        after=after,
    )
    return True
