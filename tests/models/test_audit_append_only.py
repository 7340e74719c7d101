"""The audit log is append-only, for the models and for plain SQL."""

import pytest
from django.db import DatabaseError, connection, connections, transaction

from refinement.models import AuditEntry, Project, User
from refinement.services.audit import audit_record

MESSAGE = "the audit log can only be added to"
CHANGES = [{"actor": "Nobody"}, {"action": "run.other"}, {"after": {"role": "x"}}, {"object_id": "9"}]


@pytest.fixture
def entry(project, owner) -> AuditEntry:
    audit_record(action="run.cancel", object_type="run", object_id=1, project=project, user=owner)
    return AuditEntry.objects.get()


@pytest.mark.parametrize("fields", [*CHANGES, {"address": "::1"}], ids=lambda fields: next(iter(fields)))
def test_an_update_is_refused_by_the_database(entry, fields):
    with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic():
        AuditEntry.objects.update(**fields)


def test_an_entry_cannot_be_given_to_another_project_or_person(entry, other_project, viewer):
    for fields in ({"project": other_project}, {"user": viewer}):
        with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic():
            AuditEntry.objects.update(**fields)


def test_a_deletion_is_refused_in_sql_as_well(entry):
    with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic():
        AuditEntry.objects.all().delete()
    with (
        pytest.raises(DatabaseError, match=MESSAGE),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM refinement_auditentry")
    assert AuditEntry.objects.count() == 1


def test_a_project_and_a_person_that_go_leave_their_entries(entry, project, owner):
    project.delete()
    owner.delete()

    kept = AuditEntry.objects.get()
    assert (kept.project, kept.user, kept.actor) == (None, None, "Olivia Owner")


def test_postgresql_refuses_as_well(postgres_database, django_db_blocker):
    with django_db_blocker.unblock():
        try:
            held_on_postgresql(postgres_database)
        finally:
            connections[postgres_database].close()


def held_on_postgresql(alias: str) -> None:
    """Rows written by hand: the services know one database only."""
    project = Project.objects.using(alias).create(name="Audited", slug="audited")
    person = User(email="audited@example.org", name="Ada")
    person.save(using=alias)
    entries = AuditEntry.objects.using(alias)
    entries.create(project=project, user=person, actor="Ada", action="a.b", object_type="a", object_id="1")
    for fields in CHANGES:
        with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic(using=alias):
            entries.update(**fields)
    with pytest.raises(DatabaseError, match=MESSAGE), transaction.atomic(using=alias):
        entries.all().delete()
    with pytest.raises(DatabaseError, match=MESSAGE), connections[alias].cursor() as cursor:
        cursor.execute("TRUNCATE refinement_auditentry CASCADE")
    project.delete(using=alias)
    person.delete(using=alias)
    assert list(entries.values_list("project", "user", "actor")) == [(None, None, "Ada")]
