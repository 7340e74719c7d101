"""The example run: started with one click on the best model, or with a reason why it cannot start."""

import pytest

from refinement.models import Rubric, Run
from refinement.providers.base import ModelInfo
from refinement.providers.registry import EndpointSpec
from refinement.selectors.launch.available_models import Offer, offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.launching import NothingAvailable, example_choice
from refinement.views.runs import launch
from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server"]
EXAMPLE = "/p/alpha/example/"
SPECS = [
    EndpointSpec("embedded", "embedded"),
    EndpointSpec("lab", "openai_compatible", "http://127.0.0.1:1/v1"),
    EndpointSpec("ollama", "ollama"),
]
TINY = Offer("embedded", (ModelInfo("smollm2-135m", size_bytes=10**8),))
LAB = Offer("lab", (ModelInfo("lab-model"),))
OLLAMA = Offer(
    "ollama",
    (
        ModelInfo("nomic-embed-text", size_bytes=3 * 10**8),
        ModelInfo("qwen3:4b", size_bytes=3 * 10**9),
        ModelInfo("qwen3:14b", size_bytes=9 * 10**9),
        ModelInfo("llama:70b", size_bytes=40 * 10**9),
    ),
)


@pytest.mark.parametrize(
    ("known", "chosen", "words"),
    [
        ([TINY, OLLAMA], ("ollama", "qwen3:14b"), "the largest model that loads quickly"),
        ([TINY, LAB, Offer("ollama", problem="away")], ("lab", "lab-model"), "lab-model on lab"),
        ([TINY, Offer("lab", problem="away")], ("embedded", "smollm2-135m"), "too small to judge well"),
        ([Offer("ollama", OLLAMA.models[-1:])], ("ollama", "llama:70b"), "llama:70b"),
    ],
)
def test_the_best_model_is_chosen_and_said(known, chosen, words):
    choice = example_choice(SPECS, known)
    assert (choice.producer.endpoint, choice.producer.model) == chosen
    assert choice.judge == choice.producer
    assert words in choice.why


@pytest.mark.parametrize(
    ("known", "judge"),
    [
        ([OLLAMA, TINY, LAB], ("lab", "lab-model")),
        ([Offer("ollama", (*OLLAMA.models, ModelInfo("gemma3:4b")))], ("ollama", "gemma3:4b")),
        ([Offer("ollama", (*OLLAMA.models, ModelInfo("own:1b", family="gemma3")))], ("ollama", "own:1b")),
    ],
)
def test_the_judge_is_of_another_family_where_there_is_one(known, judge):
    choice = example_choice(SPECS, known)
    assert choice.producer.model == "qwen3:14b"
    assert (choice.judge.endpoint, choice.judge.model) == judge
    assert "two families" in choice.why


@pytest.mark.parametrize(
    "known", [[], [Offer("ollama", problem="away")], [Offer("ollama", OLLAMA.models[:1])]]
)
def test_without_a_model_it_says_what_to_do(known):
    with pytest.raises(NothingAvailable, match="ollama pull"):
        example_choice(SPECS, known)


@pytest.fixture
def models(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


@pytest.mark.django_db
def test_it_launches_a_small_run_and_lands_on_its_page(as_editor, models):
    answer = as_editor.post(EXAMPLE, follow=True)
    run = Run.objects.get()
    assert answer.redirect_chain[0][0] == f"/p/alpha/runs/{run.pk}/"
    assert "This example uses loopback:" in answer.content.decode()
    assert run.seed
    assert run.snapshot["policy"]["max_rounds"] == 3
    assert [tag.name for tag in run.tags.all()] == ["example"]


@pytest.mark.django_db
def test_pressed_twice_it_is_launched_once(as_editor, models):
    assert as_editor.post(EXAMPLE).headers["Location"] == as_editor.post(EXAMPLE).headers["Location"]
    assert Run.objects.count() == 1


@pytest.mark.django_db
def test_any_rubric_in_use_will_do(as_editor, project, models):
    Rubric.objects.filter(project=project).exclude(slug="ralph").update(archived_at="2026-01-01T00:00Z")
    as_editor.post(EXAMPLE)
    assert Run.objects.get().rubric.slug == "ralph"


@pytest.mark.django_db
def test_nothing_available_is_said_at_home(as_editor, project, models, monkeypatch):
    monkeypatch.setattr(launch, "models_for_launch", list)
    answer = as_editor.post(EXAMPLE, follow=True)
    assert "No model is available." in answer.content.decode()
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_it_is_for_editors(as_viewer, as_outsider, as_editor, models):
    assert as_viewer.post(EXAMPLE).status_code == 403
    assert as_outsider.post(EXAMPLE).status_code == 404
    assert as_editor.get(EXAMPLE).status_code == 405
    assert not Run.objects.exists()
