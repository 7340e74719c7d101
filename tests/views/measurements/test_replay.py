"""Starting a replay: the quote, drafts from the editor, and what is refused."""

import json

import pytest
from django.urls import reverse

from refinement.engine.codec import rubric_to_json
from refinement.forms.rubrics.initial import form_fields
from refinement.models import Experiment, LabelItem, LabelSet, Measurement, Round
from refinement.selectors.rubrics.definitions import definition_of
from tests.execution.trials.given import Table
from tests.services.trust.measurements.given import carried_out
from tests.services.trust.measurements.replaying import a_judged_run, a_replay

pytestmark = pytest.mark.django_db
JUDGE = "ollama/loopback:8b"


@pytest.fixture
def address(table: Table):
    a_judged_run(table, 9.5, 8, 7)
    a_judged_run(table, 6, 5)
    return reverse("replay_new", args=["alpha"], query={"rubric": "guides"})


def given(**more):
    usual = {"source": "runs", "runs": "50", "count": "60", "pick": "newest", "version": "1", "repeats": "1"}
    return {**usual, "judge": JUDGE, "act": "start", **more}


def test_the_form_has_a_quote_at_once(as_editor, address):
    page = as_editor.get(address).content.decode()
    assert "Run replay: 5 calls" in page
    assert not Measurement.objects.exists()


def test_start_judges_the_chosen_rounds(as_editor, address, editor):
    answer = as_editor.post(address, given(count="3"))
    measurement = Measurement.objects.get()
    assert answer.url == reverse("measurement_page", args=["alpha", measurement.pk])
    assert (measurement.kind, measurement.created_by, measurement.definition) == ("replay", editor, None)
    rounds = [item.round for item in measurement.items.order_by("position")]
    assert rounds == list(Round.objects.order_by("-run_id", "-number")[:3])
    assert measurement.quote["calls"] == 3
    assert measurement.chosen["words"] == "newest 50 runs, newest first"


def test_the_quote_alone_is_sent_to_htmx(as_editor, address):
    answer = as_editor.post(address, given(act="quote", repeats="3"), headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "<html" not in answer.content.decode()
    assert "Run replay: 15 calls" in answer.content.decode()
    assert not Measurement.objects.exists()


def test_what_was_judged_before_is_quoted_as_reused(as_editor, address, table: Table):
    table.says(9, 8, 7, 6, 5)
    as_editor.post(address, given())
    carried_out(Measurement.objects.get())
    page = as_editor.post(address, given(act="quote")).content.decode()
    assert "Run replay: no calls" in page
    assert (
        "Run replay: 5 calls" in as_editor.post(address, given(act="quote", ask_again="on")).content.decode()
    )


def test_the_newest_runs_alone(as_editor, address):
    as_editor.post(address, given(runs="1"))
    assert Measurement.objects.get().items.count() == 2


def test_near_the_pass_mark_comes_first(as_editor, address):
    """The pass mark is 9."""
    as_editor.post(address, given(pick="near", count="3"))
    items = Measurement.objects.get().items.order_by("position")
    assert [float(item.round.composite) for item in items] == [9.5, 8.0, 7.0]


def test_a_draft_comes_from_the_editors_form(as_editor, address, table: Table):
    definition = definition_of(table.version)
    fields = form_fields(rubric_to_json(definition))
    fields |= {"edited_from": "1", "act": "draft", "policy-pass_threshold": "7"}
    page = as_editor.post(address, fields).content.decode()
    assert "(draft)" in page
    assert "Run replay: 5 calls" in page
    draft = as_editor.post(address, fields).context["form"]["draft"].value()
    assert json.loads(draft)["policy"]["pass_threshold"] == "7"
    as_editor.post(address, given(draft=draft))
    assert Measurement.objects.get().definition["policy"]["pass_threshold"] == "7"


def test_a_draft_with_problems_stays_in_the_editor(as_editor, address, table: Table):
    fields = form_fields(rubric_to_json(definition_of(table.version)))
    answer = as_editor.post(
        address, {**fields, "edited_from": "1", "act": "draft", "policy-pass_threshold": "no"}
    )
    assert answer.status_code == 422
    assert "Not saved" in answer.content.decode()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"judge": ""}, "Choose a model"),
        ({"judge_typed": "nowhere/m"}, "nowhere"),
        ({"version": "7"}, "Select a valid choice"),
        ({"count": "0"}, "greater than or equal to 1"),
        ({"draft": "{"}, "The draft cannot be read"),
        ({"draft": '{"name": "x"}'}, "The draft cannot be read"),
        ({"source": "labels"}, "Select a valid choice"),
        ({"token_budget": "-1"}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_replayed_is_refused(as_editor, address, fields, words):
    answer = as_editor.post(address, given(**fields))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Measurement.objects.exists()


def test_without_rounds_there_is_nothing_to_replay(as_editor, table: Table):
    assert table.version
    address = reverse("replay_new", args=["alpha"], query={"rubric": "guides"})
    answer = as_editor.post(address, given())
    assert answer.status_code == 422
    assert "No judged rounds match" in answer.content.decode()


def test_a_label_set(as_editor, address, table: Table):
    row = LabelSet.objects.create(
        project=table.project, rubric=table.version.rubric, rubric_version=table.version, name="First"
    )
    LabelItem.objects.create(label_set=row, position=1, key="a", text="One.")
    LabelItem.objects.create(label_set=row, position=2, key="b", text="")
    as_editor.post(address, given(source="labels", label_set=str(row.pk)))
    measurement = Measurement.objects.get()
    assert measurement.label_set == row
    assert [item.label_item.key for item in measurement.items.all()] == ["a"]


def test_without_a_rubric_one_is_chosen(as_editor, table: Table):
    table.rubric(definition_of(table.version))
    from refinement.services.rubrics.editing import rubric_create

    rubric_create(project=table.project, slug="second", definition=definition_of(table.version))
    page = as_editor.get(reverse("replay_new", args=["alpha"])).content.decode()
    assert "Which rubric?" in page
    assert "?rubric=second" in page


def test_viewers_are_told_that_editors_start_it(as_viewer, address):
    assert "Editors only" in as_viewer.get(address).content.decode()
    assert as_viewer.post(address, given()).status_code == 403


def test_an_experiment_is_offered_by_name(as_editor, address, project):
    assert not Experiment.objects.exists()
    assert a_replay
    assert "An experiment" not in as_editor.get(address).content.decode()
