"""The list of runs: what a line says, every filter, orders, pages, search, and the number of queries."""

import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.http import urlencode

from refinement.models import Round, Run
from refinement.selectors.runs import lists as runs
from tests.views.runs.listed import WITH_MILESTONE, a_version, runs_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def address(project):
    return reverse("run_list", args=[project.slug])


def numbers(answer):
    return [entry.run.pk for entry in answer.context["page"].lines]


def ask(client, address, **query):
    return client.get(f"{address}?{urlencode(query)}")


def test_a_line_says_what_there_is_to_know(as_viewer, address, project, editor):
    [run] = runs_of(
        project, title="Explain the backups", created_by=editor, tags=("docs", "release"),
        kinship="same_family", signal_rounds=1, prompt_tokens=12_345, model_seconds="112",
    )  # fmt: skip
    page = as_viewer.get(address).content.decode()
    for words in (
        "Explain the backups", "FAIL", "round limit reached", "Wiggum six dimensions", "@ v1", "qwen3:14b",
        "gemma3:27b", "same family", "5.00", "6.00", "Scores by round: 5, 6", "12,355", "1 m 52 s",
        "Edgar Editor", "docs", "release", "Ralph signal", f"/runs/{run.pk}/", "<time datetime=",
    ):  # fmt: skip
        assert words in page, words


FILTERS = [
    ({"outcome": "PASS"}, {"outcome": "PASS", "stop_reason": "passed"}),
    ({"reason": "cycling"}, {"stop_reason": "cycling"}),
    ({"status": "running"}, {"status": "running"}),
    ({"producer": "llama3.1:8b"}, {"producer_model": "llama3.1:8b"}),
    ({"judge": "llama3.1:8b"}, {"judge_model": "llama3.1:8b"}),
    ({"tag": "docs, all"}, {"tags": ("docs, all",)}),
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
    assert "Launched by: Edgar Editor" in page


def test_what_cannot_be_read_is_said_and_kept(as_viewer, address, project):
    [run] = runs_of(project)
    answer = ask(as_viewer, address, since="yesterday", best_min="9e99", outcome="FAIL", person="x")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert numbers(answer) == [run.pk]
    assert 'value="yesterday"' in page
    for words in ("Enter a date such as", "Choose a user", "does not narrow the list"):
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
        ("newest", "batch", ("e", "d", "c", "b", "a")),
    ],
)
@pytest.mark.parametrize("upwards", [False, True])
def test_every_order_pages_to_its_end_and_back(
    as_viewer, address, project, monkeypatch, sort, field, values, upwards
):
    monkeypatch.setattr(runs, "PAGE_SIZE", 2)
    made = [run for value in values for run in runs_of(project, **{field: value})]
    key = (lambda run: run.pk) if sort == "newest" else (lambda run: (float(getattr(run, field)), run.pk))
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


def test_runs_that_are_added_move_nothing(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "PAGE_SIZE", 2)
    made = [run.pk for run in runs_of(project, 4)]
    first = as_viewer.get(address)
    runs_of(project, 3)
    second = as_viewer.get(f"{address}?{first.context['following']}")
    assert numbers(second) == [made[1], made[0]]


@pytest.mark.parametrize("place", ["x", "1_2", "99999999999", "NaN_1", "-1", "", "1e400_3"])
@pytest.mark.parametrize("sort", ["", "best"])
def test_a_place_that_is_none_is_the_first_page(as_viewer, address, project, place, sort):
    [run] = runs_of(project)
    answer = ask(as_viewer, address, after=place, sort=sort)
    assert answer.status_code == 200
    if place != "1_2":
        assert numbers(answer) == [run.pk]


def test_tasks_and_candidates_are_searched(as_viewer, address, project, other_project):
    [by_task] = runs_of(project, task="A task about zebras.")
    [by_text] = runs_of(project)
    Round.objects.create(
        run=by_text, number=1, origin="draft", candidate="The zebras run.", candidate_chars=15
    )
    runs_of(project)
    runs_of(other_project, task="Also zebras.")
    assert numbers(ask(as_viewer, address, q="Zebras")) == [by_text.pk, by_task.pk]
    assert numbers(ask(as_viewer, address, q='"zebras run"')) == [by_text.pk]
    assert numbers(ask(as_viewer, address, q="zebras -task")) == [by_text.pk]
    assert numbers(ask(as_viewer, address, q="zebras", sort="-newest")) == [by_task.pk, by_text.pk]
    assert numbers(ask(as_viewer, address, q="zebras", sort="best", outcome="FAIL")) == [
        by_text.pk,
        by_task.pk,
    ]
    assert numbers(ask(as_viewer, address, q="quagga")) == []


@pytest.mark.parametrize(
    "words",
    [
        '"',
        "' OR 1=1 --",
        "zebras AND",
        "NEAR(a b)",
        "words:x",
        "*",
        "-",
        "a" * 500,
        "\x00",
        "^x",
        "{",
        "שלום",
    ],
)
def test_no_words_break_the_search(as_viewer, address, project, words):
    runs_of(project, task="A task about zebras.")
    assert ask(as_viewer, address, q=words).status_code in (200, 422)


