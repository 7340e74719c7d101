"""A list that is looked through in steps: together they find what one question does, in the same order."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Run
from refinement.selectors import run_conditions, run_steps
from refinement.selectors.blindness import hiding
from refinement.selectors.run_filters import RunFilters
from refinement.selectors.run_orders import NEWEST, ORDERS
from refinement.selectors.run_steps import NUMBERS, IsMilestone, is_milestone
from refinement.selectors.runs import runs_place
from tests.selectors.filtered import RUNS, filters_of, passing, runs_made
from tests.views.runs.listed import a_version

pytestmark = pytest.mark.django_db
SIZE = 7
# How many numbers are milestones, and at how many of them a step ends.
STRIDES = {"after five": (NUMBERS, 5), "after many": (NUMBERS, 60), "scattered": (NUMBERS // 5, 2)}
NAMES = [
    ("outcome",), ("tag",), ("mark", "rubric"), ("outcome", "judge"), ("tag", "best_min"),
    ("decision", "imported", "r1_max", "best_min"),
]  # fmt: skip
KEYS = {
    "newest": lambda run: run.pk,
    "best": lambda run: run.best,
    "r1": lambda run: run.r1,
    "improvement": lambda run: run.improvement,
    "rounds": lambda run: run.rounds_judged,
    "tokens": lambda run: run.tokens,
    "time": lambda run: run.model_seconds,
}


@pytest.fixture
def made(project):
    """Runs of which many have the same key in every order but that of the newest."""
    runs_made(project, [a_version(project), a_version(project, "other")])
    for number, run in enumerate(Run.objects.order_by("pk")):
        Run.objects.filter(pk=run.pk).update(
            improvement=None if number % 9 == 0 else number % 4 - 1,
            rounds_judged=number % 3,
            prompt_tokens=100 * (number % 5),
            model_seconds=f"{number % 6}.25",
        )
    return list(Run.objects.select_related("rubric").order_by("-pk"))


@pytest.fixture(params=STRIDES)
def stride(request, monkeypatch):
    milestones, most = STRIDES[request.param]
    monkeypatch.setattr(run_conditions, "FEW", 0)
    monkeypatch.setattr(run_steps, "MILESTONES", milestones)
    monkeypatch.setattr(run_steps, "MOST_MILESTONES", most)
    monkeypatch.setattr(run_conditions, "SHARE", most)
    return request.param


def expected(runs, order, upwards):
    key = KEYS[order.name]
    placed = [run for run in runs if key(run) is not None]
    ordered = sorted(placed, key=lambda run: (key(run), run.pk), reverse=not upwards)
    return [run.pk for run in ordered]


def steps(project, filters, **how):
    """All pages of a list, one after the other."""
    pages = [runs_place(project, filters, **how)]
    while pages[-1].following:
        assert len(pages) < 2 * RUNS, "It does not come to an end."
        pages.append(runs_place(project, filters, place=pages[-1].following, **how))
    return pages


def numbers_of(pages):
    return [number for page in pages for number in page.numbers]


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("upwards", [False, True])
def test_steps_find_together_what_passes(project, made, stride, order, upwards):
    for names in NAMES:
        wanted = expected(passing(made, names), order, upwards)
        how = {"order": order, "upwards": upwards}
        assert numbers_of(steps(project, filters_of(names), size=SIZE, **how)) == wanted, names
        at_once = runs_place(project, filters_of(names), size=RUNS, strides=None, **how)
        assert (at_once.numbers, at_once.looked_through, at_once.following) == (wanted, True, None), names


@pytest.mark.parametrize("order", ["newest", "best", "tokens"])
def test_days_and_the_archive_too(project, made, stride, order):
    """A month in order of a score is what passes a filter as well."""
    early = made[90].created_at - timedelta(days=40)
    Run.objects.filter(pk__in=[run.pk for run in made[90:]]).update(created_at=early)
    until = early.date()
    for names in [(), ("outcome",), ("best_min",), ("outcome", "judge")]:
        for archived, runs in ((False, made[90:]), (True, made[90:])):
            filters = filters_of(names, until=until, archived=archived)
            wanted = expected(passing(runs, names, archived=archived), ORDERS[order], False)
            assert numbers_of(steps(project, filters, order=ORDERS[order], size=SIZE)) == wanted, names
    if order == "newest":
        first = runs_place(project, filters_of(("outcome", "judge"), until=until), size=SIZE)
        assert first.numbers or first.following.number < made[90].pk  # what is newer was not looked at
    nobody = filters_of(("outcome",), until=until - timedelta(days=400))
    assert [page.looked_through for page in steps(project, nobody, order=ORDERS[order])] == [True]


@pytest.mark.parametrize("order", ["newest", "best", "rounds"])
@pytest.mark.parametrize("names", [("outcome",), ("outcome", "judge"), ("tag", "best_min")])
def test_from_every_page_the_way_leads_back(project, made, stride, order, names):
    how = {"order": ORDERS[order], "size": SIZE}
    wanted = expected(passing(made, names), ORDERS[order], False)
    for page in steps(project, filters_of(names), **how)[1:]:
        if not page.numbers:
            continue
        before = wanted[: wanted.index(page.numbers[0])]
        back = runs_place(project, filters_of(names), place=page.previous, **how)
        assert back.numbers == (before[-SIZE:] if len(before) > SIZE else wanted[:SIZE])


def test_a_page_says_where_it_stopped_and_that_it_did(project, made, monkeypatch):
    monkeypatch.setattr(run_conditions, "FEW", 0)
    monkeypatch.setattr(run_steps, "MILESTONES", NUMBERS)
    monkeypatch.setattr(run_steps, "MOST_MILESTONES", 5)
    in_use = expected(passing(made, ()), ORDERS["rounds"], False)
    Run.objects.filter(pk=in_use[-1]).update(penalty_rounds=1)
    first, *_, last = steps(project, RunFilters(mark="penalty"), order=ORDERS["rounds"])
    assert (first.numbers, first.looked_through) == ([], False)
    assert (first.following.number, first.following.value) == (in_use[4], 2)
    assert (last.numbers, last.looked_through, last.following) == ([in_use[-1]], True, None)


@pytest.mark.parametrize(("names", "order"), [(("outcome",), "best"), (("outcome", "judge"), "newest")])
def test_more_strides_lead_farther(project, made, stride, names, order):
    how = {"order": ORDERS[order], "size": RUNS}
    near, far = (steps(project, filters_of(names), strides=count, **how) for count in (1, 3))
    assert numbers_of(near) == numbers_of(far) == expected(passing(made, names), ORDERS[order], False)
    assert len(near[0].numbers) <= len(far[0].numbers)
    assert len(near) > len(far) or len(near) == 2  # through all of them in the second step


def test_a_full_page_is_as_it_would_be_without_steps(project, made, stride):
    for size in (1, 2):
        page = runs_place(project, RunFilters(status="finished"), order=ORDERS["time"], size=size)
        whole = runs_place(
            project, RunFilters(status="finished"), order=ORDERS["time"], size=size, strides=None
        )
        if page.looked_through:
            assert page == whole
        else:
            assert page.numbers == whole.numbers[: len(page.numbers)]


def test_nothing_beyond_its_end_is_looked_at(project, made, monkeypatch):
    """Python's cursor is one run ahead of what it gave."""
    monkeypatch.setattr(run_conditions, "FEW", 0)
    looked_at = []

    def noted(number):
        looked_at.append(number)
        return len(looked_at) % 4 == 0

    connection.ensure_connection()
    connection.connection.create_function("noted", 1, noted)
    monkeypatch.setattr(IsMilestone, "as_sql", lambda *_, **__: ('noted("refinement_run"."id")', []))
    monkeypatch.setattr(run_steps, "is_milestone", lambda number: looked_at.index(number) % 4 == 3)
    monkeypatch.setattr(run_steps, "MOST_MILESTONES", 3)
    last = expected(passing(made, ()), ORDERS["best"], False)[-1]
    Run.objects.filter(pk=last).update(penalty_rounds=1)
    page = runs_place(project, RunFilters(mark="penalty"), order=ORDERS["best"])
    assert page.following.number == looked_at[11]
    assert len(looked_at) <= 16


