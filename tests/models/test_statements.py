"""Prepared statements write and read the same rows as the ORM does."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from refinement.models import Event, MessageState, QueuedMessage, User
from refinement.models.statements import columns_of, model_of, row_insert, rows_select, rows_update
from tests.models.given import a_run

pytestmark = pytest.mark.django_db


def test_an_inserted_row_is_the_orms_row(project):
    run = a_run(project)
    user = User.objects.create_user("a@example.org", "x")
    event = Event(run=run, kind="queued", actor="Ünï", user=user, data={"a": [1, None, "é"], "b": "1.5"})
    row_insert(event)
    kept = Event.objects.get(pk=event.pk)
    assert (kept.run, kept.kind, kept.actor, kept.user, kept.data) == (
        run,
        "queued",
        "Ünï",
        user,
        {"a": [1, None, "é"], "b": "1.5"},
    )
    assert abs(kept.at - timezone.now()) < timedelta(seconds=30)
    assert not event._state.adding


def test_an_update_touches_what_its_condition_names(project):
    first = a_run(project)
    second = a_run(project, first.rubric_version)
    changed = rows_update(
        type(first), {"model_seconds": Decimal("1.250"), "started_at": None}, '"id" = %s', [first.pk]
    )
    assert changed == [(first.pk,)]
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.model_seconds, second.model_seconds) == (Decimal("1.250"), 0)
    assert rows_update(type(first), {"why": "x"}, '"id" = %s', [-1]) == []


def test_a_returned_row_is_the_orms_row(project):
    run = a_run(project)
    (values,) = rows_update(
        type(run),
        {"r1": Decimal("7.150000"), "lease_until": timezone.now()},
        '"id" = %s',
        [run.pk],
        returning=columns_of(type(run)),
    )
    read = model_of(type(run), values)
    kept = type(run).objects.get(pk=run.pk)
    for field in type(run)._meta.concrete_fields:
        assert getattr(read, field.attname) == getattr(kept, field.attname), field.name
        assert type(getattr(read, field.attname)) is type(getattr(kept, field.attname)), field.name


def test_times_compare_as_the_orms_do():
    now = timezone.now()
    message = QueuedMessage(queue="q", message_id="m", body="{}", eta=now)
    row_insert(message)
    found = rows_select(
        'SELECT "id" FROM "refinement_queuedmessage" WHERE "eta" <= %s AND "state" = %s',
        [now, MessageState.QUEUED],
    )
    assert found == [(message.pk,)]
    earlier = now - timedelta(microseconds=1)
    assert rows_select('SELECT "id" FROM "refinement_queuedmessage" WHERE "eta" <= %s', [earlier]) == []
