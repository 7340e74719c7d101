"""The launch page: order of decisions, default values, cost, and warnings with their fix."""

from decimal import Decimal

import pytest

from refinement.forms.runs.launch import NO_SERVER
from refinement.models import HumanScore, ModelPrice, Project, Run
from refinement.providers.base import ModelInfo
from refinement.selectors.launch.available_models import Offer, offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.prepared import example_open
from tests.loopback.fixtures import ollama_server
from tests.views.runs.finished import finished_run
from tests.views.runs.launching import ESTIMATE, NEW, filled

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _models(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


def launched(client, **changes) -> Run:
    answer = client.post(NEW, filled(**changes))
    assert answer.status_code == 302, answer.context["form"].errors
    return Run.objects.latest("pk")


def offered(monkeypatch, *names: str) -> None:
    models = tuple(ModelInfo(name, size_bytes=1_000 - place) for place, name in enumerate(names))
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", lambda: [Offer("ollama", models)])


# --- the rubric in three facts --------------------------------------------------------------------
def test_an_edited_rerun_shows_the_runs_own_rounds_once(as_editor):
    run = launched(as_editor, rounds="7", threshold="6.5")
    page = as_editor.get(NEW, {"from": run.pk}).content.decode()
    assert "or stops after 7 rounds" in page
    assert "Passes at 6.5 of 10" in page
    assert "or stops after 5 rounds" not in page
    assert ">Maximum rounds, Pass mark</span>" in page


def test_the_distance_from_people_is_told_where_it_is_known(as_editor, editor, project):
    run = finished_run(project)
    row = run.rounds.get(number=run.best_round)
    HumanScore.objects.create(
        run=run, round=row, author=editor, author_name="Edda", composite=row.composite - Decimal("1.5"),
        scores={}, submitted_at=run.created_at,
    )  # fmt: skip
    page = as_editor.get(NEW, {"rubric": run.rubric.slug}).content.decode()
    assert "Judge and people differ by 1.5" in page
    assert "on average, 1 scored run<" in page


# --- models ---------------------------------------------------------------------------------------
def test_the_first_run_has_models_of_different_families(as_editor, monkeypatch):
    offered(monkeypatch, "qwen3:14b", "qwen3:8b", "gemma3:12b")
    answer = as_editor.get(NEW)
    form = answer.context["form"]
    assert (form["producer"].value(), form["judge"].value()) == ("ollama/qwen3:14b", "ollama/gemma3:12b")
    assert "Writer and judge come from different families." in answer.content.decode()
    assert "Both models are available." in answer.content.decode()


def test_a_model_that_is_gone_is_replaced_but_not_one_whose_server_is_away(as_editor, monkeypatch):
    launched(as_editor)
    assert as_editor.get(NEW).context["form"]["producer"].value() == "ollama/loopback:1b"
    offered(monkeypatch, "qwen3:14b", "gemma3:12b")
    assert as_editor.get(NEW).context["form"]["producer"].value() == "ollama/qwen3:14b"
    offered(monkeypatch)
    assert as_editor.get(NEW).context["form"]["producer"].value() == "ollama/loopback:1b"


def test_without_a_model_the_page_says_why_and_where_to_connect_one(as_owner, monkeypatch):
    away = [Offer("ollama", problem="Cannot connect to 127.0.0.1:11434.")]
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", lambda: away)
    page = as_owner.get(NEW).content.decode()
    assert "No model server is available." in page
    assert "Cannot connect to 127.0.0.1:11434." in page
    assert '<a href="/connect/">Who to ask</a>, then come back.' in page
    refused = as_owner.post(NEW, filled(producer="", judge=""))
    assert refused.status_code == 422
    assert refused.context["form"].errors["producer"] == [NO_SERVER]


def test_with_the_demo_model_alone_it_is_chosen_and_said(as_owner, monkeypatch):
    alone = [Offer("ollama", problem="Not responding."), Offer("embedded", (ModelInfo("smollm2-135m"),))]
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", lambda: alone)
    answer = as_owner.get(NEW)
    assert answer.context["form"]["judge"].value() == "embedded/smollm2-135m"
    assert "The demo model is chosen: fine for a tour" in answer.content.decode()


def test_try_the_demo_model_opens_a_sample_with_it_and_starts_nothing(as_owner, monkeypatch):
    away = Offer("ollama", problem="Cannot connect to 127.0.0.1:11434.")
    models = [away, Offer("embedded", (ModelInfo("smollm2-135m", context_length=8_192),))]
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", lambda: models)
    answer = as_owner.get(NEW, {"models": "demo"})
    form = answer.context["form"]
    assert {form["producer"].value(), form["judge"].value()} == {"embedded/smollm2-135m"}
    assert "backups" in form["task"].value()
    assert "A sample task with the demo model." in answer.content.decode()
    assert "context" not in [caution.code for caution in answer.context["panel"]["cautions"]]
    assert not Run.objects.exists()


def test_the_demo_model_is_one_click_away_and_a_missing_model_is_said(as_editor, monkeypatch):
    launched(as_editor)
    models = [Offer("ollama", problem="Not responding."), Offer("embedded", (ModelInfo("smollm2-135m"),))]
    monkeypatch.setattr("refinement.views.runs.launch.models_for_launch", lambda: models)
    answer = as_editor.get(NEW)
    page = answer.content.decode()
    assert 'name="use" value="models=embedded/smollm2-135m"' in page
    assert "Not available now" in page
    assert "different families" not in page
    assert "Launch (waits for ollama)" in page
    chosen = as_editor.post(ESTIMATE, filled(use="models=embedded/smollm2-135m")).context["form"]
    assert {chosen["producer"].value(), chosen["judge"].value()} == {"embedded/smollm2-135m"}
    swapped = as_editor.post(ESTIMATE, filled(use="models=embedded/smollm2-135m"), headers=HTMX)
    assert 'id="launch-label" hx-swap-oob="true">Launch<' in swapped.content.decode()


def test_nothing_is_taken_over_from_the_prepared_example(as_owner, owner, project):
    example = example_open(project=project, user=owner)
    answer = as_owner.get(NEW)
    page = answer.content.decode()
    assert answer.context["form"]["producer"].value().startswith("ollama/")
    assert "(not available)" not in page
    assert "is not in use" not in page
    assert example.title not in page


def test_a_warning_about_families_offers_another_judge(as_editor, monkeypatch):
    offered(monkeypatch, "qwen3:14b", "qwen3:8b", "gemma3:12b")
    related = {"producer": "ollama/qwen3:14b", "judge": "ollama/qwen3:8b"}
    page = as_editor.post(ESTIMATE, filled(**related), headers=HTMX).content.decode()
    assert 'name="use" value="judge=ollama/gemma3:12b"' in page
    answer = as_editor.post(ESTIMATE, filled(**related, use="judge=ollama/gemma3:12b"))
    assert answer.context["form"]["judge"].value() == "ollama/gemma3:12b"
    assert "same_family" not in [caution.code for caution in answer.context["panel"]["cautions"]]


# --- the starting text ----------------------------------------------------------------------------
def test_a_round_of_another_run_is_the_starting_text(as_editor, project):
    run = finished_run(project)
    best = run.rounds.get(number=run.best_round)
    assert launched(as_editor, start="run", seed_run=str(run.pk)).seed == best.candidate
    first = run.rounds.get(number=1)
    assert launched(as_editor, start="run", seed_run=f"{run.pk} / 1").seed == first.candidate
    data = {**filled(start="run", seed_run=f"{run.pk}/1"), "task_chars": "5", "shown": "wiggum@1"}
    panel = as_editor.post(ESTIMATE, data, headers=HTMX).context["panel"]
    assert panel["estimate"].calls.low == 1  # no draft is written


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("", "Enter the number of a run."),
        ("x", "Enter a run"),
        ("{run}/99", "has no round 99"),
        ("999999", "This project has no run 999999."),
        ("{other}", "This project has no run"),
    ],
)
def test_a_round_that_is_not_there_is_said(as_editor, project, other_project, reference, words):
    default_rubrics_install(project=other_project)
    wanted = reference.format(run=finished_run(project).pk, other=finished_run(other_project).pk)
    answer = as_editor.post(NEW, filled(start="run", seed_run=wanted))
    assert answer.status_code == 422
    assert words in answer.context["form"].errors["seed_run"][0]


