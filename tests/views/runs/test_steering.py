"""Steering from a run's page: with and without htmx, errors at the field, hostile words escaped."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.models import Instruction, ReviewRequest, Run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOSTILE = "<script>alert(1)</script>\u202e **bold** {{ x }}"


@pytest.fixture
def run(project) -> Run:
    return finished_run(project)


def page(run: Run, rest: str = "") -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/{rest}"


def withdraw(given: Instruction) -> str:
    return f"/p/{given.run.project.slug}/instructions/{given.pk}/withdraw/"


def told(run: Run, **more: object) -> Instruction:
    return Instruction.objects.create(run=run, **{"author_name": "Ada", "text": "Say more.", **more})


def test_a_plain_post_keeps_it_and_shows_the_run_again(as_editor, editor, run):
    answer = as_editor.post(page(run, "instructions/"), {"text": "Name the owner."}, follow=True)
    assert answer.redirect_chain == [(page(run), 302)]
    given = Instruction.objects.get()
    assert (given.text, given.author, given.author_name) == ("Name the owner.", editor, "Edgar Editor")
    text = answer.content.decode()
    assert "Instruction added to the next revision." in text
    assert "Name the owner." in text


def test_htmx_gets_the_card_alone(as_editor, run):
    answer = as_editor.post(page(run, "instructions/"), {"text": "Name the owner."}, headers=HTMX)
    text = answer.content.decode()
    assert (answer.status_code, 'id="run-steering"' in text, "<html" in text) == (200, True, False)
    assert "Instruction added to the next revision." in text


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_what_is_wrong_is_said_and_what_was_typed_stays(as_editor, run, headers):
    long = "canary-typed " + "x" * 4_000
    answer = as_editor.post(page(run, "instructions/"), {"text": long}, headers=headers)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "4,000 are allowed." in text
    assert "canary-typed" in text
    assert not Instruction.objects.exists()


def test_hostile_words_are_text_on_the_page(as_viewer, run):
    told(run, text=HOSTILE, author_name="<b>Eve</b>")
    text = as_viewer.get(page(run)).content.decode()
    assert "<script>alert" not in text
    assert "<b>Eve" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "**bold** {{ x }}" in text


def test_a_viewer_reads_and_cannot_tell_or_withdraw(as_viewer, run):
    given = told(run)
    text = as_viewer.get(page(run)).content.decode()
    assert "Say more." in text
    assert "Withdraw" not in text
    assert 'id="steer-text"' not in text
    assert as_viewer.post(page(run, "instructions/"), {"text": "x"}).status_code == 403
    assert as_viewer.post(withdraw(given)).status_code == 403


def test_a_run_that_ended_before_says_so_and_leads_to_more_rounds(as_editor, run):
    told(run)
    text = as_editor.get(page(run)).content.decode()
    assert "The run ended before this was used." in text
    assert '<a href="#more-rounds">Run more rounds</a>' in text
    assert 'id="more-rounds"' in text
    Run.objects.filter(pk=run.pk).update(outcome="ERROR", stop_reason="judge_failed")
    assert "Retry the run to use it." in as_editor.get(page(run)).content.decode()


def test_one_that_waits_and_one_that_was_used_are_told_apart(as_editor, run):
    told(run, text="for-later")
    told(run, text="for-round-one", used_in_round=1)
    told(run, text="never-mind", withdrawn_at=run.created_at)
    text = as_editor.get(page(run), headers=HTMX).content.decode()
    assert 'id="run-instructions"' in text
    assert "<html" not in text
    assert text.index("for-later") < text.index("1 used") < text.index("for-round-one")
    assert "never-mind" not in text


def test_withdrawing_and_withdrawing_too_late(as_editor, run):
    given, used = told(run), told(run, used_in_round=1)
    answer = as_editor.post(withdraw(given), follow=True)
    assert "Instruction withdrawn." in answer.content.decode()
    given.refresh_from_db()
    assert given.withdrawn_at is not None
    for headers in ({}, HTMX):
        late = as_editor.post(withdraw(used), headers=headers)
        assert late.status_code == 422
        assert "Round 1 already used this instruction" in late.content.decode()


def test_instructions_of_other_projects_are_not_found(as_outsider, as_editor, run, other_project):
    given = told(run)
    assert as_outsider.post(withdraw(given)).status_code == 404
    assert as_outsider.post(f"/p/beta/instructions/{given.pk}/withdraw/").status_code == 404
    assert as_outsider.post(f"/p/beta/runs/{run.pk}/instructions/", {"text": "x"}).status_code == 404


def test_the_round_says_who_asked_for_it(as_viewer, run):
    row = run.rounds.order_by("-number").first()
    row.feedback = {"from_round": 1, "instructions": [{"id": 1, "author": "Ada", "text": HOSTILE}]}
    row.save(update_fields=["feedback"])
    text = as_viewer.get(page(run, f"rounds/{row.number}/")).content.decode()
    assert "<bdi>Ada</bdi> asked for this:" in text
    assert "<script>alert" not in text


def test_the_number_of_queries_does_not_grow_with_instructions_and_reviews(
    as_editor, editor, viewer, run, django_user_model
):
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert as_editor.get(page(run)).status_code == 200
        return len(seen)

    queries()
    told(run)
    told(run, used_in_round=1)
    ReviewRequest.objects.create(project=run.project, run=run, reviewer=viewer, asked_by=editor)
    few = queries()
    for number in range(40):
        told(run)
        told(run, used_in_round=1)
        person = django_user_model.objects.create_user(f"p{number}@example.org")
        ReviewRequest.objects.create(project=run.project, run=run, reviewer=person, asked_by=person)
    assert queries() == few


def test_the_export_has_all_of_them(as_viewer, run):
    told(run, text="used", used_in_round=2)
    told(run, text="waits")
    told(run, text="withdrawn", withdrawn_at=run.created_at)
    answer = as_viewer.get(reverse("run_export", args=["alpha", run.pk, "json"]))
    found = json.loads(b"".join(answer.streaming_content))["instructions"]
    assert [(entry["text"], entry["used_in_round"], entry["author_name"]) for entry in found] == [
        ("used", 2, "Ada"),
        ("waits", None, "Ada"),
        ("withdrawn", None, "Ada"),
    ]
    assert [entry["withdrawn_at"] is not None for entry in found] == [False, False, True]
