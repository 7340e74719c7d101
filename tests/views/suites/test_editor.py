"""The table and the task form: saving, plain buttons, errors at their field, concurrent edits."""

import json
import re
from dataclasses import replace

import pytest
from django.urls import reverse

from refinement.selectors.suites.tasks import tasks_of
from refinement.services.suites.editing import version_save
from tests.interchange.test_suite_files import FULL
from tests.services.suites.given import a_suite, a_task

pytestmark = pytest.mark.django_db
FIELDS = ("was", "key", "title", "task_type", "tags", "task", "expected", "order")


def edit_at(suite):
    return reverse("suite_edit", args=[suite.project.slug, suite.slug])


def form_of(tasks, edited_from=1, act="save", **changes):
    data = {"edited_from": edited_from, "page": 1, "act": act, "note": "Why"}
    for place, task in enumerate(tasks, 1):
        values = {
            "was": task.key,
            "key": task.key,
            "title": task.title,
            "task_type": task.task_type,
            "tags": ", ".join(task.tags),
            "task": task.task.replace("\n", "\r\n"),
            "expected": task.expected,
            "order": place,
        }
        data |= {f"task-{place}-{name}": value for name, value in values.items()}
    return data | {name.replace("__", "-"): value for name, value in changes.items()}


def newest(suite):
    return suite.versions.order_by("-number").first()


def test_saving_the_table_as_it_is_changes_nothing(as_editor, project):
    suite = a_suite(project, FULL, a_task("b")).suite
    tasks = tasks_of(newest(suite))
    answer = as_editor.post(edit_at(suite), form_of(tasks), follow=True)
    assert "No changes to save." in answer.content.decode()
    assert suite.versions.count() == 1


def test_the_table_keeps_what_it_does_not_show(as_editor, project):
    suite = a_suite(project, FULL, a_task("b")).suite
    data = form_of(tasks_of(newest(suite)), task_1_x="")
    data |= {"task-1-title": "New title", "task-1-order": "5", "task-2-remove": "on"}
    data |= {"task-9-order": "2", "task-9-title": "", "task-9-task": "# Say hello", "task-9-key": ""}
    data |= {"task-10-order": "1", "task-10-title": "", "task-10-task": " ", "task-10-was": ""}
    answer = as_editor.post(edit_at(suite), data)
    assert answer.status_code == 302
    hello, full = tasks_of(newest(suite))
    assert (hello.key, hello.title) == ("say-hello", "Say hello")
    assert full == replace(FULL, title="New title")
    assert newest(suite).note == "Why"


def test_a_copy_has_the_sources_and_checks_of_its_task(as_editor, project):
    suite = a_suite(project, FULL).suite
    data = form_of([FULL], act="copy-1")
    page = as_editor.post(edit_at(suite), data)
    assert [row.title for row in page.context["rows"]] == [FULL.title] * 2
    data = form_of([FULL, FULL]) | {"task-2-key": "", "task-2-copied": "1"}
    as_editor.post(edit_at(suite), data)
    first, second = tasks_of(newest(suite))
    assert second == replace(first, key="restore-a-backup")


def test_plain_buttons_add_and_apply_without_saving(as_editor, project):
    suite = a_suite(project).suite
    tasks = tasks_of(newest(suite))
    added = as_editor.post(edit_at(suite), form_of(tasks, act="add"))
    assert [row.place for row in added.context["rows"]] == ["1", "2", "3"]
    data = form_of(tasks, act="show") | {"task-1-order": "9", "task-2-remove": "on"}
    applied = as_editor.post(edit_at(suite), data)
    assert [row.was for row in applied.context["rows"]] == ["restore"]
    assert suite.versions.count() == 1


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"task-1-key": "a b"}, "task-1-key", "Key must be made of letters"),
        ({"task-1-key": "rotate"}, "task-2-key", "already used by task 1"),
        ({"task-1-title": "x" * 161}, "task-1-title", "160 are allowed"),
        ({"task-2-task": " "}, "task-2-task", "The task has no task text"),
        ({"task-2-tags": ",".join(map(str, range(21)))}, "task-2-tags", "20 are allowed"),
    ],
)
def test_a_problem_is_shown_at_its_field(as_editor, project, changes, field, words):
    suite = a_suite(project).suite
    answer = as_editor.post(edit_at(suite), form_of(tasks_of(newest(suite))) | changes)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert [problem[0] for problem in answer.context["problems"]] == [field]
    assert words in page
    assert f'id="{field}-error"' in page
    assert suite.versions.count() == 1


