"""Launching experiments: the form, its buttons with and without scripts, and actions afterwards."""

import pytest
from django.urls import reverse

from refinement.engine.profiles import rubric_for
from refinement.forms.experiments.prompts import source_of
from refinement.models import Experiment
from refinement.providers.base import ModelInfo
from refinement.selectors.experiments.words import configuration_words
from refinement.selectors.launch import model_lists
from refinement.selectors.launch.available_models import Offer
from tests.selectors.experiments.given import a_suite_of, an_experiment
from tests.services.experiments.given import a_rubric

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_servers(monkeypatch):
    """No model server is available: models are typed."""
    for place in ("refinement.views.experiments.launch", "refinement.services.runs.launching"):
        monkeypatch.setattr(f"{place}.models_for_launch", list)
    model_lists.contexts.forget()


@pytest.fixture
def version(project):
    return a_rubric(project)


def address(project, name="experiment_new", *args):
    return reverse(name, args=[project.slug, *args])


def form_of(suite_version, version, names=("A", "B"), **more):
    data = {
        "name": "Which one?",
        "suite": suite_version.suite.slug,
        "suite_version": suite_version.number,
        "repeats": "2",
        "baseline": "0",
    }
    for number, name in enumerate(names):
        data |= {
            f"c{number}-name": name,
            f"c{number}-version": f"{version.rubric.slug}@{version.number}",
            f"c{number}-producer_typed": "ollama/loopback:1b",
            f"c{number}-judge_typed": "ollama/loopback:8b",
        }
    return data | {name.replace("__", "-"): value for name, value in more.items()}


def test_a_launch_makes_every_run_and_opens_the_page(as_editor, project, version):
    suite = a_suite_of(project, 3)
    data = form_of(
        suite, version, c1__rounds="4", c1__judges="board", c1__background="Short words.", baseline="1"
    )
    data |= {"c1-source_name": "facts.md", "c1-source_text": "Port 80.", "token_budget": "5000"}
    answer = as_editor.post(address(project), data)
    experiment = Experiment.objects.get()
    assert answer["Location"] == address(project, "experiment_page", experiment.pk)
    first, second = experiment.configurations.order_by("position")
    assert (first.baseline, second.baseline) == (False, True)
    assert second.changes == {
        "policy.max_rounds": "4", "judges.mode": "board", "background": "Short words.",
    }  # fmt: skip
    assert second.sources == [{"name": "facts.md", "text": "Port 80."}]
    assert (experiment.repeats, experiment.token_budget, experiment.runs.count()) == (2, 5000, 12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "Enter a name"),
        ({"c1-name": "A"}, "There is already a configuration with this name"),
        ({"c0-producer_typed": ""}, "No model server is available"),
        ({"c0-producer_typed": "nowhere/x"}, "Available model servers"),
        ({"c0-rounds": "x"}, "Not a whole number"),
        ({"c0-threshold": "99"}, "The pass mark must be on the rubric"),
        ({"c0-version": "gone@1"}, "This version is not there any more"),
        ({"repeats": "99"}, "less than or equal to 20"),
        ({"token_budget": "0"}, "greater than or equal to 1"),
    ],
)
def test_problems_are_at_their_field(as_editor, project, version, changes, words):
    answer = as_editor.post(address(project), form_of(a_suite_of(project, 1), version) | changes)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Experiment.objects.exists()


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_configurations_are_duplicated_and_removed(as_editor, project, version, headers):
    data = form_of(a_suite_of(project, 2), version, baseline="1", c1__rounds="4")
    place = address(project, "experiment_estimate")
    html = as_editor.post(place, data | {"do": "duplicate-1"}, headers=headers).content.decode()
    assert 'name="c2-name" value="B (copy)"' in html
    assert 'name="c2-rounds" value="4"' in html
    assert 'name="baseline" value="1" checked' in html
    html = as_editor.post(place, data | {"do": "remove-0"}, headers=headers).content.decode()
    assert 'name="c0-name" value="B"' in html
    assert "c1-name" not in html
    assert 'name="baseline" value="0" checked' in html


def test_the_estimate_alone_follows_the_form(as_editor, project, version):
    headers = {"HX-Request": "true", "HX-Target": "experiment-estimate"}
    data = form_of(a_suite_of(project, 5), version)
    html = as_editor.post(address(project, "experiment_estimate"), data, headers=headers).content.decode()
    assert "<form" not in html
    assert "5 tasks × 2 × 2" in html
    assert ">20<" in html


def test_without_a_model_server_the_estimate_says_that_runs_wait(as_editor, project, version):
    data = form_of(a_suite_of(project, 5), version)
    html = as_editor.post(address(project, "experiment_estimate"), data).content.decode()
    assert "20 runs will wait until a model is connected." in html
    assert "<strong>20 runs</strong> will wait until a model is connected" in html
    assert "waits for a model" in html


def test_configurations_that_run_the_same_are_named(as_editor, project, version):
    headers = {"HX-Request": "true", "HX-Target": "experiment-estimate"}
    data = form_of(a_suite_of(project, 5), version, names=("A", "B", "C"), c2__rounds="4")
    html = as_editor.post(address(project, "experiment_estimate"), data, headers=headers).content.decode()
    assert "A and B are the same: a difference between them is chance." in html
    data["c1-rounds"] = "2"
    html = as_editor.post(address(project, "experiment_estimate"), data, headers=headers).content.decode()
    assert "are the same" not in html


