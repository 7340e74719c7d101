"""Contract, background and search space of a launch: filled with the rubric's, and the run's alone."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.models import Run
from refinement.services.rubrics.editing import rubric_create
from tests.views.runs.launching import ESTIMATE, NEW, filled

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
FACTS = "Our readers run the service themselves."


@pytest.fixture(autouse=True)
def _rubrics(project, monkeypatch):
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", list)
    first = replace(rubric_for("wiggum"), name="One", background=FACTS, search_space="Lists or tables")
    rubric_create(project=project, slug="one", definition=first)
    second = replace(rubric_for("simmer"), name="Two", background="Something else.")
    rubric_create(project=project, slug="two", definition=second)


def sent(client, address=NEW, headers=None, **changes):
    warned = ["no-worker", "same_family", "no-endpoint-ollama"]
    data = filled(rubric="one", shown="one@1", warned=warned, **changes)
    return client.post(address, data, headers=headers)


def launched(client, **changes):
    answer = sent(client, **changes)
    assert answer.status_code == 302, answer.context["form"].errors
    run = Run.objects.latest("pk")
    return run, rubric_from_json(run.snapshot)


def test_the_form_is_filled_with_the_rubrics(as_editor):
    answer = as_editor.get(NEW, {"rubric": "one"})
    form, page = answer.context["form"], answer.content.decode()
    assert form["background"].value() == FACTS
    assert form.changed_texts == []
    assert "as in the rubric" in page


def test_a_changed_text_is_the_runs_alone(as_editor):
    run, used = launched(as_editor, background="Readers are <new>.", search_space="", output_contract="JSON.")
    assert (used.background, used.search_space, used.output_contract) == ("Readers are <new>.", "", "JSON.")
    assert run.rubric_version.background == FACTS


def test_a_text_that_is_sent_back_changes_nothing(as_editor):
    _, used = launched(as_editor, background=f"{FACTS}\r\n", search_space="Lists or tables")
    assert (used.background, used.search_space) == (FACTS, "Lists or tables")


def test_a_form_without_the_fields_uses_the_rubrics(as_editor):
    _, used = launched(as_editor)
    assert (used.background, used.search_space) == (FACTS, "Lists or tables")


def test_every_repeat_has_them(as_editor):
    launched(as_editor, background="Mine.", repeats="2")
    assert [rubric_from_json(run.snapshot).background for run in Run.objects.all()] == ["Mine.", "Mine."]


def test_a_rubric_chosen_without_script_brings_its_own(as_editor):
    answer = as_editor.post(NEW, filled(rubric="two", shown="one@1", background=FACTS, warned=["all"]))
    assert answer.context["form"]["background"].value() == "Something else."


def test_the_estimate_swaps_them_with_the_rubric(as_editor):
    same = sent(as_editor, ESTIMATE, HTMX, background=FACTS)
    assert 'id="launch-settings"' not in same.content.decode()
    data = filled(rubric="two", shown="one@1", background=FACTS, output_contract="Mine & only.")
    page = as_editor.post(ESTIMATE, data, headers=HTMX).content.decode()
    assert 'id="launch-settings" hx-swap-oob="true"' in page
    assert "Something else." in page
    assert "Mine &amp; only." in page
    assert 'id="launch-value-changes">Output contract</span>' in page


def test_a_rubric_of_another_project_is_not_looked_into(as_editor, other_project):
    secret = replace(rubric_for("wiggum"), name="Secret", background="Secret.")
    rubric_create(project=other_project, slug="secret", definition=secret)
    answer = as_editor.post(ESTIMATE, filled(rubric="two", shown="secret@1", background="Secret."))
    assert answer.context["form"]["background"].value() == "Secret."  # what they typed, not looked up


def test_a_long_text_is_refused_beside_its_field(as_editor):
    answer = sent(as_editor, background="x" * 50_001)
    assert answer.status_code == 422
    assert "At most 50,000 characters" in answer.context["form"].errors["background"][0]
    assert answer.context["form"].overrides_wrong
    assert not Run.objects.exists()


def test_an_edited_rerun_keeps_them(as_editor):
    run, _ = launched(as_editor, background="Mine.", search_space="")
    form = as_editor.get(NEW, {"from": run.pk}).context["form"]
    assert (form["background"].value(), form["search_space"].value()) == ("Mine.", "")
    assert form.changed_texts == ["Background", "Search space"]


def test_it_is_for_editors(as_viewer, as_outsider):
    assert sent(as_viewer, background="Mine.").status_code == 403
    assert sent(as_outsider, background="Mine.").status_code == 404
    assert not Run.objects.exists()