def test_a_search_with_filters_goes_on_where_it_stopped(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "SEARCH_BATCH", 3)
    monkeypatch.setattr(runs, "SEARCH_SECONDS", -1)
    [wanted] = runs_of(project, task="zebras", outcome="PASS", stop_reason="passed")
    runs_of(project, 4, task="zebras")
    answer = ask(as_viewer, address, q="zebras", outcome="PASS")
    assert (numbers(answer), answer.context["page"].search_stopped) == ([], True)
    body = answer.content.decode()
    assert "Nothing found yet" in body
    assert "Continue search" in body
    answer = as_viewer.get(f"{address}?{answer.context['following']}")
    assert numbers(answer) == [wanted.pk]
    assert answer.context["following"] == ""


def test_matches_that_a_filter_leaves_out_do_not_cut_the_page_short(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "SEARCH_BATCH", 3)
    monkeypatch.setattr(runs, "SEARCH_SECONDS", 60)
    wanted = [run.pk for run in runs_of(project, 2, task="zebras", outcome="PASS", stop_reason="passed")]
    runs_of(project, 10, task="zebras")
    answer = ask(as_viewer, address, q="zebras", outcome="PASS")
    assert numbers(answer) == wanted[::-1]
    assert answer.context["following"] == ""


@pytest.mark.parametrize("sort", ["newest", "-newest"])
@pytest.mark.parametrize("seconds", [-1, 60], ids=["in parts", "at once"])
def test_several_words_are_looked_for_in_parts(as_viewer, address, project, monkeypatch, seconds, sort):
    monkeypatch.setattr(runs, "SEARCH_SECONDS", seconds)
    made = [number + step for number in WITH_MILESTONE[:7] for step in (0, 1)]
    wanted = [made[11], made[2]] if sort == "newest" else [made[2], made[11]]
    for number in made:
        runs_of(project, pk=number, task="wild zebras" if number in wanted else "zebras, wild")
    seen, pages, answer = [], 1, ask(as_viewer, address, q='"wild zebras"', sort=sort)
    while True:
        seen += numbers(answer)
        if not answer.context["following"]:
            break
        pages, answer = pages + 1, as_viewer.get(f"{address}?{answer.context['following']}")
    assert seen == wanted
    assert (pages > 2) is (seconds == -1)


def test_a_search_goes_past_what_is_in_the_archive(as_viewer, address, project, monkeypatch):
    """The few finds that fill a page at most times are not enough here."""
    monkeypatch.setattr(runs, "PAGE_SIZE", 2)
    wanted = [run.pk for run in runs_of(project, 3, task="zebras")]
    runs_of(project, 7, task="zebras", archived_at=datetime(2026, 3, 2, tzinfo=UTC))
    answer = ask(as_viewer, address, q="zebras")
    assert (numbers(answer), answer.context["page"].search_stopped) == (wanted[:0:-1], False)
    answer = as_viewer.get(f"{address}?{answer.context['following']}")
    assert (numbers(answer), answer.context["following"]) == ([wanted[0]], "")


def test_a_project_without_runs_is_told_what_one_is(as_editor, as_viewer, address):
    page = as_editor.get(address).content.decode()
    assert "No runs yet" in page
    assert "Launch the first run" in page
    assert "Launch the first run" not in as_viewer.get(address).content.decode()


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
    for words in ('value="archive"', 'value="tag"', 'value="cancel"', "Save view"):
        assert words not in as_viewer.get(address).content.decode()
        assert words in as_editor.get(address).content.decode()


def test_hostile_words_are_shown_as_text(as_viewer, address, project):
    evil = '<script>alert(1)</script>"\u202e'
    runs_of(project, title=evil, tags=(evil,), producer_model=evil, why=evil)
    page = ask(as_viewer, address, q=evil, tag=evil, producer=evil).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_the_number_of_queries_is_the_same_for_one_run_and_for_many(as_viewer, address, project, editor):
    def queries(query=""):
        with CaptureQueriesContext(connection) as found:
            assert as_viewer.get(f"{address}{query}").status_code == 200
        return len(found)

    runs_of(project, created_by=editor, tags=("docs",), task="zebras")
    queries()  # the first page of a session remembers the project
    few = [queries(), queries("?q=zebras"), queries("?sort=best")]
    for number in range(6):
        version = a_version(project, f"rubric-{number}")
        runs_of(project, 10, created_by=editor, tags=("docs", f"t{number}"), task="zebras", version=version)
    assert [queries(), queries("?q=zebras"), queries("?sort=best")] == few
    assert few[0] <= 17


def test_long_texts_are_not_read(as_viewer, address, project):
    runs_of(project, 3)
    with CaptureQueriesContext(connection) as found:
        as_viewer.get(address)
    for column in ('"task"', '"seed"', '"snapshot"', '"candidate"'):
        assert not [query for query in found if column in query["sql"]], column


def test_every_line_can_be_chosen_without_script(as_viewer, address, project):
    runs_of(project, 2)
    assert as_viewer.get(f"{address}?chosen=all").content.decode().count(" checked>") == 2
    assert Run.objects.count() == 2


def test_task_types_are_offered_shown_and_kept_in_a_view(as_editor, as_viewer, address, project):
    runs_of(project, task_type="how-to")
    runs_of(project, task_type="research")
    runs_of(project)
    page = ask(as_viewer, address).content.decode()
    assert re.findall(r'<option value="(how-to|research)"', page) == ["how-to", "research"]
    assert f'href="{address}?task_type=how-to"' in page
    as_editor.post("/p/alpha/runs/views/", {"name": "Guides", "query": "task_type=how-to"})
    page = ask(as_viewer, address, task_type="how-to").content.decode()
    assert "Task type: how-to" in page
    assert 'href="/p/alpha/runs/?task_type=how-to"' in page
