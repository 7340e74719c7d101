"""The live estimate of the launch form: it sends sizes, not texts, and reloads for another rubric."""

import pytest

from refinement.models import Run
from refinement.selectors.launch.available_models import offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.rubrics.editing import default_rubrics_install
from tests.loopback.fixtures import ollama_server
from tests.views.runs.launching import ESTIMATE, filled

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _models(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


def asked(client, **changes):
    """As the page asks: without the texts."""
    data = {"task_chars": "30", "seed_chars": "0", "shown": "wiggum@1", **filled(), **changes}
    del data["task"]
    return client.post(ESTIMATE, data, headers={"HX-Request": "true"})


def codes(answer) -> list[str]:
    return [caution.code for caution in answer.context["panel"]["cautions"]]


def test_a_partial_answers_the_page(as_editor):
    answer = asked(as_editor)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "<html" not in page
    assert "launch-rubric" not in page
    assert 'name="warned" value="same_family"' in page
    assert not Run.objects.exists()


def test_another_rubric_brings_its_settings_along(as_editor):
    page = asked(as_editor, rubric="simmer").content.decode()
    assert 'id="launch-rubric" hx-swap-oob="true"' in page
    assert 'value="simmer@1"' in page


def test_the_whole_page_comes_without_htmx_and_nothing_is_missed_yet(as_editor):
    answer = as_editor.post(ESTIMATE, filled(task="", rounds="x"))
    page = answer.content.decode()
    assert "<html" in page
    assert "Enter a task" not in page
    assert "Not a whole number" in page


def test_the_text_may_be_told_by_its_length(as_editor):
    answer = asked(as_editor, start="pasted", seed_chars="6001")
    assert "long-seed" in codes(answer)
    assert "long-seed" not in codes(asked(as_editor, start="pasted", seed_chars="6000"))
    assert "long-seed" not in codes(asked(as_editor, start="draft", seed_chars="6001"))


def test_a_limit_changed_here_counts(as_editor):
    answer = asked(as_editor, start="pasted", seed_chars="6001", judge_limit="7000")
    assert "long-seed" not in codes(answer)


def test_more_runs_cost_more(as_editor):
    once, often = asked(as_editor), asked(as_editor, repeats="3")
    first, second = once.context["panel"]["estimate"], often.context["panel"]["estimate"]
    assert (second.calls.low, second.calls.high) == (3 * first.calls.low, 3 * first.calls.high)
    assert "counted together here" in often.content.decode()


def test_an_endpoint_that_is_down_is_said(as_editor, ollama_server):
    ollama_server.go_offline()
    assert "down-ollama" in codes(asked(as_editor))


def test_a_model_that_is_not_there_is_said(as_editor):
    assert "unknown-judge" in codes(asked(as_editor, judge="ollama/gone:7b"))


def test_half_a_form_is_estimated_too(as_editor):
    answer = as_editor.post(ESTIMATE, {"rubric": "wiggum"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert answer.context["panel"]["estimate"].calls.high == 6


@pytest.mark.parametrize("odd", [{"repeats": "x"}, {"seed_chars": "9" * 20}, {"threshold": "99"}])
def test_odd_values_break_nothing(as_editor, odd):
    assert asked(as_editor, **odd).status_code == 200


def test_it_is_for_editors(as_viewer, as_outsider, as_editor):
    assert asked(as_viewer).status_code == 403
    assert asked(as_outsider).status_code == 404
    assert as_editor.get(ESTIMATE).status_code == 405


def test_a_held_out_judge_is_a_line_of_its_own(as_editor):
    page = asked(as_editor, held_out="ollama/loopback:70b").content.decode()
    assert 'Held-out judge</th><td class="number">0 to 2</td>' in page
    assert "Held-out judge</th>" not in asked(as_editor).content.decode()
