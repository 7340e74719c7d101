"""Several filters at once on PostgreSQL, which finds runs in ways of its own: the same runs."""

import random
from itertools import combinations

import pytest
from django.db import connections, transaction

from refinement.models import Rubric, Run
from refinement.selectors import run_conditions
from refinement.selectors.run_orders import ORDERS
from refinement.selectors.runs import runs_place
from tests.models.given import a_version_in, a_version_of
from tests.selectors.filtered import FILTERS, RUNS, filters_of, passing, runs_made


class ToPostgres:
    """Has everything read and written there."""

    def db_for_read(self, model, **_):
        return "postgres"

    db_for_write = db_for_read

    def allow_relation(self, *_, **__):
        return True


@pytest.fixture
def filled(postgres_database, django_db_blocker, settings):
    """A project of the PostgreSQL database, and its runs."""
    settings.DATABASE_ROUTERS = [ToPostgres()]
    with django_db_blocker.unblock():
        with transaction.atomic(using=postgres_database):
            first = a_version_in(postgres_database, "filtered")
            project = first.rubric.project
            other = Rubric.objects.create(project=project, slug="other", name="Other")
            yield project, runs_made(project, [first, a_version_of(postgres_database, other)])
            transaction.set_rollback(True, using=postgres_database)
        connections[postgres_database].close()


@pytest.mark.parametrize("few", [1_000, 60, 0])
def test_filters_let_through_what_passes_all(filled, monkeypatch, few):
    monkeypatch.setattr(run_conditions, "FEW", few)
    project, made = filled
    assert connections[Run.objects.all().db].vendor == "postgresql"
    chosen = random.Random(6).sample(list(combinations(FILTERS, 3)), 30)
    for names in [*combinations(FILTERS, 1), *combinations(FILTERS, 2), *chosen]:
        wanted = [run.pk for run in passing(made, names)]
        assert runs_place(project, filters_of(names), size=RUNS).numbers == wanted, names


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("order", ["best", "r1", "improvement", "rounds", "tokens", "time"])
def test_in_another_order(filled, monkeypatch, order, archived):
    monkeypatch.setattr(run_conditions, "FEW", 0)
    project, made = filled
    column = ORDERS[order].column
    for names in [*combinations(FILTERS, 1), *combinations(FILTERS, 2)]:
        runs = passing(made, names, archived=archived)
        wanted = sorted(runs, key=lambda run: (getattr(run, column), run.pk), reverse=True)
        filters = filters_of(names, archived=archived)
        found = runs_place(project, filters, order=ORDERS[order], size=RUNS).numbers
        assert found == [run.pk for run in wanted], names


def test_dates_in_another_order(filled, monkeypatch):
    monkeypatch.setattr(run_conditions, "FEW", 0)
    project, made = filled
    day = made[0].created_at.date()
    found = runs_place(project, filters_of((), since=day, until=day), order=ORDERS["best"], size=RUNS)
    assert len(found.numbers) == len(passing(made, ()))
