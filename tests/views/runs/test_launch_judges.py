"""Who judges: the launch form shows the rubric's choice, and a launch can make another."""

import re
from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_from_json
from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.models import Run
from refinement.selectors.launch.available_models import offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.rubrics.editing import default_rubrics_install, rubric_create
from tests.loopback.fixtures import ollama_server
from tests.views.runs.launching import ESTIMATE, EVERY_WARNING, NEW, filled

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
PANEL = (
    PanelJudge("First <reader>", "You read it once."),
    PanelJudge("Expert", "You know the subject.", "ollama/loopback:70b"),
)


@pytest.fixture(autouse=True)
def _models(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    board = replace(rubric_for("wiggum"), name="Board", judges=Judges(JudgeMode.AUTO, PANEL))
    rubric_create(project=project, slug="board", definition=board)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


def sent(client, **changes):
    codes = [*EVERY_WARNING, "unknown-expert", "unknown-clerk"]
    return client.post(NEW, filled(rubric="board", warned=codes, **changes))


def launched(client, **changes) -> Run:
    answer = sent(client, **changes)
    assert answer.status_code == 302, answer.context["form"].errors
    return Run.objects.latest("pk")


def mode_of(run: Run) -> JudgeMode:
    return rubric_from_json(run.snapshot).judges.mode


# --- shown ----------------------------------------------------------------------------------------
def test_the_choice_is_resolved_and_the_judges_are_listed(as_editor):
    page = as_editor.get(NEW, {"rubric": "board"}).content.decode()
    assert "Automatic: a board of 2, because the rubric has 6 criteria: <bdi>First" in page
    assert "First &lt;reader&gt;" in page
    assert "You know the subject." in page
    assert "ollama/loopback:70b" in page
    assert "a board round takes up to 7" in page


def test_a_single_judge_calls_no_clerk(as_editor):
    page = as_editor.get(NEW, {"rubric": "wiggum"}).content.decode()
    assert '<span id="launch-sentence">One judge</span>' in page
    assert "not called with one judge" in page


def test_a_board_without_a_panel_is_said_to_be_composed(as_editor):
    page = as_editor.post(ESTIMATE, filled(rubric="wiggum", judges="board")).content.decode()
    assert "<html" in page
    assert "the clerk chooses 3 judges for this text when the run starts" in page


def test_the_estimate_brings_the_judges_along(as_editor):
    answer = as_editor.post(ESTIMATE, filled(rubric="board", judges="single", shown="board@1"), headers=HTMX)
    page = answer.content.decode()
    assert "<html" not in page
    assert re.search(r'id="launch-judging" class="[^"]*" hx-swap-oob="true"', page)
    assert '<span id="launch-sentence" hx-swap-oob="true">One judge</span>' in page
    assert answer.context["panel"]["estimate"].calls.high == 6


def test_a_plateau_is_priced(as_editor):
    page = as_editor.get(NEW, {"rubric": "simmer"}).content.decode()
    assert "On a plateau a board of 3 takes over for 2 more rounds." in page
    assert "That adds up to 19 calls" in page


def test_each_model_of_the_panel_is_looked_at(as_editor):
    answer = as_editor.get(NEW, {"rubric": "board"})
    answer = as_editor.post(ESTIMATE, filled(rubric="board", clerk="ollama/gone:1b"), headers=HTMX)
    codes = [caution.code for caution in answer.context["panel"]["cautions"]]
    assert {"unknown-expert", "unknown-clerk"} <= set(codes)


# --- launched -------------------------------------------------------------------------------------
def test_the_rubrics_choice_is_used(as_editor):
    run = launched(as_editor)
    assert mode_of(run) is JudgeMode.BOARD
    assert list(run.panel.values_list("seat", "name", "model")) == [
        (1, "First <reader>", "loopback:8b"),
        (2, "Expert", "loopback:70b"),
    ]
    assert (run.clerk_endpoint, run.clerk_model) == ("ollama", "loopback:8b")


@pytest.mark.parametrize(
    ("choice", "mode"),
    [("single", JudgeMode.SINGLE), ("board", JudgeMode.BOARD), ("auto", JudgeMode.BOARD)],
)
def test_another_choice_is_this_runs_alone(as_editor, project, choice, mode):
    run = launched(as_editor, judges=choice, clerk="ollama/loopback:1b")
    assert mode_of(run) is mode
    assert run.clerk_model == "loopback:1b"
    assert run.rubric_version.judges["mode"] == "auto"


def test_repeats_are_judged_alike(as_editor):
    launched(as_editor, repeats="3", judges="single", clerk_typed="ollama/tiny")
    assert {(mode_of(run), run.clerk_model) for run in Run.objects.all()} == {(JudgeMode.SINGLE, "tiny")}
    assert Run.objects.count() == 3


def test_another_clerk_is_another_launch(as_editor):
    first = launched(as_editor)
    assert launched(as_editor, clerk="ollama/loopback:1b").pk != first.pk


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"judges": "jury"}, "judges", "not one of the available choices"),
        ({"clerk": "nowhere/x"}, "clerk", "Available model servers"),
        ({"clerk_typed": "scripted:/etc/passwd"}, "clerk_typed", "Available model servers"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(as_editor, changes, field, words):
    answer = sent(as_editor, **changes)
    assert answer.status_code == 422
    assert words in answer.context["form"].errors[field][0]
    assert not Run.objects.exists()


# --- edit and rerun -------------------------------------------------------------------------------
def test_an_edited_rerun_keeps_what_was_chosen(as_editor):
    run = launched(as_editor, judges="single", clerk="ollama/loopback:1b")
    form = as_editor.get(NEW, {"from": run.pk}).context["form"]
    assert (form["judges"].value(), form["clerk"].value()) == ("single", "ollama/loopback:1b")


def test_an_edited_rerun_leaves_to_the_rubric_what_the_rubric_chose(as_editor):
    run = launched(as_editor)
    form = as_editor.get(NEW, {"from": run.pk}).context["form"]
    assert not form["judges"].value()
    assert not form["clerk"].value()


# --- who ------------------------------------------------------------------------------------------
def test_it_is_for_editors(as_viewer, as_outsider, as_editor):
    assert sent(as_viewer, judges="board").status_code == 403
    assert sent(as_outsider, judges="board").status_code == 404
    assert as_editor.put(NEW).status_code == 405
    assert not Run.objects.exists()