def test_the_start_alone_can_be_judged(as_editor):
    run = launched(as_editor, start="pasted", seed="A text.", only_judge="1")
    assert run.snapshot["policy"]["max_rounds"] == 1


# --- labels, money and budgets --------------------------------------------------------------------
def test_a_title_is_the_runs_and_part_of_an_edited_rerun(as_editor):
    assert launched(as_editor).title.startswith("Explain how our backups are made")
    run = launched(as_editor, title="  Our \n backups ")
    assert run.title == "Our backups"
    assert as_editor.get(NEW, {"from": run.pk}).context["form"]["title"].value() == "Our backups"


def test_a_run_on_models_with_a_price_tells_what_it_may_cost(as_editor):
    ModelPrice.objects.create(endpoint="ollama", model="loopback:8b", prompt=2, completion=10)
    answer = as_editor.post(ESTIMATE, filled(), headers=HTMX)
    cost = answer.context["panel"]["cost"]
    assert 0 < cost.low < cost.high
    assert (cost.priced, cost.all_priced) == (["loopback:8b"], False)
    assert "<dt>Cost</dt>" in answer.content.decode()
    twice = as_editor.post(ESTIMATE, filled(repeats="2"), headers=HTMX).context["panel"]["cost"]
    assert twice.high > cost.high
    limited = as_editor.post(ESTIMATE, filled(tokens="1000"), headers=HTMX).context["panel"]["cost"]
    assert limited.high <= Decimal("0.01")  # all of them at the higher price


def test_without_prices_there_is_no_cost(as_editor):
    assert "<dt>Cost</dt>" not in as_editor.get(NEW).content.decode()


def test_a_budget_that_is_used_up_is_said_first_and_refused(as_editor, project):
    run = launched(as_editor)
    Run.objects.filter(pk=run.pk).update(prompt_tokens=1_000)
    Project.objects.filter(pk=project.pk).update(monthly_tokens=1_000)
    page = as_editor.get(NEW).content.decode()
    assert "The budget is used up." in page
    answer = as_editor.post(NEW, filled(key="again"))
    assert answer.status_code == 422
    assert "1,000 of 1,000 tokens" in answer.context["form"].non_field_errors()[0]
    assert Run.objects.count() == 1
