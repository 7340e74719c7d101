"""`wiggum import`: the report, the dry run, and how it ends."""

import json

import pytest

from refinement.models import Run
from tests.cli.conftest import called, told


@pytest.fixture
def file(project, tmp_path):
    """A run of another loop, as it wrote it down."""
    line = {"run_id": "a1", "task": "Explain the backups", "final_content": "Backups run at night."}
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({**line, "wiggum_scores": {"r1": {"depth": 6, "structure": 7}}}) + "\n")
    return path


def test_a_run_comes_in_once(file):
    dry = told(called("import", "--dry-run", file, "--json"))
    assert (dry["dry_run"], dry["new"], Run.objects.count()) == (True, 1, 0)
    first = called("import", file)
    assert first.exit_code == 0, first.output
    run = Run.objects.get()
    assert f"imported as run {run.pk}" in first.stdout
    assert "1 imported, 0 here already, 0 refused" in first.stderr
    again = told(called("import", file, "--json"))
    assert (again["new"], again["here"], Run.objects.count()) == (0, 1, 1)


def test_what_cannot_be_a_run_is_refused_and_told(project, tmp_path):
    bad = tmp_path / "run.json"
    bad.write_text(json.dumps({"wiggum_run": 1, "run": {"title": "half"}}))
    result = called("import", bad)
    assert result.exit_code == 1, result.output
    assert "refused" in result.stdout
    assert not Run.objects.exists()


def test_nothing_at_the_path_and_no_server(project, tmp_path):
    result = called("import", tmp_path / "nowhere")
    assert (result.exit_code, "There is nothing at" in result.stderr) == (2, True)
    result = called("import", tmp_path, "--server", "https://wiggum.example.org", "--token", "wgm_x")
    assert (result.exit_code, "Runs → Import" in result.stderr) == (4, True)
