"""Imports: a preview of the changes, every problem with its line, and no other file is read."""

import builtins
import contextlib
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from refinement.interchange.suites.detecting import kind_of
from refinement.interchange.suites.types import SuiteText
from refinement.interchange.suites.yaml import suite_to_yaml
from refinement.selectors.suites.tasks import suite_text, tasks_of
from refinement.services.suites.editing import version_save
from tests.interchange.test_suite_files import FULL
from tests.services.suites.given import a_suite, a_task

pytestmark = pytest.mark.django_db
CSV = "key,title,task\nrestore,Restore,Other words.\nnew,New,A new task.\n"
SENT = {"kind": "auto", "target": "new", "mode": "merge"}
EVAL = """\
name: Support answers
prompts:
  - "Answer: {{ question }}"
tests:
  - id: refund
    vars: {question: How do I get a refund?}
    assert:
      - {type: contains, value: refund}
  - description: Two at once
    vars: {question: [One?, Two?]}
    assert:
      - {type: llm-rubric, value: Is polite.}
"""


@pytest.fixture
def address(project):
    return reverse("suite_import", args=[project.slug])


def test_a_dry_run_changes_nothing(as_editor, project, address):
    suite = a_suite(project).suite
    answer = as_editor.post(address, SENT | {"text": CSV, "target": suite.slug, "act": "check"})
    page = answer.content.decode()
    assert "1 added, 1 changed" in page
    assert "1 unchanged" in page
    assert answer.context["form"]["seen"].value() == "1"
    assert suite.versions.count() == 1


def test_an_import_merges_or_replaces(as_editor, project, address):
    suite = a_suite(project).suite
    data = {"text": CSV, "target": suite.slug, "act": "import", "kind": "csv", "seen": "1"}
    assert as_editor.post(address, SENT | data).url == reverse("suite_page", args=[project.slug, suite.slug])
    newest = suite.versions.first()
    assert [task.key for task in tasks_of(newest)] == ["restore", "rotate", "new"]
    as_editor.post(address, SENT | data | {"mode": "replace", "seen": "2"})
    assert [task.key for task in tasks_of(suite.versions.first())] == ["restore", "new"]
    same = as_editor.post(address, SENT | data | {"act": "check"})
    assert "Nothing to change" in same.content.decode()


def test_a_concurrent_save_is_shown_first(as_editor, project, address, owner):
    suite = a_suite(project).suite
    version_save(suite=suite, tasks=(a_task("x"),), edited_from=1, user=owner)
    data = {"text": CSV, "target": suite.slug, "act": "import", "seen": "1"}
    answer = as_editor.post(address, SENT | data)
    assert answer.status_code == 409
    assert "Version 2 was saved in the meantime" in answer.content.decode()
    assert suite.versions.count() == 2
    assert as_editor.post(address, SENT | data | {"seen": ""}).status_code == 404


def test_a_file_makes_a_new_suite(as_editor, project, address):
    text = suite_to_yaml(SuiteText("From git", "Why.", (FULL,)))
    file = SimpleUploadedFile("any.txt", text.encode())
    answer = as_editor.post(address, SENT | {"file": file, "act": "check"})
    assert answer.context["form"]["text"].value() == text
    as_editor.post(address, SENT | {"text": text, "act": "import", "kind": "yaml"})
    suite = project.suites.get()
    assert suite_text(suite.versions.get()) == SuiteText("From git", "Why.", (FULL,))
    nameless = as_editor.post(address, SENT | {"text": CSV, "act": "import"})
    assert (nameless.status_code, project.suites.count()) == (422, 1)


def test_every_problem_has_its_line(as_editor, project, address):
    answer = as_editor.post(address, SENT | {"text": 'key,task\n"a b",x\nc,\n', "act": "import", "name": "x"})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert [line for line, _, _ in answer.context["problems"]] == [2, 3]
    assert "nothing was saved" in page
    assert not project.suites.exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "Choose a file or paste"),
        ({"text": "x" * 2_000_001}, "larger than 2,000,000 bytes"),
        ({"text": "task\nx\n", "target": "nothing"}, "archived in the meantime"),
        ({"text": "task\nx\n", "kind": "exe"}, "Select a valid choice"),
    ],
)
def test_a_bad_form_is_refused(as_editor, address, data, words):
    answer = as_editor.post(address, SENT | data)
    assert answer.status_code == 422
    assert words in answer.content.decode()


def test_an_eval_file_makes_tasks(as_editor, project, address):
    as_editor.post(address, SENT | {"text": EVAL, "act": "import"})
    version = project.suites.get().versions.get()
    assert version.suite.name == "Support answers"
    refund, *two = tasks_of(version)
    assert (refund.key, refund.task) == ("refund", "Answer: How do I get a refund?")
    assert [check.kind for check in refund.checks] == ["contains"]
    assert [task.task for task in two] == ["Answer: One?", "Answer: Two?"]
    assert [task.expected for task in two] == ["- Is polite.", "- Is polite."]


REACHING = [
    'prompts: ["file:///etc/hostname"]\ntests: [{vars: {}, assert: [{type: contains, value: x}]}]\n',
    "prompts: /etc/hostname\ntests: [{vars: {}, assert: [{type: contains, value: x}]}]\n",
    "prompts: [x]\ntests: /etc/hostname\n",
    "prompts: [x]\ntests: file:///etc/hostname\n",
    "prompts: [x]\ntests: [{vars: {a: 'file:///etc/hostname'}, assert: [{type: contains, value: y}]}]\n",
    "prompts: [x]\ntargets: /etc/hostname\nexecution: {ralph: {feedback_template: /etc/hostname}}\n"
    "tests: [{vars: {}, assert: [{type: contains, value: x}]}]\n",
    "prompts: [x]\ntests: [{vars: /etc/hostname, assert: [{type: is-json, value: 'file:///etc/hostname'}]}]\n",
]


@pytest.mark.parametrize("source", REACHING)
def test_an_eval_file_reads_no_file_of_the_server(source, monkeypatch):
    from refinement.evals import as_suite
    from refinement.interchange.rubrics.yaml_reading import BadFile

    opened = []

    def refuse(path, *args, **options):
        opened.append(str(path))
        raise OSError("not here")

    real = builtins.open
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(
        builtins, "open", lambda path, *a, **o: refuse(path) if "etc" in str(path) else real(path, *a, **o)
    )
    with contextlib.suppress(BadFile):
        as_suite.suite_from_eval(source)
    assert opened == []


@pytest.mark.parametrize(
    ("source", "name", "kind"),
    [
        ("anything", "tasks.csv", "csv"),
        ("anything", "Tasks.JSONL", "jsonl"),
        ("# x\nwiggum_suite: 1\n", "", "yaml"),
        ("wiggum_suite: 1\n", "suite.yaml", "yaml"),
        ("name: x\ntests:\n- a\n", "eval.yaml", "eval"),
        ('{"task": "x"}\n', "", "jsonl"),
        ("key,task\na,b\n", "", "csv"),
        ("name: x\n", "x.yml", "yaml"),
    ],
)
def test_the_kind_of_a_file(source, name, kind):
    assert kind_of(source, name) == kind
