"""The reward-hacking watch on a run's page: length, the rubric's words, and the held-out judge."""

import re
from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.engine.profiles import rubric_for
from refinement.models import BenchTrial, Measurement, Project, Run, RunLedger
from refinement.providers.registry import Target
from refinement.services.runs.held_out import held_out_start
from refinement.services.runs.shares import share_link_make
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
SHORT = "Deploy with the script. Watch the dashboard. " * 5
LONG = SHORT * 2


def page(client, run, rest=""):
    answer = client.get(f"/p/{run.project.slug}/runs/{run.pk}/{rest}")
    assert answer.status_code == 200
    return answer.content.decode()


def judged_run(project, first=None, best=None, **more) -> Run:
    """A run with a held-out judge; it has answered if there are scores."""
    run = finished_run(
        project, ["5", "8"], candidates=[SHORT, SHORT + "More."], held_out_model="mistral:7b",
        held_out_endpoint="ollama", **more,
    )  # fmt: skip
    measurement = held_out_start(run)
    if first is not None:
        for item, score in zip(measurement.items.order_by("position"), (first, best), strict=True):
            BenchTrial.objects.create(bench=item.bench, number=1, status="done", composite=score, scores={})
        Measurement.objects.update(status="finished", finished_at="2026-01-01T00:00Z")
    return run


def test_a_gain_that_only_the_loops_judge_sees_is_a_doubt(as_viewer, project):
    text = page(as_viewer, judged_run(project, "7.1", "7.2"))
    said = "The held-out judge sees no gain: 7.10 → 7.20 from round 1 to round 2."
    assert text.count(said) == 2  # in the header's doubts and beside the verdict
    assert "Only the loop’s own judge sees the gain." in text
    assert "<dt>Held-out judge</dt>" in text
    assert "mistral:7b" in text


def test_a_confirmed_gain_is_no_doubt(as_viewer, project):
    text = page(as_viewer, judged_run(project, "5", "7.2"))
    assert text.count("The held-out judge confirms the gain: 5.00 → 7.20 from round 1 to round 2.") == 1
    assert "<dt>Held-out judge</dt>" not in text


def test_it_says_that_it_waits_and_other_rounds_do_not(as_viewer, project):
    run = judged_run(project)
    assert "Scoring the first and the best round." in page(as_viewer, run)
    assert "held-out judge" not in page(as_viewer, run, "rounds/1/")


def test_length_that_grows_with_the_score_is_a_doubt(as_viewer, project):
    text = page(as_viewer, finished_run(project, ["5", "8"], candidates=[SHORT, LONG]))
    assert "<dd><bdi>It grew from 35 to 70 words while its score rose." in text
    assert "35 → 70 words as its score rose" in text
    calm = page(as_viewer, finished_run(project, ["5", "8"], candidates=[SHORT, SHORT + "More."]))
    assert "words while its score rose" not in calm
    fell = page(as_viewer, finished_run(project, ["8", "5"], candidates=[SHORT, LONG]))
    assert "words while its score rose" not in fell


def test_the_rubrics_words_in_the_text_are_a_doubt(as_viewer, project):
    rubric = rubric_for("wiggum")
    criteria = tuple(
        replace(criterion, description="Names concrete failure modes and early warning signs.", ideal="")
        for criterion in rubric.criteria
    )
    echo = f"{SHORT} It names concrete failure modes and early warning signs."
    run = finished_run(
        project, ["5", "8"], candidates=[SHORT, echo], definition=replace(rubric, criteria=criteria)
    )
    text = page(as_viewer, run)
    assert "phrases are new in it: “names concrete failure” and “concrete failure modes”." in text


def test_a_shared_page_has_the_same_doubt(client, project, owner):
    Project.objects.filter(pk=project.pk).update(sharing=True)
    run = judged_run(project, "7.1", "7.2")
    run.project.refresh_from_db()
    _, token = share_link_make(run=run, by=owner, days=7)
    text = client.get(f"/s/{token}/").content.decode()
    assert "The held-out judge sees no gain: 7.10 → 7.20 from round 1 to round 2." in text


