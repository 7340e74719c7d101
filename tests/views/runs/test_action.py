"""An editor's actions on a run's page, in every state, with and without scripts."""

import pytest

from refinement.models import AuditEntry, Run
from tests.execution.lifecycle.given import STATES, Scene
from tests.views.runs.finished import TASK, finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
GOING = {"queued", "running", "waiting"}
# action: the states in which it is possible, and the words that say it was done
ACTIONS = {
    "cancel": (GOING | {"paused"}, "Run stopped"),
    "pause": (GOING, "Run paused"),
    "resume": ({"paused"}, "Run resumed"),
    "retry": ({"ERROR"}, "Run retried"),
    "continue": ({"PASS", "FAIL", "DONE", "CANCELLED"}, "2 more rounds"),
}
DATA = {"continue": {"rounds": "2"}}


@pytest.fixture
def scene(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    return Scene(ollama_server, project)


def address(run, action):
    return f"/p/{run.project.slug}/runs/{run.pk}/do/{action}/"


def state_of(run):
    run.refresh_from_db()
    return run.outcome or run.status


@pytest.mark.parametrize("script", [False, True], ids=["plain", "htmx"])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("state", STATES)
def test_an_action_is_done_or_refused_in_words(as_editor, scene, state, action, script):
    run = scene.in_state(state)
    possible, words = ACTIONS[action]
    headers = HTMX if script else {}
    answer = as_editor.post(address(run, action), DATA.get(action, {}), headers=headers, follow=not script)
    text = answer.content.decode()
    if state in possible:
        assert answer.status_code == 200
        assert words in text
        assert state_of(run) != state
    else:
        assert answer.status_code == 422
        assert f"Run {run.pk} " in text
        assert state_of(run) == state
    assert ("<html" in text) is not script


@pytest.mark.parametrize("state", STATES)
def test_a_run_is_paused_after_its_round_or_not_after_all(as_editor, scene, state):
    run = scene.in_state(state)
    asked = as_editor.post(address(run, "pause-later"), follow=True)
    run.refresh_from_db()
    assert (asked.status_code, run.pause_after_round) == ((200, True) if state in GOING else (422, False))
    as_editor.post(address(run, "go-on"))
    run.refresh_from_db()
    assert not run.pause_after_round


@pytest.mark.parametrize(
    "action", [*ACTIONS, "pause-later", "go-on", "rerun", "archive", "unarchive", "rename", "tags"]
)
def test_a_viewer_may_not_and_an_outsider_finds_nothing(as_viewer, as_outsider, as_owner, project, action):
    run = finished_run(project)
    before = Run.objects.values().get(pk=run.pk)
    assert as_viewer.post(address(run, action), {"rounds": "2"}).status_code == 403
    assert as_outsider.post(address(run, action), {"rounds": "2"}).status_code == 404
    assert as_owner.get(address(run, action)).status_code == 405
    assert Run.objects.values().get(pk=run.pk) == before


def test_an_unknown_action_is_not_found(as_owner, project):
    assert as_owner.post(address(finished_run(project), "explode")).status_code == 404


@pytest.mark.parametrize("typed", ["", "x", "0", "51", "-1", "1.5", "٣"])
def test_a_wrong_number_of_rounds_is_said_beside_the_field(as_editor, project, typed):
    run = finished_run(project)
    answer = as_editor.post(address(run, "continue"), {"rounds": typed})
    text = answer.content.decode()
    assert answer.status_code == 422
    assert 'id="more-rounds-wrong"' in text
    assert f'value="{typed}"' in text
    assert state_of(run) == "FAIL"


def test_tags_are_saved_and_wrong_ones_kept_for_mending(as_editor, project):
    run = finished_run(project)
    as_editor.post(address(run, "tags"), {"tags": "docs, release 2.4, docs"})
    assert [tag.name for tag in run.tags.all()] == ["docs", "release 2.4"]
    long = "x" * 60
    answer = as_editor.post(address(run, "tags"), {"tags": long})
    assert answer.status_code == 422
    assert long in answer.content.decode()
    assert "longer than 50 characters" in answer.content.decode()
    assert run.tags.count() == 2


def test_archive_and_back(as_editor, project):
    run = finished_run(project)
    text = as_editor.post(address(run, "archive"), follow=True).content.decode()
    assert "Run archived." in text
    assert "Unarchive" in text
    run.refresh_from_db()
    assert run.archived_at is not None
    assert "Archive" in as_editor.post(address(run, "unarchive"), follow=True).content.decode()
    run.refresh_from_db()
    assert run.archived_at is None


@pytest.mark.parametrize("script", [False, True], ids=["plain", "htmx"])
def test_running_it_again_leads_to_the_new_run(as_editor, project, script):
    run = finished_run(project)
    answer = as_editor.post(address(run, "rerun"), headers=HTMX if script else {})
    again = Run.objects.latest("pk")
    target = answer.headers["HX-Redirect"] if script else answer.headers["Location"]
    assert target == f"/p/{project.slug}/runs/{again.pk}/"
    assert again.rerun_of == run
    text = as_editor.get(target).content.decode()
    assert f"the same task, rubric and models as run {run.pk}" in text


def test_renaming(as_editor, as_viewer, project):
    run = finished_run(project)
    assert as_viewer.post(address(run, "rename"), {"title": "Mine"}).status_code == 403
    as_editor.post(address(run, "rename"), {"title": "  Ingest \n guide "})
    run.refresh_from_db()
    assert run.title == "Ingest guide"
    entry = AuditEntry.objects.get(action="run.rename")
    assert (entry.before, entry.after) == ({"title": TASK}, {"title": "Ingest guide"})
    refused = as_editor.post(address(run, "rename"), {"title": "x" * 161})
    assert refused.status_code == 422
    assert "at most 160 characters" in refused.content.decode()
    as_editor.post(address(run, "rename"), {"title": " "})
    run.refresh_from_db()
    assert run.title == TASK, "an empty title is made from the task again"
