"""Deciding on a run: separate from the judge's record, with a reason, safe for two people at once."""

import re

import pytest

from refinement.models import Decision
from refinement.services.reviews.decisions import decision_make
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.finished import finished_run
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    return finished_run(project)


def address(run, rest=""):
    return f"/p/alpha/runs/{run.pk}/{rest}"


def decided(client, run, kind="approved", number="3", reason="It reads well.", seen="0"):
    data = {"kind": kind, "round": number, "reason": reason, "seen": seen}
    return client.post(address(run, "decide/"), data)


def text_of(answer):
    return answer.content.decode()


def test_the_head_shows_the_judge_and_the_person(as_editor, as_viewer, run):
    sent = decided(as_editor, run)
    assert (sent.status_code, sent["Location"]) == (302, address(run))
    text = " ".join(text_of(as_viewer.get(address(run))).split())
    assert "The judge: FAIL, best round 2 at 8.60." in text
    assert "Edgar Editor</bdi></b> approved round 3</span>" in text
    assert "It reads well." in text
    assert "FAIL" in text  # the judge's own outcome is still there


def test_viewers_read_decisions_and_make_none(as_viewer, as_editor, run):
    assert decided(as_viewer, run).status_code == 403
    assert "decide-form" not in text_of(as_viewer.get(address(run)))
    assert "decide-form" in text_of(as_editor.get(address(run)))


def test_a_reason_is_wanted_and_what_was_chosen_stays(as_editor, run):
    sent = decided(as_editor, run, "changes", "1", reason="  ")
    text = text_of(sent)
    assert sent.status_code == 422
    assert "Enter a reason" in text
    assert re.search(r'value="changes"[^>]*checked', text)
    assert not Decision.objects.exists()


def test_of_two_people_the_second_sees_the_first_and_keeps_their_words(as_editor, as_owner, run):
    decided(as_owner, run, "rejected", reason="Wrong port.")
    late = decided(as_editor, run, "approved", reason="I typed this.")
    text = text_of(late)
    assert late.status_code == 409
    for words in ("Nothing was saved.", "Olivia Owner", "rejected the run", "Wrong port.", "I typed this."):
        assert words in text, words
    assert 'name="seen" value="1"' in text
    decided(as_editor, run, "approved", reason="I typed this.", seen="1")
    run.refresh_from_db()
    assert (run.decision, run.chosen_round) == ("approved", 3)
    history = text_of(as_editor.get(address(run)))
    assert "Wrong port." in history
    assert "I typed this." in history


def test_withdrawing_is_offered_only_where_something_stands(as_editor, run):
    assert "Withdraw the decision" not in text_of(as_editor.get(address(run)))
    decided(as_editor, run)
    assert "Withdraw the decision" in text_of(as_editor.get(address(run)))
    decided(as_editor, run, "withdrawn", reason="Too early.", seen="1")
    text = text_of(as_editor.get(address(run)))
    assert "<b>none yet</b>" in text
    assert "Too early." in text


def test_hostile_reasons_are_text(as_editor, run):
    decided(as_editor, run, "rejected", reason=HOSTILE[:3000])
    for page in (address(run), "/p/alpha/runs/"):
        assert "<script>alert" not in text_of(as_editor.get(page))


@pytest.mark.parametrize("seen", ["", "x", "-1", "9" * 30])
def test_an_odd_number_of_the_seen_decision_is_no_error(as_editor, run, seen):
    assert decided(as_editor, run, seen=seen).status_code == 422


def test_a_run_without_rounds_has_nothing_to_decide(as_editor, project):
    run = finished_run(project)
    run.rounds.all().delete()
    assert "decide-form" not in text_of(as_editor.get(address(run)))


def test_lists_have_a_badge_and_a_filter(as_viewer, editor, run, project):
    (other,) = runs_of(project, title="Undecided")
    decision_make(run=run, kind="approved", reason="Good.", seen=0, user=editor, round_number=2)
    text = text_of(as_viewer.get("/p/alpha/runs/?decision=approved"))
    assert f'name="run" value="{run.pk}"' in text
    assert f'name="run" value="{other.pk}"' not in text
    assert "✓ approved" in text
    nothing = text_of(as_viewer.get("/p/alpha/runs/?decision=rejected"))
    assert f'name="run" value="{run.pk}"' not in nothing


def test_the_text_to_keep_is_the_chosen_one(as_viewer, editor, run):
    best = b"".join(as_viewer.get(address(run, "export/txt/")).streaming_content)
    decision_make(run=run, kind="result", reason="Clearer.", seen=0, user=editor, round_number=3)
    chosen = b"".join(as_viewer.get(address(run, "export/txt/")).streaming_content)
    assert best.startswith(b"Version 1")
    assert chosen.startswith(b"Version 2")
