"""A list that is looked through in steps: what its page says meanwhile, and how it goes on."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape
from django.utils.http import urlencode

from refinement.selectors import run_conditions, run_steps, runs
from refinement.selectors.reach_words import reach_words
from refinement.selectors.run_orders import ORDERS, Place
from refinement.views.runs import listing
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
BEST = {"mark": "penalty", "sort": "best"}


@pytest.fixture(autouse=True)
def _short_steps(monkeypatch):
    """Each leads past four runs; a page has room for five."""
    monkeypatch.setattr(run_conditions, "FEW", 0)
    monkeypatch.setattr(run_steps, "MILESTONES", run_steps.NUMBERS)
    monkeypatch.setattr(run_steps, "MOST_MILESTONES", 4)
    monkeypatch.setattr(runs, "PAGE_SIZE", 5)
    monkeypatch.setattr(listing, "FURTHER_STRIDES", 1)


@pytest.fixture
def address(project):
    return reverse("run_list", args=[project.slug])


def marked(project, *places, count=20):
    """Runs from the best to the worst; those at these places have a penalty."""
    return [
        runs_of(project, best=str(9 - place / 10), penalty_rounds=int(place in places))[0].pk
        for place in range(count)
    ]


def ask(client, address, headers=None, **query):
    return client.get(f"{address}?{urlencode(query)}", headers=headers)


def numbers(answer):
    return [entry.run.pk for entry in answer.context["page"].lines]


def chain(client, address, answer):
    """What the page comes to have, and each answer on the way."""
    found, answers = numbers(answer), [answer]
    while answer.context["further"]:
        answer = client.get(f"{address}?{answer.context['further']}", headers=HTMX)
        found += numbers(answer)
        answers.append(answer)
    return found, answers


def test_an_empty_step_says_how_far_it_looked_and_goes_on(as_viewer, address, project):
    made = marked(project, 10)
    answer = ask(as_viewer, address, **BEST)
    body = answer.content.decode()
    assert "Nothing yet" in body
    assert "Looked through down to a best score of 8.70 so far. The other runs are looked at next." in body
    assert "No run matches" not in body
    further = f"{address}?{answer.context['further']}"
    assert f'href="{escape(further)}"' in body  # without script
    assert f'hx-get="{escape(further)}" hx-trigger="load delay:20ms"' in body
    assert 'hx-target="#run-results" hx-swap="outerHTML"' in body
    found, answers = chain(as_viewer, address, answer)
    assert found == [made[10]]
    assert [len(numbers(each)) for each in answers] == [0, 0, 1, 0, 0, 0]
    assert not any(each.context["previous"] for each in answers)


def test_who_looks_further_looks_farther(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(listing, "FURTHER_STRIDES", 3)
    made = marked(project, 10)
    first = ask(as_viewer, address, **BEST)
    assert numbers(first) == []
    for headers in ({}, HTMX):
        further = as_viewer.get(f"{address}?{first.context['further']}", headers=headers)
        assert numbers(further) == [made[10]]


def test_when_all_is_looked_through_no_run_matches(as_viewer, address, project):
    marked(project, 3)
    found, answers = chain(as_viewer, address, ask(as_viewer, address, **BEST, best_max="8"))
    assert (found, len(answers)) == ([], 3)
    for answer in answers[:-1]:
        assert "No run matches" not in answer.content.decode()
    body = answers[-1].content.decode()
    assert "<h2>No run matches</h2>" in body
    assert "Remove a filter above" in body
    assert 'hx-trigger="load' not in body


def test_lines_are_put_under_those_that_are_there(as_viewer, address, project):
    made = marked(project, 1, 2, 9, 13, 14, 15, 18)
    answer = ask(as_viewer, address, **BEST)
    body = answer.content.decode()
    assert numbers(answer) == [made[1], made[2]]
    assert "Looked through down to a best score of 8.70 so far." in body
    assert "2 runs so far</caption>" in body
    assert answer.context["further"].endswith("&room=3")
    assert "room" not in answer.context["following"]  # a page of its own for who follows the link
    assert 'hx-target="#run-lines" hx-swap="beforeend" hx-select="#run-lines > tr"' in body
    found, answers = chain(as_viewer, address, answer)
    assert found == [made[place] for place in (1, 2, 9, 13, 14)]
    assert 'id="run-lines"' not in answers[1].content.decode()  # nothing was found there
    for each in answers[1:]:
        assert 'id="run-reach"' in each.content.decode()
        assert 'id="run-following"' in each.content.decode()
    last = answers[-1]
    assert ">Next</a>" in last.content.decode()
    following = as_viewer.get(f"{address}?{last.context['following']}")
    assert numbers(following) == [made[15], made[18]]
    back = as_viewer.get(f"{address}?{following.context['previous']}")
    assert numbers(back) == found


def test_a_full_page_does_not_go_on_by_itself(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "PAGE_SIZE", 3)
    made = marked(project, 1, 2, 3)
    answer = ask(as_viewer, address, **BEST)
    assert numbers(answer) == made[1:4]
    assert answer.context["further"] == ""
    assert ">Look further</a>" in answer.content.decode()


def test_without_script_every_step_is_a_page(as_viewer, address, project):
    made = marked(project, 1, 9)
    seen, answer = [], ask(as_viewer, address, **BEST)
    while True:
        seen += numbers(answer)
        if not answer.context["following"]:
            break
        answer = as_viewer.get(f"{address}?{answer.context['following']}")
    assert seen == [made[1], made[9]]
    body = answer.content.decode()
    assert "<h2>No further run matches</h2>" in body
    assert f'href="{address}?mark=penalty&amp;sort=best">First page</a>' in body


def test_a_step_leaves_the_browsers_history_alone(as_viewer, address, project):
    marked(project, 10)
    here = {**HTMX, "HX-Current-URL": f"http://testserver{address}?after=8.8_1&mark=penalty&sort=best"}
    first = ask(as_viewer, address, HTMX, **BEST)
    assert first.headers["HX-Push-Url"] == f"{address}?mark=penalty&sort=best"
    step = as_viewer.get(f"{address}?{first.context['further']}", headers=here)
    assert step.headers["HX-Push-Url"] == "false"


@pytest.mark.parametrize("room", ["x", "0", "-1", "6", "9999999", "", "²"])
def test_a_room_that_is_none_is_a_whole_page(as_viewer, address, project, room):
    made = marked(project, *range(20))
    answer = ask(as_viewer, address, sort="best", after="9_999", room=room)
    assert numbers(answer) == made[:5]
    assert numbers(ask(as_viewer, address, sort="best", room="2")) == made[:5]
    assert numbers(ask(as_viewer, address, sort="best", after="9_999", room="2")) == made[:2]


def test_each_step_has_the_same_number_of_queries(as_viewer, address, project):
    marked(project, 30, count=40)
    counts, query = [], urlencode(BEST)
    as_viewer.get(address)
    while query:
        with CaptureQueriesContext(connection) as found:
            answer = as_viewer.get(f"{address}?{query}", headers=HTMX)
        counts.append(len(found))
        query = answer.context["further"]
    assert len(counts) == 11
    assert set(counts[:7]) == {counts[0]}


def test_a_search_that_found_something_waits_for_its_reader(as_viewer, address, project, monkeypatch):
    monkeypatch.setattr(runs, "SEARCH_WINDOW", 3)
    runs_of(project, 4, task="zebras", outcome="PASS", stop_reason="passed")
    runs_of(project, 2, task="zebras")
    runs_of(project, task="zebras", outcome="PASS", stop_reason="passed")
    answer = ask(as_viewer, address, q="zebras", outcome="PASS")
    body = answer.content.decode()
    assert (len(numbers(answer)), answer.context["further"]) == (1, "")
    assert "Only some of the runs that hold these words were looked at." in body
    assert ">Look further</a>" in body


@pytest.mark.parametrize(
    ("order", "place", "words"),
    [
        ("newest", Place(812), "down to number 812"),
        ("best", Place(1, Decimal("7.775000")), "down to a best score of 7.78"),
        ("r1", Place(1, Decimal(5)), "down to a first score of 5.00"),
        ("improvement", Place(1, Decimal("-0.5")), "down to an improvement of −0.50"),
        ("improvement", Place(1, Decimal(0)), "down to an improvement of 0"),
        ("rounds", Place(1, 1), "down to 1 round"),
        ("tokens", Place(1, 12_345), "down to 12,345 tokens"),
        ("time", Place(1, Decimal("119.101")), "down to 1 m 59 s of model time"),
    ],
)
def test_how_far_is_said_in_words_of_the_order(order, place, words):
    assert reach_words(ORDERS[order], place, upwards=False) == words
    assert reach_words(ORDERS[order], place, upwards=True) == words.replace("down", "up", 1)
