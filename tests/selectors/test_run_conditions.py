"""Several filters at once: whichever way their runs are found, they are those that pass each of them."""

import random
from decimal import Decimal
from itertools import combinations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import Run
from refinement.selectors import run_conditions
from refinement.selectors.run_filters import RunFilters, runs_found
from refinement.selectors.run_orders import NEWEST, ORDERS
from refinement.selectors.runs import runs_place
from tests.views.runs.listed import a_version, runs_of

pytestmark = pytest.mark.django_db
RUNS = 160
VALUES = {
    "outcome": ("PASS", "FAIL"),
    "producer_model": ("qwen3:14b", "qwen3:4b"),
    "judge_model": ("gemma3:27b", "llama3.3:70b"),
    "kinship": ("", "same_model"),
    "decision": (None, "approved"),
    "source": (None, "jsonl"),
    "signal_rounds": (0, 2),
    "best": ("6", "9.5"),
    "r1": ("5", "7"),
}
FILTERS = {
    "outcome": ("FAIL", lambda run: run.outcome == "FAIL"),
    "status": ("finished", lambda run: run.status == "finished"),
    "producer": ("qwen3:4b", lambda run: run.producer_model == "qwen3:4b"),
    "judge": ("llama3.3:70b", lambda run: run.judge_model == "llama3.3:70b"),
    "rubric": ("other", lambda run: run.rubric.slug == "other"),
    "tag": ("docs", lambda run: run.tags.filter(name="docs").exists()),
    "kinship": ("same_model", lambda run: run.kinship == "same_model"),
    "decision": ("approved", lambda run: run.decision == "approved"),
    "imported": ("any", lambda run: run.source is not None),
    "mark": ("signal", lambda run: run.signal_rounds > 0),
    "best_min": (Decimal(9), lambda run: run.best >= 9),
    "r1_max": (Decimal(6), lambda run: run.r1 <= 6),
}
# The limit for few runs, and whether the database goes through indexes side by side.
WAYS = {"few": (1_000, True), "some": (60, True), "merged": (0, True), "joined": (0, False)}


@pytest.fixture
def made(project):
    """Every value on about half of the runs; some are in the archive."""
    rng = random.Random(5)
    versions = [a_version(project), a_version(project, "other")]
    for _ in range(RUNS):
        fields = {name: rng.choice(values) for name, values in VALUES.items()}
        archived = timezone.now() if rng.random() < 0.1 else None
        runs_of(
            project, version=rng.choice(versions), archived_at=archived,
            tags=rng.choice(((), ("docs",), ("docs", "release"))), **fields,
        )  # fmt: skip
    return list(Run.objects.filter(project=project).select_related("rubric").order_by("-pk"))


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    few, merged = WAYS[request.param]
    monkeypatch.setattr(run_conditions, "FEW", few)
    if not merged:
        monkeypatch.setattr(run_conditions, "MERGING", ())
    return request.param


def passing(runs, names, *, archived=False):
    tests = [FILTERS[name][1] for name in names]
    return [
        run for run in runs if (run.archived_at is not None) is archived and all(each(run) for each in tests)
    ]


def filters_of(names, **more):
    return RunFilters(**{name: FILTERS[name][0] for name in names}, **more)


def test_two_filters_let_through_what_passes_both(project, made, way):
    for names in combinations(FILTERS, 2):
        wanted = [run.pk for run in passing(made, names)]
        assert runs_place(project, filters_of(names), size=RUNS).numbers == wanted, names
        assert [run.pk for run in runs_found(project, filters_of(names))] == wanted, names


def test_three_filters_do_as_well(project, made, way):
    for names in random.Random(6).sample(list(combinations(FILTERS, 3)), 40):
        wanted = [run.pk for run in passing(made, names)]
        assert runs_place(project, filters_of(names), size=RUNS).numbers == wanted, names


def test_in_the_archive_too(project, made, way):
    for names in combinations(FILTERS, 2):
        wanted = [run.pk for run in passing(made, names, archived=True)]
        assert runs_place(project, filters_of(names, archived=True), size=RUNS).numbers == wanted, names


@pytest.mark.parametrize("order", ["best", "tokens", "rounds"])
def test_in_another_order(project, made, way, order):
    key = {
        "best": lambda run: run.best,
        "tokens": lambda run: run.tokens,
        "rounds": lambda run: run.rounds_judged,
    }[order]
    for names in [*combinations(FILTERS, 1), ("tag", "outcome"), ("best_min", "tag")]:
        wanted = sorted(passing(made, names), key=lambda run: (key(run), run.pk), reverse=True)
        found = runs_place(project, filters_of(names), order=ORDERS[order], size=RUNS).numbers
        assert found == [run.pk for run in wanted], names


@pytest.mark.parametrize("names", [("outcome", "tag"), ("producer", "judge"), ("tag", "best_min")])
@pytest.mark.parametrize("upwards", [False, True])
def test_pages_lead_to_the_end_and_back(project, made, way, names, upwards):
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


def test_what_nobody_passes_is_an_empty_page(project, made, way):
    filters = filters_of(("outcome",), producer="nobody's")
    assert runs_place(project, filters).numbers == []
    assert list(runs_found(project, filters)) == []


def test_many_runs_are_not_looked_at_for_the_few_that_pass_both(project, made, monkeypatch):
    monkeypatch.setattr(run_conditions, "FEW", 0)
    with CaptureQueriesContext(connection) as asked:
        runs_place(project, filters_of(("producer", "tag", "judge")), order=NEWEST)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {asked.captured_queries[-1]['sql']}")
        plan = [row[-1] for row in cursor.fetchall()]
    assert [line for line in plan if line.startswith("MERGE")] == ["MERGE (INTERSECT)"] * 2
    searches = [line for line in plan if line.startswith(("SEARCH", "SCAN"))]
    for name in ("run_by_producer", "run_by_judge", "run_tag_newest"):
        assert any(f"INDEX {name} " in line for line in searches), (name, plan)


def test_the_number_of_queries_does_not_depend_on_how_many_runs_there_are(project, made):
    def queries():
        with CaptureQueriesContext(connection) as asked:
            runs_place(project, filters_of(("producer", "judge", "tag")))
        return len(asked)

    before = queries()
    runs_of(project, 50, producer_model="qwen3:4b", judge_model="llama3.3:70b", tags=("docs",))
    assert queries() == before
