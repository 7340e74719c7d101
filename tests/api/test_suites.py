"""Suites by API: list, create, save with an ETag, versions, tasks, runs and files."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.interchange.suites.tables import tasks_to_jsonl
from refinement.interchange.suites.types import SuiteText
from refinement.interchange.suites.yaml import suite_from_yaml, suite_to_yaml
from refinement.selectors.suites.tasks import suite_text, tasks_of
from tests.api.conftest import ROOT
from tests.interchange.test_suite_files import FULL
from tests.services.suites.given import a_suite, a_task
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
SUITES = "/projects/alpha/suites"
ONE = f"{SUITES}/release-notes"
FILES = "/projects/alpha/suite-files"


def send(api, address, text, **headers):
    """Posts a file."""
    named = {"Authorization": f"Bearer {api.token}", **headers}
    sent = {"data": text, "content_type": "application/octet-stream"}
    return api.client.generic("POST", f"{ROOT}{address}", headers=named, **sent)


def test_suites_are_listed_and_paged(api_viewer, project, other_project):
    for name in ("One", "Two", "Three"):
        a_suite(project, name=name)
    a_suite(other_project)
    first = api_viewer.get(f"{SUITES}?limit=2").json()
    assert [line["name"] for line in first["items"]] == ["One", "Two"]
    second = api_viewer.get(f"{SUITES}?limit=2&cursor={first['next']}").json()
    assert ([line["name"] for line in second["items"]], second["next"]) == (["Three"], None)
    assert second["items"][0]["tasks"] == 2
    assert [line["slug"] for line in api_viewer.get(f"{SUITES}?q=tw").json()["items"]] == ["two"]


def test_the_list_has_a_fixed_number_of_queries(api_viewer, project):
    def count():
        with CaptureQueriesContext(connection) as made:
            assert api_viewer.get(SUITES).status_code == 200
        return len(made)

    a_suite(project)
    before = count()
    for number in range(4):
        a_suite(project, name=f"More {number}")
    assert count() == before


def test_a_suite_is_created_and_saved(api_editor, project):
    body = {"name": "Release notes", "tasks": [{"task": "Say it.", "tags": ["a"]}]}
    made = api_editor.post(SUITES, body)
    assert (made.status_code, made.json()["version"], made.json()["tasks"]) == (201, 1, 1)
    assert made.headers["Location"].endswith(ONE)
    tag = made.headers["ETag"]
    assert api_editor.put(ONE, {"tasks": []}).status_code == 428
    tasks = [{"key": "say-it", "task": "Say it."}, {"task": "More."}]
    saved = api_editor.put(ONE, {"tasks": tasks, "name": "New", "note": "Why"}, If_Match=tag)
    assert (saved.status_code, saved.json()["version"], saved.json()["name"]) == (200, 2, "New")
    late = api_editor.put(ONE, {"tasks": []}, If_Match=tag)
    assert (late.status_code, late.headers["ETag"]) == (412, saved.headers["ETag"])
    same = api_editor.put(ONE, {"tasks": tasks}, If_Match=saved.headers["ETag"])
    assert same.json()["version"] == 2
    assert project.suites.get().versions.count() == 2


def test_every_problem_of_a_body_is_told_at_its_task(api_editor, project):
    body = {"name": "x", "tasks": [{"task": "fine"}, {"key": "a b", "task": ""}, {"task": 1, "colour": 2}]}
    wrong = api_editor.post(SUITES, body)
    assert wrong.status_code == 422
    assert sorted({entry["where"] for entry in wrong.json()["errors"]}) == ["body.tasks.1", "body.tasks.2"]
    deep = {"checks": [{"kind": "is-json", "key": "x", "parameters": {}}]}
    for _ in range(90):
        deep = {"task": deep}
    assert api_editor.post(SUITES, {"name": "x", "tasks": [deep]}).status_code == 422
    two = {"name": "x", "tasks": [{"key": "a", "task": "x"}, {"key": "a", "task": "y"}]}
    assert "used by task 1" in api_editor.post(SUITES, two).json()["errors"][0]["message"]
    assert not project.suites.exists()


def test_a_bad_name_saves_no_tasks(api_editor, project):
    a_suite(project)
    tag = api_editor.get(ONE).headers["ETag"]
    assert api_editor.put(ONE, {"tasks": [], "name": "  "}, If_Match=tag).status_code == 422
    assert project.suites.get().versions.count() == 1


def test_tasks_and_versions_are_read(api_viewer, api_editor, project):
    a_suite(project, FULL, a_task("b"), a_task("c"))
    first = api_viewer.get(f"{ONE}/tasks?limit=2").json()
    assert [task["key"] for task in first["items"]] == ["restore", "b"]
    assert first["items"][0]["sources"] == [{"name": "notes.txt", "text": "'=1+1\nFacts: #1"}]
    assert first["items"][0]["checks"][0]["weight"] == "0.5"
    second = api_viewer.get(f"{ONE}/tasks?limit=2&cursor={first['next']}").json()
    assert [task["key"] for task in second["items"]] == ["c"]
    tag = api_editor.get(ONE).headers["ETag"]
    api_editor.put(ONE, {"tasks": []}, If_Match=tag)
    assert api_viewer.get(f"{ONE}/tasks").json()["items"] == []
    assert api_viewer.get(f"{ONE}/tasks/b?version=1").json()["task"] == "Explain b."
    assert api_viewer.get(f"{ONE}/tasks/b").status_code == 404
    versions = api_viewer.get(f"{ONE}/versions").json()["items"]
    assert [(line["number"], line["tasks"]) for line in versions] == [(2, 0), (1, 3)]
    assert api_viewer.get(f"{ONE}/versions/1").json()["newest"] == 2
    tag = api_editor.get(ONE).headers["ETag"]
    assert api_editor.post(f"{ONE}/restore", {"version": 1}, If_Match=tag).json()["version"] == 3
    assert api_editor.post(f"{ONE}/archive").json()["archived_at"]
    assert api_editor.post(f"{ONE}/unarchive").json()["archived_at"] is None


def test_runs_are_added(api_editor, project):
    a_suite(project)
    run = finished_run(project, task="Rotate keys.")
    result = api_editor.post(f"{ONE}/runs", {"runs": [run.pk, run.pk + 1]}).json()
    assert (result["added"], len(result["refused"]), result["suite"]["version"]) == (["rotate-keys"], 1, 2)


def test_files_come_and_go(api_editor, api_viewer, project):
    text = suite_to_yaml(SuiteText("Release notes", "Why", (FULL,)))
    made = send(api_editor, f"{FILES}?slug=release-notes", text)
    assert made.status_code == 201
    assert api_viewer.get(f"{ONE}/export/yaml").content.decode() == text
    lines = "".join(tasks_to_jsonl([a_task("new")]))
    dry = send(api_editor, f"{ONE}/import?dry_run=true", lines).json()
    assert (dry["format"], dry["added"], dry["unchanged"], dry["suite"]["version"]) == (
        "jsonl",
        ["new"],
        1,
        1,
    )
    address = f"{ONE}/import?mode=replace"
    assert send(api_editor, address, lines).status_code == 428
    tag = api_viewer.get(ONE).headers["ETag"]
    done = send(api_editor, address, lines, **{"If-Match": tag}).json()
    assert (done["added"], done["removed"], done["suite"]["version"]) == (["new"], ["restore"], 2)
    assert [task.key for task in tasks_of(project.suites.get().versions.first())] == ["new"]
    assert api_viewer.get(f"{ONE}/export/yaml?version=1").content.decode() == text
    assert suite_from_yaml(text) == suite_text(project.suites.get().versions.last())
    assert api_viewer.get(f"{ONE}/export/exe").status_code == 404


@pytest.mark.parametrize(
    ("query", "body", "where"),
    [
        ("?name=x", "key,task\na b,x\n", "line 2"),
        ("?format=jsonl&name=x", "nope", "line 1"),
        ("", "task\nx\n", "body.name"),
        ("?slug=new", "wiggum_suite: 1\nname: x\n", "body.slug"),
        ("?format=exe", "x", "query.format"),
    ],
)
def test_a_bad_file_is_told_by_line(api_editor, project, query, body, where):
    answer = send(api_editor, f"{FILES}{query}", body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert not project.suites.exists()
