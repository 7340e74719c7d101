"""Starting a measurement with planted defects: which texts and copies, and a user's own pair."""

import re

import pytest
from django.urls import reverse

from refinement.execution.reports import report_advance
from refinement.models import Label, LabelItem, LabelRater, LabelSet, Measurement, Report, Round
from tests.execution.trials.given import Table
from tests.execution.trust.planted_judge import WeakJudge, good_text, good_texts, title_of
from tests.services.trust.measurements.given import carried_out
from tests.services.trust.measurements.replaying import a_judged_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(table: Table):
    assert table.version
    return reverse("planted_new", args=["alpha"], query={"rubric": "guides"})


def given(**more):
    texts = "\n---\n".join(good_text(number) for number in (1, 2))
    usual = {"source": "pasted", "texts": texts, "task": "Write a guide.", "count": "10"}
    judge = {"judge": "ollama/loopback:8b", "version": "1", "edits": ["numbers", "typography"]}
    return {**usual, **judge, "repeats": "1", "act": "start", **more}


def a_label_set(table: Table, *scores: float) -> LabelSet:
    """A text for each of these scores by one person."""
    row = LabelSet.objects.create(
        project=table.project, rubric=table.version.rubric, rubric_version=table.version, name="March"
    )
    rater = LabelRater.objects.create(label_set=row, name="Ada")
    for number, score in enumerate(scores, start=1):
        text = good_text(number)
        item = LabelItem.objects.create(label_set=row, position=number, key=f"g{number}", text=text)
        Label.objects.create(item=item, rater=rater, scores={"depth": str(score)})
    return row


def originals(measurement: Measurement) -> list[str]:
    rows = measurement.items.filter(original=None).order_by("position")
    return [title_of(row.bench.candidate) for row in rows.select_related("bench")]


def test_pasted_texts_get_copies(as_editor, address):
    as_editor.post(address, given())
    measurement = Measurement.objects.get()
    assert (measurement.kind, measurement.quote["calls"]) == ("planted", 6)
    assert measurement.chosen["words"] == "pasted texts, 4 copies of 2"
    items = list(measurement.items.order_by("position"))
    assert [(item.edit, item.harmless) for item in items] == [
        ("", False), ("numbers", False), ("typography", True),
    ] * 2  # fmt: skip
    assert [item.original_id for item in items[:3]] == [None, items[0].pk, items[0].pk]
    assert (items[0].bench.candidate, items[0].bench.task) == (good_text(1).strip(), "Write a guide.")


def test_the_texts_of_a_label_set_that_people_scored_best(as_editor, address, table: Table):
    labelled = a_label_set(table, 3, 9, 5, 8)
    Label.objects.filter(item__position=4).update(wrong=["depth"])
    as_editor.post(address, given(source="labels", label_set=str(labelled.pk), count="2"))
    measurement = Measurement.objects.get()
    assert originals(measurement) == ["Guide 2", "Guide 3"]
    assert measurement.label_set == labelled
    assert {item.label_item.key for item in measurement.items.filter(original=None)} == {"g2", "g3"}


def test_the_best_round_of_each_run_that_reached_the_pass_mark(as_editor, address, table: Table):
    first, _, last = (a_judged_run(table, *scores) for scores in [(9.1, 9.5, 9.2), (5, 8.9), (7, 9)])
    for row in Round.objects.all():
        Round.objects.filter(pk=row.pk).update(candidate=good_text(row.pk))
    as_editor.post(address, given(source="runs"))
    items = Measurement.objects.get().items.filter(original=None).order_by("position")
    assert [(item.round.run, float(item.round.composite)) for item in items] == [(last, 9), (first, 9.5)]


def test_another_judge_gets_the_texts_of_an_earlier_measurement(as_editor, address):
    as_editor.post(address, given())
    earlier = Measurement.objects.get()
    as_editor.post(address, given(source="earlier", earlier=str(earlier.pk), judge="ollama/loopback:1b"))
    again = Measurement.objects.exclude(pk=earlier.pk).get()
    texts = [
        list(row.items.order_by("position").values_list("bench__candidate", flat=True))
        for row in (earlier, again)
    ]
    assert texts[0] == texts[1]
    assert again.model == "loopback:1b"


def test_a_pair_of_ones_own(as_editor, address):
    own = {"own_text": "It is safe.", "own_copy": "It is unsafe.", "own_criterion": "grounded"}
    as_editor.post(address, given(texts="", edits=[], **own, own_effect="spoiled", own_change="Opposite."))
    copy = Measurement.objects.get().items.get(edit="own")
    assert (copy.original.bench.candidate, copy.bench.candidate) == ("It is safe.", "It is unsafe.")
    assert (copy.criterion, copy.change, copy.harmless) == ("grounded", "Opposite.", False)


def test_the_form_has_a_quote_and_says_what_does_not_fit(as_editor, address, table: Table):
    assert "Choose texts and a judge" in as_editor.get(address).content.decode()
    a_judged_run(table, 9.5)
    Round.objects.update(candidate=good_text(1))
    page = as_editor.get(address).content.decode()
    assert "Plant defects: 12 calls" in page
    assert "Steps removed: not in 1 of 1 texts (it has no list of 3 or more items)." in page


def test_the_result_is_said_once_it_is_computed(as_editor, address, table: Table):
    table.server.replies = WeakJudge(good_texts(2), sees_numbers=1)
    as_editor.post(address, given())
    measurement = Measurement.objects.get()
    carried_out(measurement)
    report_advance(Report.objects.get(kind="trust").pk)
    page = as_editor.get(reverse("measurement_page", args=["alpha", measurement.pk])).content.decode()
    assert re.search(r"Noticed \d+ of \d+ defects: ", page)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"texts": " \n---\n"}, "Paste good texts"),
        ({"edits": []}, "Choose at least one change."),
        ({"edits": ["spelling"]}, "Select a valid choice"),
        ({"count": "201"}, "less than or equal to 200"),
        ({"judge": ""}, "Choose a model"),
        ({"texts": "Short."}, "None of these texts offers anything to edit."),
        ({"source": "labels"}, "Select a valid choice"),
        ({"own_text": "One side."}, "Enter both texts, or neither."),
        ({"own_text": "Same.", "own_copy": "Same."}, "The copy is the same as the text."),
    ],
)
def test_what_cannot_be_planted_is_refused(as_editor, address, fields, words):
    answer = as_editor.post(address, given(**fields))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Measurement.objects.exists()


def test_viewers_cannot_start_one(as_viewer, address):
    assert as_viewer.post(address, given()).status_code == 403
