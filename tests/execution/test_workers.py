"""Heartbeats: one row for each worker, renewed, and deleted a minute after the last one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.execution.workers import FORGOTTEN_AFTER, worker_beat, worker_leave
from refinement.models import WorkerBeat
from refinement.selectors.workers import workers_alive

pytestmark = pytest.mark.django_db


def beat(name):
    worker_beat(name=name, started_at=timezone.now(), threads=4)


def test_a_worker_has_one_row_that_is_renewed():
    beat("here:1:a")
    before = WorkerBeat.objects.get()
    beat("here:1:a")
    after = WorkerBeat.objects.get()
    assert (after.pk, after.started_at, after.threads) == (before.pk, before.started_at, 4)
    assert after.seen_at > before.seen_at
    assert workers_alive() == 1


def test_who_was_taken_for_lost_is_there_again():
    beat("here:1:a")
    WorkerBeat.objects.all().delete()
    beat("here:1:a")
    assert workers_alive() == 1


def test_who_is_not_heard_of_is_forgotten_by_the_others():
    beat("here:1:a")
    WorkerBeat.objects.update(seen_at=timezone.now() - FORGOTTEN_AFTER - timedelta(seconds=1))
    beat("here:2:b")
    assert list(WorkerBeat.objects.values_list("name", flat=True)) == ["here:2:b"]


def test_who_leaves_is_forgotten_at_once():
    beat("here:1:a")
    worker_leave(name="here:1:a")
    assert workers_alive() == 0
