"""An imported run may name any endpoint as text; no worker or page opens a path for it."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from refinement.execution.trials.advancing import trial_advance
from refinement.models import Bench, BenchTrial, Run, RunStatus
from refinement.providers.registry import Target
from refinement.selectors.endpoints import endpoint_spec
from refinement.services import upkeep
from refinement.services.imports.uploads import SourceFile, import_files
from refinement.services.runs.creating import run_create
from tests.api.conftest import api_editor
from tests.execution.trials.given import Table
from tests.stepping import run_step
from tests.views.runs.finished import finished_run

__all__ = ["api_editor"]
pytestmark = pytest.mark.django_db
CANARY = "kept in a file of the server"
watched: list[str] = []
opened: list[str] = []


def notice_open(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and str(args[0]) in watched:
        opened.append(str(args[0]))


sys.addaudithook(notice_open)


@pytest.fixture
def script(tmp_path: Path) -> Iterator[Path]:
    """A file on the server that is a valid script; opening it is detected."""
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(json.dumps({"role": role, "text": CANARY}) for role in ("producer", "judge")))
    watched.append(str(path))
    opened.clear()
    yield path
    watched.clear()


def imported(project, script: Path) -> Run:
    """A run from a file that names the path as its producer and its judge."""
    document = document_of(finished_run(project, ("7", "9.5"), outcome="PASS"))
    for role in ("producer", "judge"):
        document["run"][role] |= {"endpoint": f"scripted:{script}", "model": "scripted"}
    document["run"]["id"], document["run"]["nonce"] = None, "abcdef123456"
    report = import_files([SourceFile("run.json", json.dumps(document).encode())], project=project)
    return Run.objects.get(pk=report.entries[0].run)


def document_of(run: Run) -> dict:
    from refinement.downloads import whole

    found = Run.objects.select_related("project", "rubric", "rubric_version").get(pk=run.pk)
    return json.loads("".join(whole(found)))


def worker_run(project, script: Path) -> Run:
    """A queued run as an earlier release would have made it of an imported one."""
    run = imported(project, script)
    target = Target(f"scripted:{script}", "scripted")
    return run_create(
        project=project, version=run.rubric_version, task="Write.", producer=target, judge=target
    )


def test_an_import_shows_the_name_and_opens_nothing(as_viewer, project, script):
    run = imported(project, script)
    assert run.producer_endpoint == f"scripted:{script}"
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/").status_code == 200
    assert opened == []


def test_a_rerun_on_a_page_is_refused(as_editor, project, script):
    run = imported(project, script)
    answer = as_editor.post(f"/p/alpha/runs/{run.pk}/do/rerun/")
    assert answer.status_code == 422
    assert "uses scripted replies, which only work with “wiggum refine”" in answer.content.decode()
    assert (Run.objects.filter(rerun_of=run).count(), opened) == (0, [])


def test_a_rerun_by_token_is_refused(api_editor, project, script):
    run = imported(project, script)
    answer = api_editor.post(f"/projects/alpha/runs/{run.pk}/rerun", {})
    assert answer.status_code == 409
    assert "uses scripted replies" in answer.json()["detail"]
    assert (Run.objects.filter(rerun_of=run).count(), opened) == (0, [])


def test_a_launch_by_token_is_refused(api_editor, project, script):
    run = imported(project, script)
    body = {"task": "T", "rubric": run.rubric.slug, "producer": f"scripted:{script}", "judge": "ollama/x"}
    assert api_editor.post("/projects/alpha/runs", body).status_code == 422
    assert opened == []


def test_edit_and_rerun_does_not_take_the_name_over(as_editor, project, script):
    run = imported(project, script)
    form = as_editor.get(f"/p/alpha/runs/new/?from={run.pk}")
    assert form.status_code == 200
    assert opened == []


def test_a_worker_ends_the_run_with_words_and_opens_nothing(project, script):
    run = worker_run(project, script)
    while run_step(run.pk) is not None:
        pass
    run.refresh_from_db()
    assert (run.status, run.outcome) == ("finished", "ERROR")
    assert "only work in the foreground" in run.why
    assert (CANARY in str(list(run.rounds.values_list("candidate"))), opened) == (False, [])


def test_a_trial_ends_with_words_and_opens_nothing(project, script):
    table = Table(None, project)
    bench = table.bench(repeats=1, judge=Target(f"scripted:{script}", "scripted"))
    trial_advance(bench.trials.get().pk)
    trial = BenchTrial.objects.get(bench=bench)
    assert trial.status == "failed"
    assert "only work in the foreground" in trial.error
    assert (Bench.objects.get().status, opened) == ("finished", [])


def test_upkeep_looks_at_no_path(project, script):
    run = worker_run(project, script)
    Run.objects.filter(pk=run.pk).update(
        status=RunStatus.WAITING, next_try_at="2100-01-01T00:00Z", waiting_endpoint=f"scripted:{script}"
    )
    upkeep.Upkeep().wake_recovered()
    assert opened == []


@pytest.mark.parametrize(
    "name", ["scripted:/etc/shadow", "eval:grep", "command:/bin/sh", "file:///etc/shadow", "../../x", "/etc"]
)
def test_a_path_is_no_endpoint(db, name):
    with pytest.raises(ValueError, match=r"only work in the foreground|no model server named"):
        endpoint_spec(name)
