"""Starting a retest: from pasted texts, rounds or a label set."""

import re

import pytest
from django.urls import reverse

from refinement.models import Measurement
from tests.execution.trials.given import Table
from tests.services.trust.measurements.replaying import a_judged_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(table: Table):
    assert table.version
    return reverse("retest_new", args=["alpha"], query={"rubric": "guides"})


def given(**more):
    usual = {"source": "pasted", "texts": "One.\n---\nTwo.\n", "task": "Say it.", "count": "20"}
    judge = {"judge": "ollama/loopback:8b", "version": "1"}
    return {**usual, **judge, "repeats": "3", "act": "start", **more}


def test_pasted_texts_are_judged_several_times(as_editor, address):
    as_editor.post(address, given())
    measurement = Measurement.objects.get()
    assert (measurement.kind, measurement.repeats, measurement.quote["calls"]) == ("retest", 3, 6)
    assert [(item.bench.candidate, item.bench.task) for item in measurement.items.all()] == [
        ("One.", "Say it."),
        ("Two.", "Say it."),
    ]


def test_a_form_that_is_sent_twice_starts_one(as_editor, address):
    key = re.search(r'name="key" value="(\w+)"', as_editor.get(address).content.decode())[1]
    first, again = as_editor.post(address, given(key=key)), as_editor.post(address, given(key=key))
    assert first.url == again.url
    assert Measurement.objects.count() == 1
    as_editor.post(address, given(key=key, repeats="4"))
    assert Measurement.objects.count() == 2


def test_rounds_are_spread_over_the_scores(as_editor, address, table: Table):
    a_judged_run(table, 9, 1, 5, 7, 3)
    as_editor.post(address, given(source="runs", count="3"))
    items = Measurement.objects.get().items.order_by("position")
    assert [float(item.round.composite) for item in items] == [1, 3, 7]


def test_the_form_has_a_quote_for_rounds(as_editor, address, table: Table):
    assert "Choose texts and a judge" in as_editor.get(address).content.decode()
    a_judged_run(table, 9, 1)
    page = as_editor.get(address).content.decode()
    assert "Run retest: 6 calls" in page
    assert "These are too few: it takes 10 repeats of at least 5 texts." in page


@pytest.mark.parametrize("named", ["ollama/loopback:8b", "loopback:8b"])
def test_the_judge_of_a_page_is_chosen(as_editor, address, named):
    """One that was only recorded elsewhere is named by its model."""
    page = as_editor.get(address, {"rubric": "guides", "judge": named}).content.decode()
    assert '<option value="ollama/loopback:8b" selected>' in page


def test_a_judge_that_no_endpoint_has_is_named(as_editor, address, table: Table):
    a_judged_run(table, 9)
    page = as_editor.get(address, {"rubric": "guides", "judge": "gone:70b"}).content.decode()
    assert "No connected endpoint has the model gone:70b. Connect it, or choose another judge." in page
    assert '<option value="" selected>' in page


def test_a_board_is_judged_by_each_of_its_judges(as_editor, address):
    as_editor.post(address, given(judges="board"))
    measurement = Measurement.objects.get()
    assert len(measurement.panel) == 3
    assert measurement.quote["calls"] == 2 * 3 * 3


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"texts": " \n---\n"}, "Paste the texts to judge."),
        ({"repeats": "1"}, "greater than or equal to 2"),
        ({"judge": ""}, "Choose a model"),
        ({"source": "labels"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_retested_is_refused(as_editor, address, fields, words):
    answer = as_editor.post(address, given(**fields))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Measurement.objects.exists()


def test_viewers_cannot_start_one(as_viewer, address):
    assert as_viewer.post(address, given()).status_code == 403
