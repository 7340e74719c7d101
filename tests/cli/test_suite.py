"""`wiggum suite`: show and push, without overwriting changes of others."""

from pathlib import Path

import pytest

from refinement.interchange.suites.yaml import suite_to_yaml
from refinement.models import Suite
from refinement.selectors.suites.tasks import suite_text, tasks_of
from tests.cli.conftest import told
from tests.interchange.test_suite_files import FULL, SUITE
from tests.services.suites.given import a_suite, a_task

EVAL = """\
prompts: ["Answer: {{ question }}"]
tests:
  - {id: refund, vars: {question: "file://question.txt"}, assert: [{type: contains, value: refund}]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def newest(slug="notes"):
    return Suite.objects.get(slug=slug).versions.order_by("-number")[0]


def pushed(result):
    return [(line["suite"], line["version"], line["status"]) for line in told(result)["pushed"]]


def test_the_list_and_a_suite(wiggum, project):
    assert "no suites" in wiggum("suite", "list").stderr
    a_suite(project, FULL, a_task("b"), description="Why")
    (line,) = told(wiggum("suite", "list", "--json"))["suites"]
    assert line == {
        "slug": "release-notes", "name": "Release notes", "version": 1, "tasks": 2, "description": "Why",
        "archived": False,
    }  # fmt: skip
    shown = told(wiggum("suite", "show", "release-notes", "--json"))
    assert (shown["version"], [task["key"] for task in shown["tasks"]]) == (1, ["restore", "b"])
    assert shown["tasks"][0]["checks"][0]["weight"] == 0.5
    assert "1 source, 1 check" in wiggum("suite", "show", "release-notes").stdout
    assert wiggum("suite", "show", "nothing").exit_code == 4
    assert wiggum("suite", "show", "release-notes@2").exit_code == 4
    assert wiggum("suite", "show", "release-notes@x").exit_code == 2


def test_a_file_goes_out_and_comes_back_exactly(wiggum, project, folder):
    file = folder / "notes.yaml"
    file.write_text(suite_to_yaml(SUITE))
    assert pushed(wiggum("suite", "push", "notes.yaml", "--json")) == [("notes", 1, "created")]
    assert suite_text(newest()) == SUITE
    text = file.read_text()
    assert text == "# wiggum: notes@1\n" + suite_to_yaml(SUITE)
    assert wiggum("suite", "show", "notes", "--yaml").stdout == text
    assert pushed(wiggum("suite", "push", "notes.yaml", "--json")) == [("notes", 1, "unchanged")]
    file.write_text(text.replace("Two tasks.", "Tasks.").replace("true", "Other"))
    done = wiggum("suite", "push", "notes.yaml", "--note", "Why", "--json")
    assert pushed(done) == [("notes", 2, "saved")]
    assert file.read_text().startswith("# wiggum: notes@2\n")
    assert (newest().note, newest().suite.description) == ("Why", "Tasks.\n\nFor git.")


def test_what_others_saved_is_not_overwritten(wiggum, project, folder):
    file = folder / "notes.yaml"
    file.write_text(suite_to_yaml(SUITE))
    wiggum("suite", "push", "notes.yaml")
    file.write_text(suite_to_yaml(SUITE).replace("true", "Other"))
    refused = wiggum("suite", "push", "notes.yaml")
    assert (refused.exit_code, "--base 1" in refused.stderr) == (4, True)
    assert wiggum("suite", "push", "notes.yaml", "--base", "1").exit_code == 0
    late = wiggum("suite", "push", "notes.yaml", "--base", "1")
    assert late.exit_code == 0  # the same content
    file.write_text(suite_to_yaml(SUITE))
    late = wiggum("suite", "push", "notes.yaml", "--base", "1")
    assert (late.exit_code, "made from version 1" in late.stderr) == (4, True)
    assert pushed(wiggum("suite", "push", "notes.yaml", "--force", "--json")) == [("notes", 3, "saved")]


def test_tables_and_eval_files_are_pushed(wiggum, project, folder):
    (folder / "my_tickets.csv").write_text("key,task,owner\na,Do it.,me\n")
    result = wiggum("suite", "push", "my_tickets.csv", "--json")
    assert pushed(result) == [("my_tickets", 1, "created")]
    assert "'owner' is not used" in result.stderr
    assert newest("my_tickets").suite.name == "my tickets"
    Suite.objects.update(name="Tickets", description="Ours")
    (folder / "my_tickets.jsonl").write_text('{"key": "a", "task": "Do it well."}\n')
    assert wiggum("suite", "push", "my_tickets.jsonl", "--base", "1").exit_code == 0
    assert suite_text(newest("my_tickets")).name == "Tickets"
    (folder / "question.txt").write_text("How do I get a refund?")
    (folder / "support.yaml").write_text(EVAL)
    assert pushed(wiggum("suite", "push", "support.yaml", "--json")) == [("support", 1, "created")]
    [task] = tasks_of(newest("support"))
    assert (task.key, task.task) == ("refund", "Answer: How do I get a refund?")
    assert (folder / "support.yaml").read_text() == EVAL


def test_a_bad_file_is_told_by_line_and_saves_nothing(wiggum, project, folder):
    (folder / "good.yaml").write_text(suite_to_yaml(SUITE))
    (folder / "bad.csv").write_text("key,task\na b,x\nc,\n")
    result = wiggum("suite", "push", "good.yaml", "bad.csv")
    assert result.exit_code == 2
    assert "bad.csv:2:" in result.stderr
    assert "bad.csv:3:" in result.stderr
    assert not Suite.objects.exists()
    assert wiggum("suite", "push", "missing.yaml").exit_code == 4
    assert wiggum("suite", "push", "good.yaml", "bad.csv", "--suite", "x").exit_code == 2
