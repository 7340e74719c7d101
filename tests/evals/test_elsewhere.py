"""An eval's run in the app: its pages, and workers that must not run its script."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import ralph_rubric
from refinement.engine.types import Check
from tests.execution.wire.conftest import ollama_server, stage
from tests.execution.wire.stage import Stage, drafts
from tests.stepping import run_step

__all__ = ["ollama_server", "stage"]
SCRIPTED = replace(ralph_rubric(), checks=(Check("tests", "command", {"command": ["./t.sh"], "timeout": 9}),))


@pytest.fixture
def left_behind(stage: Stage):
    stage.says(producer=drafts(1))
    return stage.launch(SCRIPTED)


def test_a_worker_runs_no_script_and_gives_no_score_for_it(left_behind):
    for _ in range(3):
        run_step(left_behind.pk)
    left_behind.refresh_from_db()
    assert (left_behind.outcome, left_behind.stop_reason) == ("ERROR", "judge_failed")
    assert "the check 'tests' is a script. Only `wiggum eval` runs scripts" in left_behind.why
    assert left_behind.best is None


def test_pages_show_a_rubric_with_a_script(left_behind, as_editor):
    base = f"/p/alpha/rubrics/{left_behind.rubric.slug}/"
    for page in ("", "edit/", "preview/", "export.yaml", "versions/"):
        assert as_editor.get(f"{base}{page}").status_code == 200, page
    assert as_editor.get(f"/p/alpha/runs/{left_behind.pk}/").status_code == 200


def test_an_editor_cannot_save_a_script(left_behind, as_editor):
    text = as_editor.get(f"/p/alpha/rubrics/{left_behind.rubric.slug}/export.yaml").content.decode()
    assert "kind: command" in text
    answer = as_editor.post("/p/alpha/rubrics/import/", {"text": text, "target": "new"})
    assert answer.status_code == 422
    assert "only `wiggum eval` runs scripts" in answer.content.decode()
