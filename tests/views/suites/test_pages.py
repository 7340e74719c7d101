"""Suites in the browser: list, page, task, versions, settings, export and tasks from runs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from refinement.interchange.suites.tables import tasks_from_csv, tasks_from_jsonl
from refinement.interchange.suites.yaml import suite_from_yaml
from refinement.models import AuditEntry
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.suites.editing import suite_archive, version_save
from tests.interchange.test_suite_files import FULL
from tests.services.suites.given import a_suite, a_task
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def at(name, project, *parts):
    return reverse(name, args=[project.slug, *parts])


def text(answer):
    return answer.content.decode()


def queries(client, address):
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as made:
        assert client.get(address).status_code == 200
    return len(made)


def test_the_list_names_each_suite_once(as_viewer, project, other_project, editor):
    version = a_suite(project, description="For every release.")
    version_save(suite=version.suite, tasks=(FULL,), edited_from=1, user=editor)
    a_suite(other_project, name="Elsewhere")
    gone = a_suite(project, name="Old")
    suite_archive(suite=gone.suite, user=editor)
    answer = as_viewer.get(at("suite_list", project))
    assert [entry.version.suite.name for entry in answer.context["suites"]] == ["Release notes"]
    assert answer.context["suites"][0].version.task_count == 1
    assert "For every release." in text(answer)
    assert "Show 1 archived" in text(answer)
    assert "New suite" not in text(answer)
    archived = as_viewer.get(at("suite_list", project), {"archived": "1", "q": "OL"}, headers=HTMX)
    assert [entry.version.suite.name for entry in archived.context["suites"]] == ["Old"]
    assert "<html" not in text(archived)


def test_an_empty_project_says_how_to_begin(as_editor, as_viewer, project):
    assert "Choose runs" in text(as_editor.get(at("suite_list", project)))
    assert "Editors of this project" in text(as_viewer.get(at("suite_list", project)))


@pytest.mark.parametrize("name", ["suite_list", "suite_page", "suite_versions", "suite_edit"])
def test_more_rows_cost_no_more_queries(as_editor, project, editor, name):
    suite = a_suite(project, FULL).suite
    address = at(name, project, *([] if name == "suite_list" else [suite.slug]))
    before = queries(as_editor, address)
    for number in range(3):
        a_suite(project, name=f"More {number}")
        tasks = (FULL, *(a_task(f"t{n}") for n in range(number + 5)))
        version_save(suite=suite, tasks=tasks, edited_from=number + 1, user=editor)
    assert queries(as_editor, address) == before


def test_the_page_says_what_there_is(as_viewer, project):
    suite = a_suite(project, FULL, a_task("other", task_type="research"), description="Why").suite
    page = text(as_viewer.get(at("suite_page", project, suite.slug)))
    for words in ("how-to", "research", "starting text, 1 source, 1 check, notes", "none yet", "Why"):
        assert words in page
    found = as_viewer.get(at("suite_page", project, suite.slug), {"q": "OTHER"}, headers=HTMX)
    assert [task.key for task in found.context["tasks"]] == ["other"]
    assert "Edit tasks" not in page


def test_the_tasks_are_shown_a_hundred_at_a_time(as_viewer, project):
    suite = a_suite(project, *(a_task(f"t{number}") for number in range(130))).suite
    address = at("suite_page", project, suite.slug)
    assert len(as_viewer.get(address).context["tasks"]) == 100
    assert len(as_viewer.get(address, {"page": "2"}).context["tasks"]) == 30


def test_a_task_is_escaped_everywhere(as_editor, project, editor):
    suite = a_suite(
        project, a_task("bad", title=HOSTILE[:150], task=HOSTILE, expected=HOSTILE), name=HOSTILE[:150]
    ).suite
    version_save(
        suite=suite, tasks=(a_task("bad", title="x", task="y"),), edited_from=1, user=editor, note=HOSTILE
    )
    version_save(
        suite=suite, tasks=(a_task("bad", title=HOSTILE[:99], task=HOSTILE, seed=HOSTILE),), edited_from=2
    )
    for name, *parts in (
        ("suite_list",),
        ("suite_page", suite.slug),
        ("suite_task", suite.slug, "bad"),
        ("suite_task_edit", suite.slug, "bad"),
        ("suite_edit", suite.slug),
        ("suite_versions", suite.slug),
        ("suite_compare", suite.slug),
    ):
        page = text(as_editor.get(at(name, project, *parts)))
        assert '<script>alert("x")' not in page
        assert "<img src=x" not in page


def test_a_new_suite_continues_in_its_table(as_editor, project):
    answer = as_editor.post(at("suite_new", project), {"name": "Ops"})
    assert answer.url == at("suite_edit", project, "ops")
    assert "New task" in text(as_editor.get(answer.url))
    assert as_editor.post(at("suite_new", project), {"name": " "}).status_code == 422


def test_settings_archive_and_restore(as_editor, as_viewer, project, editor):
    suite = a_suite(project).suite
    where = at("suite_settings", project, suite.slug)
    as_editor.post(where, {"name": "Renamed", "description": "Now"})
    suite.refresh_from_db()
    assert (suite.name, suite.description) == ("Renamed", "Now")
    assert as_editor.post(where, {"name": ""}).status_code == 422
    as_editor.post(at("suite_archive", project, suite.slug), {"archived": "1"})
    assert "archived" in text(as_viewer.get(at("suite_page", project, suite.slug)))
    as_editor.post(at("suite_archive", project, suite.slug), {"archived": "0"})
    version_save(suite=suite, tasks=(FULL,), edited_from=1, user=editor)
    restore = at("suite_restore", project, suite.slug)
    answer = as_editor.post(restore, {"version": "1", "edited_from": "1"})
    assert "a=1&b=2" in answer.url
    assert suite.versions.count() == 2
    as_editor.post(restore, {"version": "1", "edited_from": "2"})
    assert suite.versions.count() == 3
    as_editor.post(restore, {"version": "x"})
    as_editor.post(restore, {"version": "3", "edited_from": "3"})
    assert suite.versions.count() == 3
    assert AuditEntry.objects.filter(action__startswith="suite.").count() == 7


def test_what_a_version_changed(as_viewer, project, editor):
    suite = a_suite(project, a_task("a"), a_task("b")).suite
    version_save(
        suite=suite, tasks=(a_task("a", task="Explain it well."), a_task("c")), edited_from=1, user=editor
    )
    page = text(as_viewer.get(at("suite_compare", project, suite.slug)))
    assert "1 added, 1 removed, 1 changed" in page
    assert "<ins>" in page
    assert "same tasks" not in page
    assert as_viewer.get(at("suite_compare", project, suite.slug), {"b": "9"}).status_code == 404
    old = text(as_viewer.get(at("suite_version", project, suite.slug, 1)))
    assert "You are reading version 1 of 2" in old


def test_exports_come_back(as_viewer, project):
    version = a_suite(project, FULL, a_task("b"))
    tasks = tasks_of(version)

    def exported(form):
        answer = as_viewer.get(at("suite_export", project, version.suite.slug, form))
        assert f"release-notes-v1.{form}" in answer["Content-Disposition"]
        return text(answer)

    assert suite_from_yaml(exported("yaml")).tasks == tasks
    assert tasks_from_csv(exported("csv"))[0] == tasks
    assert tasks_from_jsonl(exported("jsonl")) == tasks
    assert as_viewer.get(at("suite_export", project, version.suite.slug, "exe")).status_code == 404


def test_runs_are_added_from_the_list(as_editor, as_viewer, project):
    first, second = (
        finished_run(project, task="Restore a backup."),
        finished_run(project, task="Rotate keys."),
    )
    bulk = at("run_bulk", project)
    onward = as_editor.post(bulk, {"action": "suite", "run": [first.pk, second.pk]})
    assert onward.url == f"{at('suite_collect', project)}?run={first.pk}&run={second.pk}"
    assert as_viewer.post(bulk, {"action": "suite", "run": [first.pk]}).status_code == 403
    page = text(as_editor.get(onward.url))
    assert "Add 2 runs to a suite" in page
    post = {"run": [first.pk, second.pk], "suite": "new", "name": "Ops"}
    assert as_editor.post(at("suite_collect", project), {**post, "name": ""}).status_code == 422
    answer = as_editor.post(at("suite_collect", project), post, follow=True)
    assert "2 tasks were added to Ops." in text(answer)
    again = as_editor.post(at("suite_collect", project), {**post, "suite": "ops"}, follow=True)
    assert "in the suite already" in text(again)
    assert project.suites.get().versions.count() == 1
    assert as_editor.get(at("suite_collect", project)).url == at("run_list", project)
    assert "Add to suite" in text(as_editor.get(at("run_page", project, first.pk)))
    assert "Add to suite" not in text(as_viewer.get(at("run_page", project, first.pk)))


def test_other_projects_suites_are_not_there(as_outsider, as_editor, project, other_project):
    mine, theirs = a_suite(project).suite, a_suite(other_project, name="Theirs").suite
    assert as_outsider.get(at("suite_page", project, mine.slug)).status_code == 404
    assert as_editor.get(at("suite_page", project, theirs.slug)).status_code == 404
    assert as_editor.post(at("suite_edit", project, theirs.slug), {"edited_from": "1"}).status_code == 404
