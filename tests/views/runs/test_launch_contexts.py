"""A text that is too long for a model is refused at launch."""

from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from refinement.models import Run
from refinement.providers.registry import Target
from refinement.selectors.launch.available_models import offers
from refinement.selectors.launch.model_lists import contexts
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.launching import contexts_check
from tests.loopback.fixtures import ollama_server
from tests.views.runs.launching import ESTIMATE, NEW, filled

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db
LONG = "word " * 400_000  # 2 MB
MODEL = Target("ollama", "loopback:1b")


@pytest.fixture(autouse=True)
def _models(project, ollama_server, monkeypatch):
    ollama_server.context_length = 32_768
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


def test_a_long_starting_text_is_refused_beside_its_field(as_editor):
    answer = as_editor.post(NEW, filled(start="pasted", seed=LONG))
    assert answer.status_code == 422
    assert answer.context["form"].errors["seed"] == [
        "The starting text needs about 666,666 tokens; loopback:1b reads 32,768. "
        "Shorten it or choose another writer."
    ]
    assert not Run.objects.exists()


def test_it_is_said_before_the_form_is_sent(as_editor):
    data = {**filled(start="pasted"), "seed_chars": "2000000", "task_chars": "30", "shown": "wiggum@1"}
    del data["task"]
    panel = as_editor.post(ESTIMATE, data, headers={"HX-Request": "true"}).context["panel"]
    assert "too-long-writer" in [caution.code for caution in panel["cautions"]]


def check(project, *, seed="", task="t", sources=(), **policy):
    saved = definition_of(version_named(project, "wiggum"))
    definition = replace(saved, policy=replace(saved.policy, **policy))
    contexts_check(definition=definition, task=task, seed=seed, sources=sources, producer=MODEL, judge=MODEL)


def test_each_long_text_is_named(project):
    with pytest.raises(ValidationError, match="The task needs about 666,666 tokens"):
        check(project, task=LONG)
    with pytest.raises(ValidationError, match=r"A judge's prompt needs about .* choose another judge"):
        check(project, seed=LONG, max_rounds=1, judge_limit_chars=1_000_000)


def test_a_text_that_is_only_judged_in_part_may_be_long(project):
    check(project, seed=LONG, max_rounds=1)
    check(project, seed="word " * 15_000)


def test_a_model_of_unknown_context_is_not_complained_about(project, ollama_server):
    ollama_server.go_offline()
    check(project, seed=LONG)


def test_the_command_line_refuses_it_too(project, tmp_path, monkeypatch):
    monkeypatch.setattr("refinement.management.commands.refine.signal.signal", lambda *given: None)
    (tmp_path / "long.md").write_text(LONG)
    models = {"producer": "ollama/loopback:1b", "judge": "ollama/loopback:1b"}
    with pytest.raises(CommandError, match="The starting text needs about 666,666 tokens"):
        call_command(
            "refine", rubric="wiggum", task="t", seed=str(tmp_path / "long.md"), project="alpha", **models
        )
    assert not Run.objects.exists()
