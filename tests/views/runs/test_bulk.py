"""Bulk actions on runs, and their messages."""

import pytest
from django.contrib.messages import get_messages
from django.urls import reverse
from django.utils import timezone

from refinement.models import AuditEntry, Run, RunTag
from tests.views.runs.listed import runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return reverse("run_bulk", args=[project.slug])


def send(client, address, action, runs, **more):
    numbers = [getattr(run, "pk", run) for run in runs]
    return client.post(address, {"action": action, "run": numbers, "query": "outcome=FAIL", **more})


def told(answer):
    return [str(message) for message in get_messages(answer.wsgi_request)]


def tags_of(run):
    return list(run.tags.values_list("name", flat=True))


def test_tags_are_added_to_those_that_are_there(as_editor, address, project):
    first, second = *runs_of(project, tags=("old",)), *runs_of(project)
    answer = send(as_editor, address, "tag", [first, second], tags="docs, release")
    assert answer.headers["Location"] == f"/p/{project.slug}/runs/?outcome=FAIL"
    assert (tags_of(first), tags_of(second)) == (["docs", "old", "release"], ["docs", "release"])
    assert told(answer) == ["2 runs were tagged."]
    assert AuditEntry.objects.filter(action="run.tag").count() == 2


def test_tags_are_taken_off_those_that_have_them(as_editor, address, project):
    first, second = *runs_of(project, tags=("docs", "old")), *runs_of(project)
    answer = send(as_editor, address, "untag", [first, second], tags="docs")
    assert tags_of(first) == ["old"]
    assert told(answer) == [
        "1 run was untagged.",
        f"1 run was not changed. Run {second.pk} does not have the tag docs.",
    ]


@pytest.mark.parametrize("action", ["tag", "untag"])
@pytest.mark.parametrize("tags", ["", " , ", "x" * 60])
def test_a_tag_that_is_none_changes_nothing(as_editor, address, project, action, tags):
    [run] = runs_of(project, tags=("old",))
    [words] = told(send(as_editor, address, action, [run], tags=tags))
    assert words.startswith("Nothing was changed. ")
    assert tags_of(run) == ["old"]


def test_a_run_holds_only_so_many_tags(as_editor, address, project):
    [run] = runs_of(project, tags=tuple(f"t{number}" for number in range(20)))
    [words] = told(send(as_editor, address, "tag", [run], tags="one-more"))
    assert "would have more than 20 tags" in words
    assert RunTag.objects.count() == 20


def test_what_runs_is_cancelled_and_the_rest_says_why_not(as_editor, address, project, editor):
    [going] = runs_of(project, status="running")
    done = runs_of(project, 4)
    answer = send(as_editor, address, "cancel", [going, *done])
    going.refresh_from_db()
    assert (going.outcome, going.why) == ("CANCELLED", "Stopped by Edgar Editor after round 2.")
    success, warning = told(answer)
    assert success == "1 run was stopped."
    assert warning.startswith(f"4 runs were not changed. Run {done[0].pk} is finished; it cannot be stopped.")
    assert warning.endswith("And 1 more.")


def test_finished_runs_are_archived_and_brought_back(as_editor, address, project):
    done, going = *runs_of(project), *runs_of(project, status="running")
    answer = send(as_editor, address, "archive", [done, going])
    assert told(answer)[0] == "1 run was archived."
    assert "Stop it or let it finish" in told(answer)[1]
    assert list(Run.objects.filter(archived_at__isnull=False)) == [done]
    assert "already archived" in told(send(as_editor, address, "archive", [done]))[-1]
    assert told(send(as_editor, address, "unarchive", [done]))[-1] == "1 run was unarchived."
    assert not Run.objects.filter(archived_at__isnull=False).exists()


def test_runs_of_another_project_are_out_of_reach(as_editor, address, project, other_project):
    [foreign] = runs_of(other_project, status="running")
    for action in ("cancel", "archive", "tag"):
        [words] = told(send(as_editor, address, action, [foreign], tags="x"))[-1:]
        assert f"Run {foreign.pk} is not in this project." in words
    foreign.refresh_from_db()
    assert (foreign.status, foreign.archived_at, tags_of(foreign)) == ("running", None, [])


@pytest.mark.parametrize("action", ["tag", "untag", "cancel", "archive", "unarchive"])
def test_viewers_change_nothing(as_viewer, address, project, action):
    [run] = runs_of(project, archived_at=timezone.now() if action == "unarchive" else None)
    before = Run.objects.values().get(pk=run.pk)
    answer = send(as_viewer, address, action, [run], tags="x")
    assert answer.status_code == 403
    assert Run.objects.values().get(pk=run.pk) == before


def test_viewers_compare_and_export(as_viewer, address, project):
    first, second = runs_of(project, 2)
    answer = send(as_viewer, address, "compare", [first, second])
    assert answer.headers["Location"] == f"/p/{project.slug}/runs/compare/?run={first.pk}&run={second.pk}"
    answer = send(as_viewer, address, "export_csv", [first])
    assert answer.headers["Location"] == f"/p/{project.slug}/runs/export/csv/?run={first.pk}"
    assert "/export/jsonl/" in send(as_viewer, address, "export_jsonl", [first]).headers["Location"]


@pytest.mark.parametrize("count", [1, 6])
def test_two_to_five_are_compared(as_viewer, address, project, count):
    [words] = told(send(as_viewer, address, "compare", runs_of(project, count)))
    assert words == f"Select 2 to 5 runs to compare; you selected {count}."


@pytest.mark.parametrize("chosen", [[], ["x"], ["-1"], ["9" * 30]])
def test_no_choice_is_said(as_editor, address, project, chosen):
    [words] = told(send(as_editor, address, "archive", chosen))
    assert words.startswith("No runs selected.")


def test_an_unknown_action_is_said(as_editor, address, project):
    [words] = told(send(as_editor, address, "explode", runs_of(project)))
    assert words.startswith("Choose an action")


def test_outsiders_and_other_methods(as_outsider, as_editor, address, project):
    assert send(as_outsider, address, "archive", runs_of(project)).status_code == 404
    assert as_editor.get(address).status_code == 405
