"""The list of runs: every filter, orders, pages, access, and the number of queries."""

import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.http import urlencode

from refinement.models import ReviewRequest, Run, SavedView
from refinement.selectors.runs.listing import lists as runs
from refinement.selectors.runs.listing import tabs
from tests.views.runs.listed import a_version, runs_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def address(project):
    return reverse("run_list", args=[project.slug])


def numbers(answer):
    return [entry.run.pk for entry in answer.context["page"].lines]


def ask(client, address, **query):
    return client.get(f"{address}?{urlencode(query)}")


FILTERS = [
    ({"outcome": "PASS"}, {"outcome": "PASS", "stop_reason": "passed"}),
    ({"reason": "cycling"}, {"stop_reason": "cycling"}),
    ({"status": "running"}, {"status": "running"}),
    ({"producer": "llama3.1:8b"}, {"producer_model": "llama3.1:8b"}),
    ({"judge": "llama3.1:8b"}, {"judge_model": "llama3.1:8b"}),
    ({"tag": "docs, all"}, {"tags": ("docs, all",)}),
    ({"status": "active"}, {"status": "queued"}),
    # Profiles have reasons of their own for the same thing.
    ({"reason": "passed"}, {"stop_reason": "quality_threshold_met"}),
    ({"reason": "quality_threshold_met"}, {"stop_reason": "passed"}),
    ({"kinship": "same_model"}, {"kinship": "same_model"}),
    ({"mark": "signal"}, {"signal_rounds": 2}),
    ({"mark": "penalty"}, {"penalty_rounds": 1}),
    ({"mark": "cut"}, {"cut_rounds": 1}),
    ({"best_min": "9"}, {"best": "9"}),
    ({"best_max": "3.5"}, {"best": "3.5"}),
    ({"r1_min": "7", "r1_max": "8"}, {"r1": "7.5"}),
    ({"since": "2026-03-02"}, {"created_at": datetime(2026, 3, 2, tzinfo=UTC)}),
    ({"task_type": "How-To"}, {"task_type": "how-to"}),
    ({"archived": "on"}, {"archived_at": datetime(2026, 3, 2, tzinfo=UTC)}),
]


def test_reviews_that_wait_for_the_reader(as_viewer, as_editor, address, project, viewer):
    run, _ = runs_of(project, 2)
    ReviewRequest.objects.create(project=project, run=run, reviewer=viewer)
    answer = ask(as_viewer, address, review="mine")
    assert numbers(answer) == [run.pk]
    assert [(tab.name, tab.count) for tab in answer.context["tabs"]] == [
        ("All", "2"), ("In progress", "0"), ("For my review", "1"),
    ]  # fmt: skip
    assert numbers(ask(as_editor, address, review="mine")) == []


@pytest.mark.parametrize(("query", "fields"), FILTERS, ids=[str(query) for query, _ in FILTERS])
def test_a_filter_lets_through_what_it_names(as_viewer, address, project, query, fields):
    old = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    runs_of(project, 2, created_at=old)
    [wanted] = runs_of(project, **{"created_at": old, **fields})
    answer = ask(as_viewer, address, **query)
    assert numbers(answer) == [wanted.pk]
    assert len(answer.context["form"].chips) == len(query)


def test_until_a_day_means_its_end(as_viewer, address, project):
    [early] = runs_of(project, created_at=datetime(2026, 3, 1, 23, 59, tzinfo=UTC))
    runs_of(project, created_at=datetime(2026, 3, 2, 0, 0, tzinfo=UTC))
    assert numbers(ask(as_viewer, address, until="2026-03-01")) == [early.pk]
    assert numbers(ask(as_viewer, address, since="2026-03-03")) == []


def test_by_rubric_and_by_person(as_viewer, address, project, editor, owner):
    [own] = runs_of(project, version=a_version(project, "other"), created_by=editor)
    runs_of(project, created_by=owner)
    assert numbers(ask(as_viewer, address, rubric="other")) == [own.pk]
    assert numbers(ask(as_viewer, address, person=editor.pk)) == [own.pk]
    assert numbers(ask(as_viewer, address, rubric="gone")) == []
    page = ask(as_viewer, address, rubric="other", person=editor.pk).content.decode()
    assert "<span>Launched by</span><bdi>Edgar Editor</bdi>" in page


def test_what_cannot_be_read_is_said_and_kept(as_viewer, address, project):
    [run] = runs_of(project)
    answer = ask(as_viewer, address, since="yesterday", best_min="9e99", outcome="FAIL", person="x")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert numbers(answer) == [run.pk]
    assert 'value="yesterday"' in page
    for words in ("Enter a date such as", "Choose a user", "not valid and were ignored"):
        assert words in page
    assert answer.context["query"] == "outcome=FAIL"


