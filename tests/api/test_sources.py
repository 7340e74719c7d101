"""Sources by the API: launch, list, read, and invalid ones."""

import pytest

from refinement.judging.sources import SourceText
from refinement.models import Run
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.rubrics.editing import default_rubrics_install
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
RUNS = "/projects/alpha/runs"
LAUNCH = {
    "task": "Explain our backups.",
    "rubric": "wiggum",
    "producer": "ollama/loopback:1b",
    "judge": "ollama/loopback:8b",
}
NOTES = {"name": "notes.md", "text": "Backups are made at 02:00."}


@pytest.fixture(autouse=True)
def _rubrics(project):
    default_rubrics_install(project=project)


def test_a_launch_with_sources(api_editor, api_viewer):
    body = LAUNCH | {"sources": [NOTES, {"text": "x" * 70_000}], "repeats": 2}
    made = api_editor.post(RUNS, body)
    assert made.status_code == 201
    for run in made.json()["runs"]:
        address = f"{RUNS}/{run['id']}/sources"
        first, second = api_viewer.get(address).json()
        assert first == {"position": 1, "name": "notes.md", "chars": 26, "shown_chars": 26}
        assert (second["name"], second["chars"]) == ("Source 2", 70_000)
        assert second["shown_chars"] < 60_000
        assert api_viewer.get(f"{address}/1").json() == first | {"text": NOTES["text"]}
        assert api_viewer.get(f"{address}/3").status_code == 404


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ([{"name": "a.txt", "text": ""}], "a.txt has no text"),
        ([{"name": "a.txt", "text": "x" * 200_001}], "at most 200,000"),
        ([{"text": "x" * 200_000}] * 3, "600,000 characters together"),
        ([{"text": "x"}] * 21, "at most 20"),
    ],
)
@pytest.mark.parametrize("path", ["", "/estimate"])
def test_beyond_the_limits_nothing_is_launched(api_editor, sources, words, path):
    answer = api_editor.post(f"{RUNS}{path}", LAUNCH | {"sources": sources})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == "body.sources"
    assert words in answer.json()["errors"][0]["message"]
    assert not Run.objects.exists()


def test_an_estimate_counts_sources_and_warns(api_editor):
    plain = api_editor.post(f"{RUNS}/estimate", LAUNCH).json()
    body = LAUNCH | {"sources": [{"text": "word " * 20_000}]}
    found = api_editor.post(f"{RUNS}/estimate", body).json()
    assert found["tokens"]["low"] > plain["tokens"]["low"] + 10_000
    assert found["longest_prompt"] > plain["longest_prompt"] + 10_000
    codes = {warning["code"] for warning in found["warnings"]}
    assert "long-sources" in codes
    limited = api_editor.post(f"{RUNS}/estimate", body | {"settings": {"source_limit": 200_000}}).json()
    assert "long-sources" not in {warning["code"] for warning in limited["warnings"]}


def test_another_projects_sources_are_not_there(api_viewer, other_project):
    run = finished_run(other_project, sources=[SourceText("secret.txt", "Secret.")])
    for address in (f"{RUNS}/{run.pk}/sources", f"{RUNS}/{run.pk}/sources/1"):
        answer = api_viewer.get(address)
        assert answer.status_code == 404
        assert "ecret" not in answer.content.decode()


def test_who_scores_blind_reads_them(api_viewer, viewer, project):
    run = finished_run(project, sources=[SourceText("notes.txt", "Facts.")])
    blind_reading_begin(run=run, number=1, user=viewer)
    assert api_viewer.get(f"{RUNS}/{run.pk}").status_code == 403
    assert api_viewer.get(f"{RUNS}/{run.pk}/sources/1").json()["text"] == "Facts."
