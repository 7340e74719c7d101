"""Filters of the run list: alone, combined, in every order, and their indexes."""

import random
from decimal import Decimal
from itertools import combinations, product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Project
from refinement.selectors.runs.listing.filters import runs_found
from refinement.selectors.runs.listing.lists import runs_place
from refinement.selectors.runs.listing.orders import NEWEST, ORDERS, Place
from tests.selectors.runs.filtered import FILTERS, RUNS, filters_of, passing, runs_made
from tests.views.runs.listed import a_version, runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def project(database_for_module):
    return Project.objects.create(name="Alpha", slug="alpha")


@pytest.fixture(scope="module")
def made(project):
    return runs_made(project, [a_version(project), a_version(project, "other")])


def test_two_filters_let_through_what_passes_both(project, made):
    for names in combinations(FILTERS, 2):
        wanted = [run.pk for run in passing(made, names)]
        assert runs_place(project, filters_of(names), size=RUNS).numbers == wanted, names
        assert [run.pk for run in runs_found(project, filters_of(names))] == wanted, names


def test_three_filters_do_as_well(project, made):
    for names in random.Random(6).sample(list(combinations(FILTERS, 3)), 40):
        wanted = [run.pk for run in passing(made, names)]
        assert runs_place(project, filters_of(names), size=RUNS).numbers == wanted, names


def test_in_the_archive_too(project, made):
    for names in combinations(FILTERS, 2):
        wanted = [run.pk for run in passing(made, names, archived=True)]
        assert runs_place(project, filters_of(names, archived=True), size=RUNS).numbers == wanted, names


def test_in_another_order(project, made):
    keys = {
        "best": lambda run: run.best,
        "tokens": lambda run: run.tokens,
        "rounds": lambda run: run.rounds_judged,
    }
    for order, names in product(keys, [*combinations(FILTERS, 1), ("tag", "outcome"), ("best_min", "tag")]):
        key = keys[order]
        wanted = sorted(passing(made, names), key=lambda run, key=key: (key(run), run.pk), reverse=True)
        found = runs_place(project, filters_of(names), order=ORDERS[order], size=RUNS).numbers
        assert found == [run.pk for run in wanted], (order, names)


def test_pages_lead_to_the_end_and_back(project, made):
    for names in [("outcome", "tag"), ("producer", "judge"), ("tag", "best_min")]:
        for upwards in (False, True):
            lead_to_the_end_and_back(project, made, names, upwards)


def lead_to_the_end_and_back(project, made, names, upwards):
    wanted = [run.pk for run in passing(made, names)][:: -1 if upwards else 1]
    pages = [runs_place(project, filters_of(names), upwards=upwards, size=7)]
    while pages[-1].following:
        place = pages[-1].following
        pages.append(runs_place(project, filters_of(names), upwards=upwards, place=place, size=7))
    assert [number for page in pages for number in page.numbers] == wanted
    assert len(pages) > 2
    place = pages[-1].previous
    back = runs_place(project, filters_of(names), upwards=upwards, place=place, size=7)
    assert back.numbers == pages[-2].numbers


def test_what_nobody_passes_is_an_empty_page(project, made):
    filters = filters_of(("outcome",), producer="nobody's")
    assert runs_place(project, filters).numbers == []
    assert list(runs_found(project, filters)) == []


def plans(project, filters, order, **more):
    """How SQLite answers each question of a list, as far as it is about runs."""
    with CaptureQueriesContext(connection) as asked:
        runs_place(project, filters, order=order, **more)
    found = []
    for query in asked.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            lines = [row[-1] for row in cursor.fetchall()]
            found.append([line for line in lines if " refinement_run " in f"{line} " or "B-TREE" in line])
    return found


START = {"newest": None, "title": "B", "outcome": "FAIL"}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("upwards", [False, True])
def test_any_filters_in_any_order_are_answered_from_an_index(project, made, order, upwards):
    """Rows are long: to read each one for its outcome would take a hundred times as long."""
    names = random.Random(7).sample(list(combinations([name for name in FILTERS if name != "tag"], 2)), 10)
    place = Place(made[80].pk, START.get(order, Decimal(7)))
    for chosen in [(), *names]:
        for start in (None, place):
            (plan,) = plans(project, filters_of(chosen), ORDERS[order], upwards=upwards, place=start)
            assert all("COVERING INDEX" in line for line in plan), (chosen, plan)


@pytest.mark.parametrize(
    ("name", "index"),
    [("outcome", "run_by_outcome"), ("judge", "run_by_judge"), ("imported", "run_imported")],
)
def test_one_filter_is_answered_by_its_own_index(project, made, name, index):
    (plan,) = plans(project, filters_of([name]), NEWEST)
    assert f"COVERING INDEX {index} " in plan[0]


def test_the_number_of_queries_does_not_depend_on_how_many_runs_there_are(project, made):
    def queries():
        with CaptureQueriesContext(connection) as asked:
            runs_place(project, filters_of(("producer", "judge", "tag")))
        return len(asked)

    before = queries()
    runs_of(project, 50, producer_model="qwen3:4b", judge_model="llama3.3:70b", tags=("docs",))
    assert queries() == before
