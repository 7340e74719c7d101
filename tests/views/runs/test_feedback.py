"""Correcting what became of feedback, from the run's page."""

import re
from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import FeedbackCorrection, Run
from refinement.services.runs.ledger import ledger_store
from tests.execution.wire.stage import verdict
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Target": "round"}
HOSTILE = "<script>alert(1)</script> the \u202e restore of the database"
OPEN, ADDRESSED = "issue:0:0:open", "issue:0:0:addressed"


@pytest.fixture
def run(stage) -> Run:
    rubric = rubric_for("wiggum")
    rubric = replace(rubric, policy=replace(rubric.policy, max_rounds=2))
    asked = "Explain how to restore the database."
    stage.says(
        judge=[verdict(rubric, 5, issues=[asked, HOSTILE]), verdict(rubric, 6, issues=[])],
        producer=["# Backups\n\nRestore the database from the newest file."],
    )
    run = stage.play(rubric, seed="# Backups\n\nMade every night.")
    ledger_store(run)
    return run


def address(run, number=1, rest="feedback/"):
    return f"/p/{run.project.slug}/runs/{run.pk}/rounds/{number}/{rest}"


def buttons(text):
    return re.findall(r'name="correction" value="([^"]*)"', text)


def test_each_item_says_what_became_of_it_and_why(as_viewer, run):
    text = as_viewer.get(address(run, rest="")).content.decode()
    assert '<span class="ok-words">2 addressed</span>' in text
    assert "Round 2 changed its passage, and it was not raised again." in text
    assert buttons(text) == []
    assert "<script>alert" not in text


def test_an_editor_corrects_it_with_a_click(as_editor, editor, run):
    shown = as_editor.get(address(run, rest="")).content.decode()
    assert OPEN in buttons(shown)
    answer = as_editor.post(address(run), {"correction": OPEN}, follow=True)
    assert answer.redirect_chain == [(address(run, rest=""), 302)]
    text = answer.content.decode()
    assert "Feedback corrected." in text
    assert f"Corrected by <bdi>{editor.display_name}</bdi>" in text
    assert ">still open</span>" in text
    row = FeedbackCorrection.objects.get()
    assert (row.fate, row.round_number, row.kind, row.position) == ("open", 1, "issue", 0)


def test_it_is_taken_back_with_a_click(as_editor, run):
    as_editor.post(address(run), {"correction": OPEN})
    shown = as_editor.get(address(run, rest="")).content.decode()
    (undo,) = [value for value in buttons(shown) if value.endswith(":")]
    as_editor.post(address(run), {"correction": undo})
    assert not FeedbackCorrection.objects.exists()


def test_htmx_gets_the_round_alone(as_editor, run):
    answer = as_editor.post(address(run), {"correction": OPEN}, headers=HTMX)
    text = answer.content.decode()
    assert (answer.status_code, 'id="round"' in text, "<html" in text) == (200, True, False)
    assert ">still open</span>" in text


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_second_person_sees_the_first_ones_word(as_editor, as_owner, editor, run, headers):
    as_editor.post(address(run), {"correction": OPEN})
    answer = as_owner.post(address(run), {"correction": "issue:0:0:worse"}, headers=headers)
    assert answer.status_code == 409
    assert f"{editor.display_name} set it to “still open” while you were reading." in answer.content.decode()
    assert FeedbackCorrection.objects.get().fate == "open"


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_unknown_fate_is_refused(as_editor, run, headers):
    answer = as_editor.post(address(run), {"correction": "issue:0:0:lovely"}, headers=headers)
    assert answer.status_code == 422
    assert "Choose what became of it." in answer.content.decode()


@pytest.mark.parametrize(
    "value",
    ["", "issue", "issue:x:0:open", "issue:99999:0:open", "issue:²:0:open", "issue:7:0:open", "a:b:c:d:e"],
)
def test_other_buttons_do_not_exist(as_editor, run, value):
    assert as_editor.post(address(run), {"correction": value}).status_code == 404
    assert as_editor.post(address(run, 9), {"correction": OPEN}).status_code == 404
    assert not FeedbackCorrection.objects.exists()


def test_who_may(as_viewer, as_outsider, client, run):
    assert as_viewer.post(address(run), {"correction": OPEN}).status_code == 403
    assert as_outsider.post(address(run), {"correction": OPEN}).status_code == 404
    assert client.post(address(run), {"correction": OPEN}).status_code == 302
    assert as_viewer.get(address(run)).status_code == 405
    assert not FeedbackCorrection.objects.exists()


def test_feedback_without_a_revision_has_no_line(as_editor, project):
    run = finished_run(project, ["5"])
    assert buttons(as_editor.get(address(run, rest="")).content.decode()) == []