def test_milestones_are_the_same_in_the_database(project, made, monkeypatch):
    monkeypatch.setattr(run_steps, "MILESTONES", NUMBERS // 5)
    found = Run.objects.filter(IsMilestone("pk")).order_by("-pk").values_list("pk", flat=True)
    assert list(found) == [run.pk for run in made if is_milestone(run.pk)]
    assert 20 < len(found) < 45


def test_there_are_milestones_among_the_numbers_of_any_project():
    for numbers in (range(200_000), range(1, 400_000, 2), range(0, 1_600_000, 8), range(7, 3_000_000, 30)):
        share = sum(map(is_milestone, numbers)) / len(numbers)
        assert 0.5 < share * NUMBERS / run_steps.MILESTONES < 2, numbers


def test_runs_that_are_read_blind_are_left_out_of_every_step(project, made, stride):
    hidden = {run.pk: 1 for run in made[::3]}
    wanted = [run.pk for run in passing(made, ("outcome",)) if run.pk not in hidden]
    with hiding(hidden):
        pages = steps(project, filters_of(("outcome",)), order=ORDERS["best"], size=SIZE)
    assert sorted(numbers_of(pages)) == sorted(wanted)


@pytest.mark.parametrize(
    ("names", "order", "questions"), [(("outcome",), "best", 2), (("outcome", "judge"), "newest", 3)]
)
def test_a_step_asks_as_often_wherever_it_begins(project, made, stride, names, order, questions):
    """Each filter for its few, and for the runs."""
    counts, following = set(), runs_place(project, filters_of(names), order=ORDERS[order]).following
    while following:
        with CaptureQueriesContext(connection) as asked:
            place = following
            following = runs_place(project, filters_of(names), order=ORDERS[order], place=place).following
        counts.add(len(asked))
    assert counts == {questions}


@pytest.mark.parametrize("upwards", [False, True])
@pytest.mark.parametrize("names", [("outcome", "judge"), ("tag", "mark"), ("mark", "rubric", "outcome")])
def test_where_indexes_are_joined_steps_find_the_same(project, made, stride, monkeypatch, names, upwards):
    """As PostgreSQL does it."""
    monkeypatch.setattr(run_conditions, "MERGING", ())
    pages = steps(project, filters_of(names), order=NEWEST, upwards=upwards, size=SIZE)
    assert numbers_of(pages) == expected(passing(made, names), NEWEST, upwards)