def test_a_window_leaves_other_tasks_alone(as_editor, project):
    suite = a_suite(project, *(a_task(f"t{number}") for number in range(150))).suite
    page = as_editor.get(edit_at(suite), {"page": "2"})
    assert [row.was for row in page.context["rows"]][:1] == ["t100"]
    tasks = tasks_of(newest(suite))
    data = form_of(tasks[100:]) | {"page": 2, "task-1-title": "Changed", "task-2-remove": "on"}
    answer = as_editor.post(edit_at(suite), data)
    assert answer.url.endswith("?page=2")
    saved = tasks_of(newest(suite))
    assert [task.key for task in saved] == [task.key for task in tasks if task.key != "t101"]
    assert saved[100].title == "Changed"
    clash = form_of(saved[100:], edited_from=2) | {"page": 2, "task-1-key": "t5"}
    assert "used by another task" in as_editor.post(edit_at(suite), clash).content.decode()


def test_a_long_text_is_not_in_the_table_and_survives(as_editor, project):
    long = a_task("long", task="x" * 5_000)
    suite = a_suite(project, long).suite
    page = as_editor.get(edit_at(suite)).content.decode()
    assert "x" * 5_000 not in page
    assert "Edit on its own page" in page
    data = form_of([long]) | {"task-1-title": "Other"}
    del data["task-1-task"]
    as_editor.post(edit_at(suite), data)
    assert tasks_of(newest(suite)) == (replace(long, title="Other"),)


def test_a_save_names_the_version_it_started_from(as_editor, project):
    suite = a_suite(project).suite
    data = form_of(tasks_of(newest(suite)))
    for wrong in ("", "9", "x"):
        assert as_editor.post(edit_at(suite), data | {"edited_from": wrong}).status_code == 404


