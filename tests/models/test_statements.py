"""Prepared statements write and read the same rows as the ORM does."""

import json
from datetime import UTC, timedelta
from datetime import timezone as zones
from decimal import Decimal

import pytest
from django.utils import timezone

from refinement.models import Event, MessageState, QueuedMessage, User
from refinement.models.statements import (
    columns_of,
    fields_read,
    json_text,
    model_of,
    row_add,
    row_insert,
    rows_change,
    rows_select,
    rows_touch,
    rows_update,
    values_add,
)
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


def test_values_make_the_same_row_as_an_instance(project):
    run = a_run(project)
    user = User.objects.create_user("a@example.org", "x")
    said = {"kind": "queued", "actor": "Ünï", "data": {"a": [1, None, "é", 0.1, True], "b": ("1.5",)}}
    row_add(Event(run=run, user=user, **said))
    values_add(Event, {"run_id": run.pk, "user_id": user.pk, **said})
    made = Event.objects.create(run=run, user=user, **said)
    ours = list(Event.objects.filter(kind="queued", actor="Ünï", pk__lt=made.pk))
    assert len(ours) == 2
    for field in (field.attname for field in Event._meta.concrete_fields if field.name not in ("id", "at")):
        kept = getattr(Event.objects.get(pk=made.pk), field)
        assert [getattr(event, field) for event in ours] == [kept, kept], field
    assert all(abs(event.at - timezone.now()) < timedelta(seconds=30) for event in ours)


def test_what_values_do_not_say_is_as_in_a_new_row(project):
    run = a_run(project)
    values_add(Event, {"run_id": run.pk, "kind": "paused", "actor": "a"})
    kept = run.events.get(kind="paused")
    assert (kept.user, kept.data) == (None, {})


def test_half_a_pair_of_surrogates_is_kept_as_django_keeps_it():
    assert json.loads(json_text({"a": "\ud800"})) == {"a": "\ud800"}
    with pytest.raises(TypeError):
        json_text({"a": object()})


def test_an_update_touches_what_its_condition_names(project):
    first = a_run(project)
    second = a_run(project, first.rubric_version)
    changed = rows_change(
        type(first), {"model_seconds": Decimal("1.250"), "started_at": None}, '"id" = %s', [first.pk]
    )
    assert changed == 1
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.model_seconds, second.model_seconds) == (Decimal("1.250"), 0)
    assert rows_change(type(first), {"why": "x"}, '"id" = %s', [-1]) == 0


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


@pytest.mark.parametrize("hours", [0, 5])
def test_times_are_kept_as_the_orm_keeps_them(hours):
    moment = timezone.now().astimezone(zones(timedelta(hours=hours)) if hours else UTC)
    for eta in (moment, moment.replace(microsecond=0)):
        row_add(QueuedMessage(queue="ours", message_id="m", body="{}", eta=eta))
        QueuedMessage.objects.create(queue="theirs", message_id="m", body="{}", eta=eta)
    raw = 'SELECT CAST("eta" AS TEXT) FROM "refinement_queuedmessage" WHERE "queue" = %s ORDER BY "id"'
    assert rows_select(raw, ["ours"]) == rows_select(raw, ["theirs"])


def test_what_was_left_out_is_read_later(project):
    run = a_run(project)
    left_out = ("task", "snapshot", "calibration")
    (values,) = rows_select(
        "SELECT "
        + ", ".join(f'"{name}"' for name in columns_of(type(run), left_out))
        + ' FROM "refinement_run"',
        [],
    )
    read = model_of(type(run), values, without=left_out)
    assert read.get_deferred_fields() == set(left_out)
    fields_read(read, left_out)
    assert (read.task, read.snapshot, read.calibration) == (run.task, run.snapshot, run.calibration)
    assert not read.get_deferred_fields()


def test_a_statement_says_how_many_rows_it_touched():
    for number in range(3):
        row_add(QueuedMessage(queue="q", message_id=str(number), body="{}"))
    assert rows_touch('DELETE FROM "refinement_queuedmessage" WHERE "message_id" <> %s', ["1"]) == 2
    assert QueuedMessage.objects.get().message_id == "1"
