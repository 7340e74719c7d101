"""Settings of a project, if two owners save them at the same time."""

import threading

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection

from refinement.models import AuditEntry, Membership, Project
from refinement.services.projects.settings import SettingsChanged, project_settings_change, settings_mark


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_is_saved_and_one_is_told(project, owner):
    seen, ready, outcomes = settings_mark(project), threading.Barrier(2), []

    def save(name: str) -> None:
        try:
            ready.wait()
            project_settings_change(
                project=Project(pk=project.pk, name="Alpha"), by=owner, seen=seen, name=name,
                blind_scores=False, sharing=True,
            )  # fmt: skip
            outcomes.append(name)
        except SettingsChanged as conflict:
            outcomes.append(f"after {conflict.project.name}")
        finally:
            connection.close()

    threads = [threading.Thread(target=save, args=(name,)) for name in ("One", "Two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    kept = Project.objects.get(pk=project.pk).name
    assert sorted(outcomes) == sorted([kept, f"after {kept}"])
    assert AuditEntry.objects.filter(action="project.settings").count() == 1


@pytest.mark.django_db
def test_who_is_no_longer_an_owner_is_refused(project, owner, editor):
    Membership.objects.filter(user=owner).update(role="editor")
    Membership.objects.filter(user=editor).update(role="owner")

    with pytest.raises(PermissionDenied):
        project_settings_change(
            project=project,
            by=owner,
            seen=settings_mark(project),
            name="Mine",
            blind_scores=True,
            sharing=True,
        )
    assert Project.objects.get(pk=project.pk).name == "Alpha"