def test_ends_in_the_wrong_order_are_said(as_viewer, address, project):
    runs_of(project)
    answer = ask(as_viewer, address, best_min="9", best_max="3")
    assert answer.status_code == 422
    assert "The start must be before the end" in answer.content.decode()


@pytest.mark.parametrize(
    ("sort", "field", "values"),
    [
        ("best", "best", ("4", "9", None, "7", "7")),
        ("r1", "r1", ("4", "9", None, "7", "7")),
        ("improvement", "improvement", ("-1", "2", None, "0", "0")),
        ("rounds", "rounds_judged", (3, 1, 0, 2, 2)),
        ("tokens", "prompt_tokens", (3, 1, 0, 2, 2)),
        ("time", "model_seconds", ("3.5", "1", "0", "2", "2")),
        ("people", "people_gap", ("-3.3", "0.5", None, "2", "2")),
        ("outcome", "outcome", ("PASS", "FAIL", "ERROR", "FAIL", "PASS")),
        ("title", "title", ("Zebras", "a_b", "", "Zebras", "Über 50 %")),
        ("newest", "batch", ("e", "d", "c", "b", "a")),
    ],
)
@pytest.mark.parametrize("upwards", [False, True])
def test_every_order_pages_to_its_end_and_back(
    as_viewer, address, project, monkeypatch, sort, field, values, upwards
):
    monkeypatch.setattr(runs, "PAGE_SIZE", 2)
    made = [run for value in values for run in runs_of(project, **{field: value})]
    key = (lambda run: run.pk) if sort == "newest" else (lambda run: (sort_value(run, field), run.pk))
    wanted = [run.pk for run in sorted(
        (run for run in made if getattr(run, field) is not None), key=key, reverse=not upwards
    )]  # fmt: skip
    seen, answers, query = [], [], {"sort": f"-{sort}" if upwards else sort}
    answer = ask(as_viewer, address, **query)
    while True:
        seen += numbers(answer)
        answers.append(numbers(answer))
        if not answer.context["following"]:
            break
        answer = as_viewer.get(f"{address}?{answer.context['following']}")
    assert seen == wanted
    for earlier in reversed(answers[:-1]):
        answer = as_viewer.get(f"{address}?{answer.context['previous']}")
        assert numbers(answer) == earlier
    assert answer.context["previous"] == ""


def sort_value(run, field):
    value = getattr(run, field)
    return value if field in ("title", "outcome") else float(value)


def test_rubrics_are_sorted_by_age(as_viewer, address, project):
    [first], [second], [third] = (
        runs_of(project, version=a_version(project, name)) for name in ("older", "newer", "newer")
    )
    assert numbers(ask(as_viewer, address, sort="rubric")) == [third.pk, second.pk, first.pk]
    assert numbers(ask(as_viewer, address, sort="-rubric")) == [first.pk, second.pk, third.pk]


def test_the_title_heading_sorts_from_a_to_z_first(as_viewer, address, project):
    for title in ("Beta", "Alpha"):
        runs_of(project, title=title)
    answer = as_viewer.get(address)
    assert answer.context["sorts"]["title"]["query"] == "sort=-title"
    answer = as_viewer.get(f"{address}?sort=-title")
    assert [row.title for row in answer.context["rows"]] == ["Alpha", "Beta"]
    assert answer.context["sorts"]["title"]["query"] == "sort=title"


def test_runs_that_are_added_move_nothing(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "PAGE_SIZE", 2)
    made = [run.pk for run in runs_of(project, 4)]
    first = as_viewer.get(address)
    runs_of(project, 3)
    second = as_viewer.get(f"{address}?{first.context['following']}")
    assert numbers(second) == [made[1], made[0]]


@pytest.mark.parametrize("place", ["x", "1_2", "99999999999", "NaN_1", "-1", "", "1e400_3", "\x00_4"])
@pytest.mark.parametrize("sort", ["", "best"])
def test_a_place_that_is_none_is_the_first_page(as_viewer, address, project, place, sort):
    [run] = runs_of(project)
    answer = ask(as_viewer, address, after=place, sort=sort)
    assert answer.status_code == 200
    if place != "1_2":
        assert numbers(answer) == [run.pk]


def test_a_project_without_runs_is_told_what_one_is(as_editor, as_viewer, address):
    for _ in range(2):  # the second time with the prepared example, which is no run of theirs
        page = as_editor.get(address).content.decode()
        assert "No runs yet" in page
        assert "Open the example" in page
        assert page.count('href="/p/alpha/runs/new/"') == 1
        assert "No model server answers." in page
        page = as_viewer.get(address).content.decode()
        assert "Open the example" in page
        assert 'href="/p/alpha/runs/new/"' not in page
        assert "No model server answers." not in page
        as_viewer.post("/p/alpha/tour/")
    assert "of 0" not in as_viewer.get(f"{address}?archived=on").content.decode()