def test_two_edits_are_joined_and_conflicts_chosen(as_editor, project, owner):
    suite = a_suite(project, a_task("a"), a_task("b"), a_task("c")).suite
    base = tasks_of(newest(suite))
    theirs = (replace(base[0], title="Theirs"), base[1], replace(base[2], title="Their c"))
    version_save(suite=suite, tasks=theirs, edited_from=1, user=owner, note="Hurry")
    data = form_of(base) | {"task-1-title": "Mine", "task-2-title": "My b", "task-9-order": "9"}
    answer = as_editor.post(edit_at(suite), data | {"task-9-task": "New one", "task-9-key": "new-one"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Olivia Owner" in page
    assert "Hurry" in page
    assert [entry["key"] for entry in answer.context["conflicts"]] == ["a"]
    assert suite.versions.count() == 2

    fields = {
        name: answer.context[key]
        for name, key in (("mine", "mine"), ("note", "note"), ("edited_from", "edited_from"))
    }
    merge = reverse("suite_merge", args=[project.slug, suite.slug])
    version_save(suite=suite, tasks=(*theirs, a_task("later")), edited_from=2, user=owner)
    assert as_editor.post(merge, fields | {"theirs": 2}).status_code == 409
    as_editor.post(merge, fields | {"theirs": 3, "keep.a": "theirs"})
    saved = {task.key: task.title for task in tasks_of(newest(suite))}
    assert saved == {
        "a": "Theirs",
        "b": "My b",
        "c": "Their c",
        "new-one": "New one",
        "later": "Title of later",
    }
    for bad in ("", "[]", json.dumps({"order": [], "changed": [{"task": ""}]})):
        assert as_editor.post(merge, fields | {"theirs": 4, "mine": bad}).status_code == 404


def test_an_unchanged_table_is_no_conflict(as_editor, project, owner):
    suite = a_suite(project).suite
    data = form_of(tasks_of(newest(suite)))
    version_save(suite=suite, tasks=(a_task("a"),), edited_from=1, user=owner)
    answer = as_editor.post(edit_at(suite), data, follow=True)
    assert "You see a newer version now." in answer.content.decode()
    assert suite.versions.count() == 2


TASK = {
    "key": "restore", "title": "Restore", "task": "Do it.", "task_type": "", "tags": "", "seed": "",
    "expected": "", "edited_from": "1", "act": "save",
}  # fmt: skip
CHECKS = "- kind: contains\r\n  parameters:\r\n    text: x\r\n  severity: info\r\n"


def test_the_form_of_a_task_saves_sources_and_checks(as_editor, project):
    suite = a_suite(project, FULL).suite
    address = reverse("suite_task_edit", args=[project.slug, suite.slug, "restore"])
    page = as_editor.get(address)
    fields = page.context["fields"]
    assert "severity: warning" in fields.checks
    same = TASK | fields.values | {"checks": fields.checks.replace("\n", "\r\n")}
    same |= {"source-1-name": fields.sources[0].name, "source-1-text": fields.sources[0].text}
    assert as_editor.post(address, same).status_code == 302
    assert suite.versions.count() == 1
    sources = {
        "source-1-name": "gone",
        "source-1-text": "x",
        "source-1-remove": "on",
        "source-2-text": "Facts",
    }
    answer = as_editor.post(address, TASK | sources | {"checks": CHECKS, "source-2-name": ""})
    assert answer.url == reverse("suite_task", args=[project.slug, suite.slug, "restore"])
    [task] = tasks_of(newest(suite))
    assert [(source.name, source.text) for source in task.sources] == [("Source 1", "Facts")]
    assert [(check.key, check.severity) for check in task.checks] == [("contains", "info")]
    assert "Facts" in as_editor.get(answer.url).content.decode()


def test_a_task_is_added_at_the_end(as_editor, project):
    suite = a_suite(project).suite
    address = reverse("suite_task_new", args=[project.slug, suite.slug])
    assert as_editor.get(address).status_code == 200
    assert as_editor.post(address, TASK | {"key": ""}).status_code == 302
    assert [task.key for task in tasks_of(newest(suite))] == ["restore", "rotate", "restore-2"]
    shown = as_editor.post(address, TASK | {"act": "show", "source-1-text": "x", "edited_from": "2"})
    assert len(shown.context["fields"].sources) == 2


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"task": ""}, "task", "no task text"),
        ({"key": "rotate"}, "key", "another task"),
        ({"checks": "- key: x\n  kind: nothing"}, "checks", "Line 1: .*nothing"),
        ({"checks": "- kind: contains\n  parameters: {}\n  colour: red"}, "checks", "Line 3: Unknown key"),
        ({"checks": "hello"}, "checks", "not valid YAML"),
        ({"checks": "- [a\n"}, "checks", "not valid YAML"),
        ({"checks": "kind: contains"}, "checks", "Write a list"),
        ({"source-1-name": "a", "source-1-text": " "}, "sources", "required"),
    ],
)
def test_a_tasks_problems_are_shown_at_their_field(as_editor, project, changes, field, words):
    suite = a_suite(project).suite
    address = reverse("suite_task_edit", args=[project.slug, suite.slug, "restore"])
    answer = as_editor.post(address, TASK | changes)
    assert answer.status_code == 422
    errors = answer.context["fields"].errors
    assert set(errors) == {field}, errors
    assert any(re.search(words, message) for message in errors[field]), errors


def test_a_tasks_form_shows_a_concurrent_save(as_editor, project, owner):
    suite = a_suite(project).suite
    version_save(suite=suite, tasks=(a_task("rotate"),), edited_from=1, user=owner)
    address = reverse("suite_task_edit", args=[project.slug, suite.slug, "restore"])
    answer = as_editor.post(address, TASK)
    assert answer.status_code == 409
    assert [entry["theirs"] for entry in answer.context["conflicts"]] == [None]
