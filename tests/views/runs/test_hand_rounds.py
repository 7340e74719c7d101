"""The editor of a round's candidate: what it saves and refuses, and concurrent edits."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from refinement.models import Round, Run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project) -> Run:
    return finished_run(project)


def newest(run: Run) -> int:
    return run.rounds.order_by("-number").first().number


def address(run: Run, number: int = 1) -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/rounds/{number}/edit/"


def send(client: Client, run: Run, **more: object):
    values = {"text": "An edited text.", "rounds": "2", "newest": newest(run), **more}
    return client.post(address(run), values)


def test_the_page_holds_the_text_as_it_is(as_editor, run):
    Round.objects.filter(run=run, number=1).update(candidate="\n</textarea><script>x</script>\n  indented")
    text = as_editor.get(address(run)).content.decode()
    assert "&lt;/textarea&gt;&lt;script&gt;" in text
    assert "<script>x" not in text
    # A browser drops the first line end after the tag; the text's own comes after it.
    assert ">\n\n&lt;/textarea&gt;" in text
    assert 'name="rounds"' in text


def test_it_is_saved_and_the_new_round_follows(as_editor, editor, run):
    number = newest(run) + 1
    answer = send(as_editor, run, text="Line one.\r\nLine two.")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/p/alpha/runs/{run.pk}/rounds/{number}/"
    row = Round.objects.get(run=run, number=number)
    assert (row.candidate, row.author, row.base_round) == ("Line one.\nLine two.", editor, 1)
    text = as_editor.get(answer.headers["Location"]).content.decode()
    assert f"Your text is round {number}. The judge is next." in text
    assert "Edited by Edgar Editor" in text
    assert "<bdi>Edited by Edgar Editor</bdi>" in text  # in the strip


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"text": ""}, "Enter a text."),
        ({"text": " \r\n "}, "The text is empty."),
        ({"rounds": ""}, "Enter 1 to 50 rounds, including this one."),
        ({"rounds": "51"}, "Enter 1 to 50 rounds, including this one."),
        ({"rounds": "many"}, "Enter 1 to 50 rounds, including this one."),
        ({"newest": "x"}, "This page is out of date."),
    ],
)
def test_what_is_refused_comes_back_with_its_reason(as_editor, run, more, words):
    before = run.rounds.count()
    answer = send(as_editor, run, **more)
    assert answer.status_code == 422
    text = answer.content.decode()
    assert words in text
    if "text" not in more:
        assert "An edited text." in text
    assert run.rounds.count() == before


def test_the_same_text_is_refused(as_editor, run):
    answer = send(as_editor, run, text=Round.objects.get(run=run, number=1).candidate.replace("\n", "\r\n"))
    assert answer.status_code == 422
    assert "The text is the same as round 1. Change it before saving." in answer.content.decode()


def test_the_second_of_two_is_told_and_keeps_what_they_typed(as_editor, as_owner, run):
    Run.objects.filter(pk=run.pk).update(status="paused", outcome="", stop_reason="", finished_at=None)
    seen = newest(run)
    assert send(as_editor, run, text="Edgar's.", then="stay").status_code == 302
    answer = send(as_owner, run, text="Olivia's <b>.", newest=seen)
    text = answer.content.decode()
    assert answer.status_code == 409
    assert f"Edgar Editor saved round {seen + 1} while you were editing." in text
    assert "Olivia&#x27;s &lt;b&gt;." in text
    assert f'name="newest" value="{seen + 1}"' in text
    assert run.rounds.count() == seen + 1


def test_a_run_at_work_is_not_edited_under_its_worker(as_editor, run):
    Run.objects.filter(pk=run.pk).update(status="running", outcome="", stop_reason="", finished_at=None)
    assert "Pause it" in as_editor.get(address(run)).content.decode()
    answer = send(as_editor, run)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "is running; pause it before editing a round." in text
    assert "An edited text." in text


def test_a_paused_run_may_stay_paused_or_go_on(as_editor, run):
    Run.objects.filter(pk=run.pk).update(status="paused", outcome="", stop_reason="", finished_at=None)
    text = as_editor.get(address(run)).content.decode()
    assert "Save, stay paused" in text
    assert 'name="rounds"' not in text
    assert send(as_editor, run, then="stay").status_code == 302
    run.refresh_from_db()
    assert run.status == "paused"


def test_unknown_rounds_and_other_projects_are_not_found(as_editor, as_outsider, run, other_project):
    assert as_editor.get(address(run, 99)).status_code == 404
    assert as_editor.post(address(run, 99), {"text": "x"}).status_code == 404
    assert as_outsider.get(address(run).replace("/alpha/", "/beta/")).status_code == 404


def test_only_those_who_may_edit_see_the_way_there(as_viewer, as_editor, run):
    page = f"/p/alpha/runs/{run.pk}/rounds/1/"
    assert "/edit/" not in as_viewer.get(page).content.decode()
    assert address(run) in as_editor.get(page).content.decode()
    assert address(run) in as_editor.get(page, headers={"HX-Request": "true"}).content.decode()


def test_exports_name_who_edited(as_editor, run):
    send(as_editor, run)
    number = newest(run)
    document = as_editor.get(reverse("run_export", args=["alpha", run.pk, "json"]))
    report = as_editor.get(reverse("run_export", args=["alpha", run.pk, "md"]))
    whole = json.loads(b"".join(document.streaming_content))
    row = next(entry for entry in whole["rounds"] if entry["number"] == number)
    assert (row["origin"], row["author_name"], row["base_round"]) == ("hand", "Edgar Editor", 1)
    assert "an edit by Edgar Editor" in b"".join(report.streaming_content).decode()


def test_the_comparison_and_a_long_strip_name_who_edited(as_editor, project):
    run = finished_run(project, [f"{number}" for number in range(1, 10)])
    send(as_editor, run)
    number = newest(run)
    page = as_editor.get(f"/p/alpha/runs/{run.pk}/diff/?a=1&b={number}", follow=True).content.decode()
    assert "dited by Edgar Editor" in page
    strip = as_editor.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert "round-strip-compact" in strip
    assert f'title="Round {number}, edited by Edgar Editor, ' in strip
