"""Evaluator commands in whole runs: evidence for the judge, stored with the round, only if allowed."""

import json
import threading
from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from refinement.downloads import report, whole
from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, Handover
from refinement.execution.commands import running as evaluating
from refinement.models import EvaluatorResult, Project, Run
from refinement.providers.sandbox import SandboxConfig
from refinement.providers.sandbox.service import Server
from refinement.selectors.runs.history import history_of
from refinement.services.imports.uploads import SourceFile, import_files
from refinement.services.runs.lifecycle import WrongState, run_cancel, run_rerun
from tests.execution.wire.stage import composites, drafts, texts, verdict
from tests.sandboxed import needs_sandbox

pytestmark = pytest.mark.django_db


def evaluated(script: str, **changes):
    """Two rounds of Simmer's rubric, each tried by a line of shell."""
    base = rubric_for("simmer")
    return replace(
        base,
        context=context_rules_for("simmer", evaluator=True),
        policy=replace(base.policy, max_rounds=2),
        evaluation_mode=EvaluationMode.RUNNABLE,
        evaluator=replace(Evaluator(("/bin/sh", "-c", script), Handover.STDIN), **changes),
    )


@pytest.fixture(autouse=True)
def _allowed(settings):
    needs_sandbox()
    settings.COMMANDS = ["/bin/sh"]


def test_what_the_command_says_is_evidence_and_the_judge_scores(stage):
    rubric = evaluated("echo read: $(cat | head -c 11); echo one warning >&2; exit 4")
    stage.says(producer=drafts(2), judge=[verdict(rubric, 7), verdict(rubric, 8)])
    run = stage.play(rubric)
    assert composites(run) == [7, 8]
    rows = EvaluatorResult.objects.filter(round__run=run).order_by("round__number")
    assert [row.stdout for row in rows] == ["read: # Version 1\n", "read: # Version 2\n"]
    assert {(row.exit_code, row.stderr, row.failure) for row in rows} == {(4, "one warning\n", "")}
    asked = texts(stage.asked("judge")[1])[-1]
    block = asked.split("<<<EVALUATOR OUTPUT", 1)[1].split("<<<END EVALUATOR OUTPUT", 1)[0]
    assert "exit code 4\nstdout:\nread: # Version 2" in block
    assert "stderr:\none warning" in block
    assert "Version 1" not in block
    judged = run.calls.filter(role="judge").first()
    assert "evaluator_output" in judged.seen
    assert "one warning" not in " ".join(text for entry in stage.asked("producer") for text in texts(entry))


def test_a_judge_that_does_not_see_it_is_not_told(stage):
    rubric = evaluated("echo a secret measure")
    rubric = replace(rubric, context=context_rules_for("simmer"))
    stage.says(producer=drafts(2), judge=[verdict(rubric, 7)] * 2)
    run = stage.play(rubric)
    assert "secret measure" not in " ".join(text for entry in stage.asked("judge") for text in texts(entry))
    assert "evaluator_output" in run.calls.filter(role="judge").first().withheld


def test_a_complete_failure_is_at_the_bottom_whatever_the_judge_says(stage):
    rubric = evaluated("grep -q 'Version 1' && { echo broken >&2; exit 1; }; echo fine")
    stage.says(producer=drafts(2), judge=[verdict(rubric, 9, asi="Mend the import."), verdict(rubric, 6)])
    run = stage.play(rubric)
    assert composites(run) == [1, 6]
    assert EvaluatorResult.objects.get(round__run=run, round__number=1).failure.endswith("errors only.")
    assert "failed completely on this candidate. Give every criterion 1" in texts(stage.asked("judge")[0])[-1]
    told = texts(stage.asked("producer")[1])[-1]
    assert "When this version was tried, it failed completely." in told
    later = texts(stage.asked("judge")[1])[-1]
    assert "\nclarity 1, completeness 1, usefulness 1\n<<<END SEED SCORES" in later
    assert "round 1: composite 1 (clarity 1, completeness 1, usefulness 1); seed" in later
    assert "Mend the import." in told
    assert "broken" not in told
    again = history_of(Run.objects.get(pk=run.pk), rubric, whole=True)
    assert [entry.assessment.composite for entry in again.rounds] == [1, 6]


def test_it_is_run_once_for_a_round_however_often_the_judge_is_asked(stage, monkeypatch):
    ran = []
    real = evaluating.run_job
    monkeypatch.setattr(evaluating, "run_job", lambda *given: ran.append(1) or real(*given))
    rubric = evaluated("date +%N")
    stage.says(producer=drafts(2), judge=["no verdict", verdict(rubric, 7), "none", verdict(rubric, 8)])
    run = stage.play(rubric)
    assert (composites(run), len(ran)) == ([7, 8], 2)
    blocks = [texts(entry)[1].split("EVALUATOR OUTPUT")[1] for entry in stage.asked("judge")]
    assert blocks[0] == blocks[1] != blocks[2] == blocks[3]


