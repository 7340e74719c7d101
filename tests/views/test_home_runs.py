"""What a project's home shows of its runs, and its first steps."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.selectors.projects import home
from refinement.services.people.accounts import project_create
from refinement.views.projects.home import has_own_model
from tests.views.runs.listed import a_version, runs_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(project):
    return f"/p/{project.slug}/"


def shown(answer, part):
    return [entry.run.title for entry in getattr(answer.context["home"], part)]


def test_runs_are_where_they_belong(as_viewer, address, project, other_project):
    for status, title in (
        ("running", "At work"),
        ("queued", "Next"),
        ("waiting", "Held up"),
        ("paused", "Paused one"),
    ):
        runs_of(project, status=status, title=title)
    runs_of(project, title="Done")
    runs_of(
        project,
        title="Broken",
        outcome="ERROR",
        stop_reason="judge_failed",
        why="The judge failed: no reply.",
    )
    runs_of(project, title="Away", archived_at=timezone.now())
    runs_of(other_project, title="Foreign")
    answer = as_viewer.get(address)
    page = answer.content.decode()
    assert shown(answer, "going") == ["At work", "Next"]
    assert shown(answer, "waiting") == ["Held up"]
    assert shown(answer, "yours") == ["Paused one", "Broken"]
    assert shown(answer, "recent") == ["Broken", "Done"]
    for words in ("ollama does not answer", "The next try is", "The judge failed: no reply.", "Running now"):
        assert words in page
    assert "Foreign" not in page
    assert ">Away<" not in page


def test_an_old_failure_waits_for_nobody(as_viewer, address, project):
    long_ago = timezone.now() - home.FAILED_SINCE - timedelta(minutes=1)
    runs_of(project, outcome="ERROR", stop_reason="judge_failed", finished_at=long_ago)
    assert shown(as_viewer.get(address), "yours") == []


def test_a_newcomer_is_led_to_an_example(as_editor, as_viewer, address, project):
    page = as_editor.get(address).content.decode()
    assert "First steps" in page
    assert f'action="/p/{project.slug}/example/"' in page
    assert f'href="/p/{project.slug}/members/"' in page
    assert "Running now" not in page
    assert f'action="/p/{project.slug}/example/"' not in as_viewer.get(address).content.decode()


def test_steps_that_are_done_are_ticked(as_owner, owner):
    project = project_create(owner=owner, name="Fresh")
    answer = as_owner.get(f"/p/{project.slug}/")
    assert (answer.context["home"].has_runs, answer.context["home"].has_own_rubric) == (False, False)
    type(project).objects.filter(pk=project.pk).update(created_at=timezone.now() - timedelta(days=1))
    runs_of(project)
    answer = as_owner.get(f"/p/{project.slug}/")
    assert (answer.context["home"].has_runs, answer.context["home"].has_own_rubric) == (True, True)
    assert "Run the example" not in answer.content.decode()


def a_system(*endpoints):
    states = [{"name": name, "ok": ok, "message": ""} for name, ok in endpoints]
    return [
        ("Queue", {"ok": True, "message": ""}, True),
        ("Model endpoints", {"ok": True, "message": "", "endpoints": states}, False),
    ]


@pytest.mark.parametrize(
    ("endpoints", "gguf", "own"),
    [
        ([("ollama", False), ("embedded", True)], "", False),
        ([("ollama", True), ("embedded", True)], "", True),
        ([("embedded", True)], "/models/large.gguf", True),
        ([("embedded", False)], "/models/large.gguf", False),
        ([], "", False),
    ],
)
def test_a_model_of_ones_own_is_a_step_of_its_own(monkeypatch, endpoints, gguf, own):
    monkeypatch.setenv("WIGGUM_GGUF", gguf)
    assert has_own_model(a_system(*endpoints)) is own


def test_only_administrators_are_led_to_the_form_for_model_servers(as_owner, owner, address, monkeypatch):
    monkeypatch.setattr("refinement.views.projects.home.system_state", lambda: a_system(("embedded", True)))
    assert "An administrator of this instance adds model servers" in as_owner.get(address).content.decode()
    type(owner).objects.filter(pk=owner.pk).update(is_superuser=True)
    assert 'href="/administration/endpoints/new/"' in as_owner.get(address).content.decode()


def test_the_number_of_queries_does_not_grow_with_runs(as_viewer, address, project):
    def queries():
        with CaptureQueriesContext(connection) as found:
            as_viewer.get(address)
        return len(found)

    for status in ("running", "queued", "waiting", "paused", "finished"):
        runs_of(project, status=status)
    queries()
    few = queries()
    for number in range(5):
        for status in ("running", "queued", "waiting", "paused", "finished"):
            runs_of(project, 3, status=status, version=a_version(project, f"rubric-{number}"), tags=("docs",))
    assert queries() == few


def test_every_list_is_bounded(as_viewer, address, project):
    for status in ("running", "queued", "waiting", "paused", "finished"):
        runs_of(project, 15, status=status)
    answer = as_viewer.get(address)
    counts = {part: len(shown(answer, part)) for part in ("going", "waiting", "yours", "recent")}
    assert counts == {"going": 8, "waiting": 6, "yours": 6, "recent": 8}


def test_hostile_words_are_shown_as_text(as_viewer, address, project):
    runs_of(project, title="<script>alert(1)</script>")
    runs_of(project, status="waiting", title="x")
    assert "<script>alert" not in as_viewer.get(address).content.decode()
