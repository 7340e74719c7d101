"""`wiggum import`: report, dry run and exit codes, locally and on a server."""

import json

import pytest

from refinement.models import Run
from tests.cli.conftest import told


@pytest.fixture
def file(project, tmp_path):
    """A run of another loop, as it wrote it down."""
    line = {"run_id": "a1", "task": "Explain the backups", "final_content": "Backups run at night."}
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({**line, "wiggum_scores": {"r1": {"depth": 6, "structure": 7}}}) + "\n")
    return path


def test_a_run_comes_in_once(wiggum, file):
    dry = told(wiggum("import", "--dry-run", file, "--json"))
    assert (dry["dry_run"], dry["new"], Run.objects.count()) == (True, 1, 0)
    assert "1 would be imported" in wiggum("import", "--dry-run", file).stderr
    first = wiggum("import", file)
    assert first.exit_code == 0, first.output
    run = Run.objects.get()
    assert f"imported as run {run.pk}" in first.stdout
    assert "1 imported, 0 already imported, 0 refused" in first.stderr
    again = told(wiggum("import", file, "--json"))
    assert (again["new"], again["here"], Run.objects.count()) == (0, 1, 1)


def test_a_folder_keeps_its_names(wiggum, project, tmp_path):
    folder = tmp_path / "mail"
    folder.mkdir()
    table = "| Iteration | Clarity | Composite |\n|---|---|---|\n| 0 | 5 | 5.0 |\n| 1 | 7 | 7.0 |\n"
    (folder / "trajectory.md").write_text(f"# Trajectory\n\n{table}\nBest iteration: 1 (7.0/10)\n")
    (folder / "iteration-0-candidate.md").write_text("Hello.\n")
    (folder / "iteration-1-candidate.md").write_text("Hello, Ada.\n")
    answer = told(wiggum("import", folder, "--json"))
    assert [(entry["name"], entry["source"], entry["state"]) for entry in answer["runs"]] == [
        ("mail", "simmer", "new")
    ]
    assert Run.objects.get().rounds.count() == 2


def test_what_cannot_be_a_run_is_refused_and_told(wiggum, project, tmp_path):
    bad = tmp_path / "run.json"
    bad.write_text(json.dumps({"wiggum_run": 1, "run": {"title": "half"}}))
    result = wiggum("import", bad)
    assert result.exit_code == 1, result.output
    assert "refused" in result.stdout
    assert "run.json" in result.stderr
    assert not Run.objects.exists()


def test_nothing_at_the_path(wiggum, project, tmp_path):
    result = wiggum("import", tmp_path / "nowhere")
    assert (result.exit_code, "does not exist" in result.stderr) == (4, True)


def test_key_changes_are_shown_with_the_run(wiggum, project, tmp_path):
    folder = tmp_path / "docs" / "simmer"
    folder.mkdir(parents=True)
    table = "| Iter | Clarity | Composite | Key Change |\n|---|---|---|---|\n| 0 | 5 | 5.0 | seed |\n"
    (folder / "trajectory.md").write_text(
        f"# Simmer Trajectory: Mail\n\n{table}| 1 | 7 | 7.0 | names the offer |\n"
    )
    (folder / "iteration-1-candidate.py").write_text("print('Hello')\n")
    assert wiggum("import", folder).exit_code == 0
    shown = wiggum("run", "show", Run.objects.get().pk).stdout
    assert "KEY CHANGE" in shown
    assert "names the offer" in shown
    assert Run.objects.get().title == "Mail"


def test_weights_are_given_or_refused(wiggum, file):
    assert wiggum("import", "--weights", "depth", file).exit_code == 2
    told(wiggum("import", "--weights", "depth=.75,structure=.25", file, "--json"))
    assert Run.objects.get().best == 6.25
