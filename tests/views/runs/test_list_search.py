"""The list of runs: search, in parts and with filters, and excerpts."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse
from django.utils.http import urlencode

from refinement.models import Round
from refinement.selectors.runs.listing import lists as runs
from tests.views.runs.listed import WITH_MILESTONE, runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return reverse("run_list", args=[project.slug])


def ask(client, address, **query):
    return client.get(f"{address}?{urlencode(query)}")


def numbers(answer):
    return [entry.run.pk for entry in answer.context["page"].lines]


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


def test_titles_are_searched_also_after_a_change(as_viewer, address, project):
    [run] = runs_of(project, title="On zebras", task="Of horses.")
    assert numbers(ask(as_viewer, address, q="zebras horses")) == [run.pk]
    run.title = "On quaggas"
    run.save(update_fields=["title"])
    assert numbers(ask(as_viewer, address, q="zebras")) == []
    assert numbers(ask(as_viewer, address, q="quaggas horses")) == [run.pk]


def test_a_search_shows_where_the_words_are(as_viewer, address, project):
    [by_text, by_task] = runs_of(project, 2, task="The <b>herd</b> of zebras is large.", best_round=1)
    text = f"{'Far away from it. ' * 10}Some ZEBRAS\nrun & <i>hide</i>. {'And on. ' * 40}"
    Round.objects.create(run=by_text, number=1, origin="draft", candidate=text, candidate_chars=len(text))
    answer = ask(as_viewer, address, q="zebras")
    by_number = {row.number: row.excerpt for row in answer.context["rows"]}
    assert by_number[by_task.pk] == ("The <b>herd</b> of ", "zebras", " is large.")
    found = by_number[by_text.pk]
    assert (found.before[0], found.match) == ("…", "ZEBRAS")
    assert found.after.startswith(" run & <i>hide</i>.")
    assert found.after.endswith("…")
    page = answer.content.decode()
    assert "&lt;b&gt;herd&lt;/b&gt; of <mark>zebras</mark>" in page
    assert "<b>herd" not in page


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