def test_folded_rows_follow_what_was_changed_in_them(as_editor, project, version):
    headers = {"HX-Request": "true", "HX-Target": "experiment-estimate"}
    data = form_of(a_suite_of(project, 1), version) | {"c1-judges": "board"}
    setting = "c1-rounds"
    html = as_editor.post(
        address(project, "experiment_estimate"), data | {setting: "4"}, headers=headers
    ).content.decode()
    assert 'id="c0-changed" hx-swap-oob="true">as in the rubric<' in html
    assert 'id="c1-changed" hx-swap-oob="true">Maximum rounds<' in html
    assert 'id="c1-models" hx-swap-oob="true">A board' in html


def test_the_form_warns_of_judges_that_differ_or_are_related(as_editor, project, version):
    data = form_of(a_suite_of(project, 1), version)
    place = address(project, "experiment_estimate")
    html = as_editor.post(place, data).content.decode()
    assert "A, B: writer and judge are of the same family. Models rate their own family" in html
    assert "scores do not compare" not in html
    html = as_editor.post(place, data | {"c1-judge_typed": "ollama/loopback:1b"}).content.decode()
    assert "The judges differ, so the scores do not compare." in html
    assert "B: writer and judge are the same model." in html
    html = as_editor.post(place, data | {"c1-judges": "board"}).content.decode()
    assert "The boards of judges differ, so the scores do not compare." in html


@pytest.mark.parametrize(("models", "judge"), [(("a:1b", "b:2b"), "b:2b"), (("a:1b",), "a:1b")])
def test_the_judge_is_another_model_than_the_writer_if_there_is_one(
    as_editor, project, version, monkeypatch, models, judge
):
    a_suite_of(project, 1)
    offers = [Offer("ollama", tuple(ModelInfo(name) for name in models))]
    monkeypatch.setattr("refinement.views.experiments.launch.models_for_launch", lambda: offers)
    usual = {"producer": "ollama/a:1b", "judge": "ollama/a:1b"}
    monkeypatch.setattr("refinement.views.experiments.launch.usual_values", lambda *given: usual)
    html = as_editor.get(address(project)).content.decode()
    select = html.split('name="c0-judge"')[1].split("</select>")[0]
    assert f'value="ollama/{judge}" selected' in select


def test_an_experiment_can_be_launched_again(as_editor, project, version):
    as_editor.post(address(project), form_of(a_suite_of(project, 1), version, c1__rounds="4", baseline="1"))
    made = Experiment.objects.get()
    html = as_editor.get(f"{address(project)}?from={made.pk}").content.decode()
    for part in ('value="Which one?"', 'name="c1-rounds" value="4"', 'name="baseline" value="1" checked'):
        assert part in html


def test_a_configuration_is_added_later(as_editor, project, version):
    as_editor.post(address(project), form_of(a_suite_of(project, 2), version))
    made = Experiment.objects.get()
    place = address(project, "configuration_new", made.pk)
    page = as_editor.get(place).content.decode()
    assert 'value="ollama/loopback:1b"' in page
    assert "Enter a name" not in page  # nothing was sent yet
    data = {
        name: value for name, value in form_of(made.suite_version, version, ("C",)).items() if "-" in name
    }
    assert as_editor.post(place, data).status_code == 302
    assert made.configurations.count() == 3
    assert as_editor.post(place, data).status_code == 422


def test_people_pause_resume_stop_and_run_what_is_missing(as_editor, project, version):
    as_editor.post(address(project), form_of(a_suite_of(project, 1), version))
    made = Experiment.objects.get()

    def do(action, **data):
        answer = as_editor.post(address(project, "experiment_action", made.pk, action), data, follow=True)
        made.refresh_from_db()
        return answer.content.decode()

    assert "Experiment paused" in do("pause")
    assert made.status == "paused"
    assert "only a running experiment can be paused" in do("pause")
    assert "Not a whole number" in do("resume", token_budget="x")
    do("resume", token_budget="90000")
    assert (made.status, made.token_budget) == ("running", 90_000)
    assert "Experiment stopped" in do("cancel")
    assert made.status == "cancelled"
    assert "start now" in do("missing")
    assert made.status == "running"
    answer = as_editor.post(address(project, "experiment_action", made.pk, "dance"))
    assert answer.status_code == 404


def test_the_baseline_is_chosen(as_editor, project):
    made = an_experiment(a_suite_of(project, 1), {"A": [7.0], "B": [8.0]})
    second = made.configurations.get(name="B")
    place = address(project, "experiment_baseline", made.pk)
    answer = as_editor.post(place, {"configuration": second.pk}, headers={"HX-Request": "true"})
    assert 'id="experiment-page"' in answer.content.decode()
    second.refresh_from_db()
    assert second.baseline


def test_without_a_suite_the_page_says_what_to_do(as_editor, project):
    html = as_editor.get(address(project)).content.decode()
    assert "No suite yet" in html


def test_a_configuration_has_prompts_of_its_own(as_editor, project, version):
    suite = a_suite_of(project, 1)
    prompt = "Rewrite {{ candidate }} and cite a source for {{ task }}."
    refused = as_editor.post(address(project), form_of(suite, version, c1__prompt_revision="{{ nobody }}"))
    assert (refused.status_code, "Line 1:" in refused.content.decode()) == (422, True)
    same = source_of(rubric_for("wiggum"), "draft")
    data = form_of(suite, version, c1__prompt_revision=prompt, c1__prompt_draft=same)
    assert as_editor.post(address(project), data).status_code == 302
    second = Experiment.objects.get().configurations.get(name="B")
    assert second.changes == {"templates.revision": prompt}
    assert configuration_words(second, Experiment.objects.get().configurations.get(name="A")) == (
        "own revision prompt"
    )
    html = as_editor.get(address(project), {"from": Experiment.objects.get().pk}).content.decode()
    assert "cite a source for" in html