def test_nothing_found_says_what_to_do(as_viewer, address, project):
    runs_of(project)
    page = ask(as_viewer, address, outcome="PASS", tag="docs").content.decode()
    assert "No runs match" in page
    assert 'href="/p/alpha/runs/?tag=docs"' in page  # the chip of the outcome takes only that off
    assert 'href="/p/alpha/runs/?outcome=PASS"' in page


def test_all_in_the_archive_leads_there(as_viewer, address, project):
    runs_of(project, archived_at=datetime(2026, 3, 2, tzinfo=UTC))
    assert "?archived=on" in as_viewer.get(address).content.decode()


def test_a_change_of_filters_swaps_the_list_and_names_its_address(as_viewer, address, project):
    runs_of(project)
    answer = as_viewer.get(f"{address}?q=&outcome=FAIL&sort=", headers=HTMX)
    page = answer.content.decode()
    assert answer.headers["HX-Push-Url"] == f"{address}?outcome=FAIL"
    again = {**HTMX, "HX-Current-URL": f"http://testserver{address}?outcome=FAIL"}
    assert as_viewer.get(f"{address}?outcome=FAIL", headers=again).headers["HX-Push-Url"] == "false"
    assert page.lstrip().startswith('<div id="run-results">')
    assert "<html" not in page
    assert "<html" in as_viewer.get(address, headers={**HTMX, "HX-Boosted": "true"}).content.decode()


def test_another_projects_runs_are_not_there(as_viewer, as_outsider, address, project, other_project):
    runs_of(other_project)
    assert numbers(as_viewer.get(address)) == []
    assert as_outsider.get(address).status_code == 404


def test_the_list_is_only_read(as_owner, address):
    assert as_owner.post(address).status_code == 405


def test_viewers_are_offered_no_changes(as_viewer, as_editor, address, project):
    runs_of(project)
    for words in ('value="archive"', 'value="tag"', 'value="cancel"', 'name="shared"'):
        assert words not in as_viewer.get(address).content.decode()
        assert words in as_editor.get(address).content.decode()


def test_the_number_of_queries_is_the_same_for_one_run_and_for_many(
    as_viewer, address, project, editor, monkeypatch
):
    def queries(query=""):
        with CaptureQueriesContext(connection) as found:
            assert as_viewer.get(f"{address}{query}").status_code == 200
        return len(found)

    monkeypatch.setattr(tabs, "COUNT_SECONDS", 60)
    SavedView.objects.create(project=project, name="Bad", query="outcome=FAIL", shared=True)
    runs_of(project, created_by=editor, tags=("docs",), task="zebras")
    queries()  # the first page of a session remembers the project
    few = [queries(), queries("?q=zebras"), queries("?sort=best")]
    for number in range(6):
        version = a_version(project, f"rubric-{number}")
        runs_of(project, 10, created_by=editor, tags=("docs", f"t{number}"), task="zebras", version=version)
    assert [queries(), queries("?q=zebras"), queries("?sort=best")] == few
    assert few[0] <= 26


def test_long_texts_are_not_read(as_viewer, address, project):
    runs_of(project, 3)
    with CaptureQueriesContext(connection) as found:
        as_viewer.get(address)
    for column in ('"task"', '"seed"', '"candidate"'):
        assert not [query for query in found if column in query["sql"]], column


def test_every_line_can_be_chosen_without_script(as_viewer, address, project):
    runs_of(project, 2)
    page = as_viewer.get(f"{address}?chosen=all").content.decode()
    assert len(re.findall(r'name="run" value="\d+" aria-label="Select run \d+" checked>', page)) == 2
    assert Run.objects.count() == 2


def test_task_types_are_offered_and_kept_in_a_view(as_editor, as_viewer, address, project):
    runs_of(project, task_type="how-to")
    runs_of(project, task_type="research")
    runs_of(project)
    page = ask(as_viewer, address).content.decode()
    assert re.findall(r'<option value="(how-to|research)"', page) == ["how-to", "research"]
    guides = {"name": "Guides", "query": "task_type=how-to", "shared": "on"}
    as_editor.post("/p/alpha/runs/views/", guides)
    page = ask(as_viewer, address, task_type="how-to").content.decode()
    assert "<span>Task type</span><bdi>how-to</bdi>" in page
    assert 'href="/p/alpha/runs/?task_type=how-to"' in page