def test_what_is_not_allowed_is_refused_and_no_worker_runs_it(stage, settings, monkeypatch):
    rubric = evaluated("echo never")
    run = stage.launch(rubric)
    finished = stage.launch(rubric)
    settings.COMMANDS = ["pytest"]
    with pytest.raises(ValidationError, match="which is not allowed here"):
        stage.launch(rubric)
    with pytest.raises(WrongState, match="WIGGUM_COMMANDS"):
        run_rerun(run=finished)
    settings.COMMANDS = []
    monkeypatch.setattr(evaluating, "run_job", None)
    stage.says(producer=drafts(1), judge=[verdict(rubric, 7)])
    stage.carry_on(run)
    assert (run.outcome, run.stop_reason) == ("ERROR", "judge_failed")
    assert "commands are disabled on this instance" in run.why
    assert composites(run) == [None]
    settings.COMMANDS = ["*"]
    stage.launch(rubric)


def test_a_program_that_is_not_there_scores_nothing(stage, settings):
    settings.COMMANDS = ["there-is-no-such-program"]
    rubric = replace(evaluated(""), evaluator=Evaluator(("there-is-no-such-program", "{file}")))
    stage.says(producer=drafts(1), judge=[verdict(rubric, 7)])
    run = stage.play(rubric)
    assert "there-is-no-such-program cannot be started" in run.why
    assert (composites(run), run.stop_reason) == ([None], "judge_failed")


def test_it_stops_when_its_run_is_cancelled(stage, monkeypatch):
    rubric = evaluated("sleep 100")
    stage.says(producer=drafts(1), judge=[verdict(rubric, 7)])
    run = stage.launch(rubric)
    real = evaluating.run_job

    def cancelled(*given):
        run_cancel(run=Run.objects.get(pk=run.pk))
        return real(*given)

    monkeypatch.setattr(evaluating, "run_job", cancelled)
    stage.carry_on(run)
    assert run.outcome == "CANCELLED"
    assert not EvaluatorResult.objects.exists()


def test_its_output_comes_back_from_a_file_byte_by_byte_and_stands_in_the_report(stage):
    rubric = evaluated(r"printf '\033[31mred\033[0m \377 <b>\r\n'; yes | head -c 90000; exit 1")
    stage.says(producer=drafts(2), judge=[verdict(rubric, 7), verdict(rubric, 8)])
    run = stage.play(rubric)
    document = "".join(
        whole(Run.objects.select_related("project", "rubric", "rubric_version").get(pk=run.pk))
    )
    said = json.loads(document)["rounds"][0]["evaluator"]
    assert said["stdout"].startswith("red \ufffd <b>\ny\n")
    assert (said["exit_code"], said["failure"], said["stdout_missing"] > 50_000) == (1, "", True)
    there = Project.objects.create(name="Elsewhere", slug="elsewhere")
    (entry,) = import_files([SourceFile("run.json", document.encode())], project=there).entries
    assert (entry.state, entry.notes, entry.contradictions) == ("new", (), ())
    copy = Run.objects.select_related("project", "rubric", "rubric_version").get(pk=entry.run)
    assert json.loads("".join(whole(copy)))["rounds"] == json.loads(document)["rounds"]
    told = "".join(report(copy))
    assert "ended with exit code 1." in told
    assert "```text\nred \ufffd <b>\ny\n" in told
    assert "bytes were not stored" in told


def test_without_a_sandbox_nothing_runs_and_the_run_says_what_to_install(stage, monkeypatch, tmp_path):
    proof = tmp_path / "proof"
    rubric = evaluated(f"touch {proof}")
    stage.says(producer=drafts(1), judge=[verdict(rubric, 7)])
    run = stage.launch(rubric)
    monkeypatch.setenv("PATH", str(tmp_path))
    stage.carry_on(run)
    assert (composites(run), run.stop_reason) == ([None], "judge_failed")
    assert "/bin/sh was not run: bubblewrap is not installed. Install bubblewrap" in run.why
    assert not proof.exists()


def test_with_a_socket_the_evaluator_service_runs_it(stage, settings, tmp_path):
    settings.EVALUATOR_SOCKET = str(tmp_path / "socket")
    rubric = evaluated("echo in the service")
    stage.says(producer=drafts(2), judge=[verdict(rubric, 7), verdict(rubric, 8)])
    with Server(settings.EVALUATOR_SOCKET, frozenset({"/bin/sh"}), SandboxConfig()) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            run = stage.play(rubric)
        finally:
            server.shutdown()
            thread.join()
    rows = EvaluatorResult.objects.filter(round__run=run)
    assert [(row.stdout, row.open_to) for row in rows] == [("in the service\n", "")] * 2


def test_a_program_is_shown_by_its_path_only_if_the_setting_names_it(settings):
    settings.COMMANDS, settings.COMMANDS_READABLE = ["/srv/checks/score.py", "*"], ["/srv/tools"]
    assert evaluating.sandbox_config("/srv/checks/score.py").readable == (
        "/srv/tools",
        "/srv/checks/score.py",
    )
    assert evaluating.sandbox_config("/srv/other").readable == ("/srv/tools",)
    assert str(settings.DATA_DIR) in evaluating.sandbox_config("sh").hidden
