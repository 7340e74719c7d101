"""Wrong usage is reported before anything runs; and which project a run belongs to."""

import io
import signal
import sys

import pytest
from django.core.management import CommandError, call_command

from refinement.cli.exits import NotThere
from refinement.engine.profiles import default_rubrics
from refinement.models import Endpoint, Project, Run
from refinement.services.projects.local import local_project, project_named
from refinement.services.rubrics.editing import default_rubrics_install
from tests.management.conftest import MODELS

PLAIN = ["--rubric", "wiggum", "--task", "Explain."]


@pytest.fixture(autouse=True)
def signals_stay(monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as caught:
        call_command("refine", *arguments)
    assert caught.value.returncode == 2
    assert not Run.objects.exists()
    return str(caught.value)


WRONG = [
    (["--task", "x", *MODELS], "--rubric is required"),
    (["--rubric", "wiggum", *MODELS], "--task is required"),
    ([*PLAIN], "--producer is required"),
    ([*PLAIN, "--producer", "ollama/loopback:1b"], "--judge is required, because this rubric has criteria"),
    ([*PLAIN, "--producer", "ollama", "--judge", "ollama/x"], "'ollama' has no model"),
    (
        [*PLAIN, "--producer", "nowhere/x", "--judge", "ollama/x"],
        "no model server named 'nowhere'; known",
    ),
    ([*PLAIN, "--producer", "scripted:", "--judge", "ollama/x"], "needs a file path"),
    ([*PLAIN, *MODELS, "--detach", "--judge", "scripted:a.jsonl"], "only work in the foreground"),
    (["--rubric", "none", "--task", "x", *MODELS], "no rubric 'none' in project local; available"),
    (["--rubric", "wiggum@9", "--task", "x", *MODELS], "has no version '9'; the newest is 1"),
    (["--rubric", "wiggum@first", "--task", "x", *MODELS], "has no version 'first'"),
    ([*PLAIN, *MODELS, "--project", "nobodys"], "there is no project 'nobodys'"),
    ([*PLAIN, *MODELS, "--set", "policy.max_rounds"], "has no value; write --set policy.key=value"),
    ([*PLAIN, *MODELS, "--set", "policy.rounds=3"], "unknown setting 'policy.rounds'"),
    ([*PLAIN, *MODELS, "--set", "policy.max_rounds=some"], "policy.max_rounds:"),
    ([*PLAIN, *MODELS, "--set", "policy.stop_rules=boredom"], "policy.stop_rules"),
    ([*PLAIN, *MODELS, "--max-rounds", "0"], "at least one round"),
    ([*PLAIN, *MODELS, "--threshold", "11"], "pass_threshold is outside the scale"),
    ([*PLAIN, *MODELS, "--threshold", "high"], "policy.pass_threshold"),
    (["--rubric", "wiggum", "--task", "  ", *MODELS], "The task is empty"),
    ([*PLAIN, *MODELS, "--seed", "."], "cannot read .: Is a directory"),
    (["--resume", "77"], "run 77 does not exist"),
    (["--resume", "0"], "run 0 does not exist"),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[row[1] for row in WRONG])
def test_wrong_usage(arguments, words):
    assert words in refused(*arguments)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("given", "words"), [(b" \n", "the starting text is empty"), (b"\xff\xfe\x00", "it is not UTF-8 text")]
)
def test_a_seed_from_stdin_must_be_text(monkeypatch, given, words):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8"))
    assert words in refused(*PLAIN, *MODELS, "--seed", "-")


@pytest.mark.django_db
def test_an_endpoint_of_a_row_can_be_named_until_it_is_switched_off(monkeypatch):
    Endpoint.objects.create(name="lab", kind="ollama", url="http://127.0.0.1:9")
    Endpoint.objects.create(name="old", kind="ollama", url="http://127.0.0.1:9", enabled=False)
    assert "lab" in refused(*PLAIN, "--producer", "old/x", "--judge", "lab/x")


# --- whose run it is ------------------------------------------------------------------------------
@pytest.mark.django_db
def test_local_is_made_once_with_every_default_rubric():
    first = project_named(None)
    assert (first.slug, project_named(None), local_project()) == ("local", first, first)
    assert set(first.rubrics.values_list("slug", flat=True)) == set(default_rubrics())


@pytest.mark.django_db
def test_the_only_project_is_taken_and_of_several_one_must_be_named():
    alone = Project.objects.create(name="Alpha", slug="alpha")
    assert project_named(None) == alone
    second = Project.objects.create(name="Beta", slug="beta")
    with pytest.raises(LookupError, match="several projects; choose one with --project: alpha, beta"):
        project_named(None)
    assert project_named("beta") == second
    local = local_project()
    assert project_named(None) == local


@pytest.mark.django_db
def test_installing_the_rubrics_again_leaves_those_that_are_there(project):
    default_rubrics_install(project=project)
    before = set(project.rubrics.values_list("pk", "slug"))
    project.rubrics.get(slug="wiggum").versions.get()
    default_rubrics_install(project=project)
    assert set(project.rubrics.values_list("pk", "slug")) == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [
        ["--rubric", "wiggum", "--task", "@missing.md", *MODELS],
        [*PLAIN, *MODELS, "--seed", "missing.md"],
    ],
)
def test_a_missing_file_is_not_found(arguments):
    with pytest.raises(NotThere, match=r"cannot read missing\.md: No such file"):
        call_command("refine", *arguments)
    assert not Run.objects.exists()