def test_the_watch_takes_few_queries(as_viewer, project):
    counts = []
    for run in (finished_run(project), judged_run(project, "5", "6")):
        page(as_viewer, run)
        with CaptureQueriesContext(connection) as queries:
            page(as_viewer, run)
        counts.append(len(queries))
    assert counts[1] - counts[0] <= 3


def test_the_api_tells_it(as_viewer, project):
    run = judged_run(project, "7.1", "7.2")
    told = as_viewer.get(f"/api/v1/projects/{project.slug}/runs/{run.pk}").json()
    assert told["held_out"]["judge"] == "ollama/mistral:7b"
    assert told["held_out"]["finding"] == "no_gain"
    assert (told["held_out"]["first"], told["held_out"]["best"]) == ("7.1", "7.2")
    assert (told["growth"]["first_words"], told["growth"]["best_words"], told["growth"]["grew"]) == (
        35,
        36,
        False,
    )
    plain = as_viewer.get(f"/api/v1/projects/{project.slug}/runs/{finished_run(project, ['5']).pk}").json()
    assert (plain["held_out"], plain["growth"]) == (None, None)


def test_the_rubric_page_counts_what_was_followed(as_viewer, project):
    run = finished_run(project)
    address = f"/p/{project.slug}/rubrics/{run.rubric.slug}/"
    assert "Feedback followed" not in as_viewer.get(address).content.decode()
    RunLedger.objects.filter(run=run).update(
        suggestions=100,
        suggestions_followed=62,
        suggestions_raised=25,
        items=300,
        items_followed=150,
        items_raised=30,
    )  # fmt: skip
    text = as_viewer.get(address).content.decode()
    assert "62 of 100</b> suggestions were followed (62 %)" in text
    assert "25</b> of those raised the score (40 %)" in text
    assert "150 of 300</b> were followed (50 %)" in text
    assert "30</b> of those raised the score (20 %)." in text
    assert '<span class="end soft small">1 run</span>' in text
    RunLedger.objects.filter(run=run).update(suggestions_followed=12, suggestions_raised=3)
    text = as_viewer.get(address).content.decode()
    assert "3</b> of those raised the score: too few to tell." in text


def test_the_launch_form_takes_a_held_out_judge(as_editor, project):
    run = finished_run(project, held_out_endpoint="ollama", held_out_model="mistral:7b")
    text = as_editor.get(f"/p/{project.slug}/runs/new/?from={run.pk}").content.decode()
    assert 'name="held_out"' in text
    assert "ollama/mistral:7b" in text
    body = {
        "key": "k", "task": "Write it.", "start": "draft", "rubric": run.rubric.slug, "repeats": "1",
        "producer_typed": "ollama/qwen3:4b", "judge_typed": "ollama/gemma3:27b",
        "held_out": "ollama/mistral:7b",
    }  # fmt: skip
    answer = as_editor.post(f"/p/{project.slug}/runs/new/", body)
    if answer.status_code == 422:  # it asks whether to launch although no server answers
        body["warned"] = re.findall(r'name="warned" value="([^"]*)"', answer.content.decode())
        answer = as_editor.post(f"/p/{project.slug}/runs/new/", body)
    assert answer.status_code == 302, answer.content.decode()
    made = Run.objects.order_by("-pk").first()
    assert (made.held_out_endpoint, made.held_out_model) == ("ollama", "mistral:7b")
    same = as_editor.post(
        f"/p/{project.slug}/runs/new/", {**body, "key": "l", "held_out": "ollama/gemma3:27b"}
    )
    assert same.status_code == 422
    assert "gemma3:27b judges in the loop." in same.content.decode()


def test_the_api_launches_with_a_held_out_judge(as_editor, project):
    run = finished_run(project)
    body = {
        "task": "Write it.", "rubric": run.rubric.slug, "producer": "ollama/qwen3:4b",
        "judge": "ollama/gemma3:27b", "held_out": "ollama/mistral:7b",
    }  # fmt: skip
    answer = as_editor.post(f"/api/v1/projects/{project.slug}/runs", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert answer.json()["runs"][0]["held_out"]["judge"] == "ollama/mistral:7b"
    body["held_out"] = body["judge"]
    refused = as_editor.post(f"/api/v1/projects/{project.slug}/runs", body, content_type="application/json")
    assert refused.status_code == 422
    assert Target("ollama", "gemma3:27b").model in refused.content.decode()
