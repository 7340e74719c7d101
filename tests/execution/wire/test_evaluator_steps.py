"""Validation with one repair, repeats, long commands and the network: real commands in whole runs."""

import itertools
import json
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import _pytest
import iniconfig
import packaging
import pluggy
import py
import pygments
import pytest

from refinement.downloads import whole
from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, Handover, Metric, Round
from refinement.execution import calls, live_text
from refinement.execution.commands import running
from refinement.execution.steps import evaluator
from refinement.models import EvaluatorRepeat, EvaluatorResult, LiveText, Project, Run, ValidationResult
from refinement.providers import processes
from refinement.selectors.runs.history import history_of
from refinement.services.imports.uploads import SourceFile, import_files
from tests.execution.wire.stage import composites, drafts, texts, verdict
from tests.providers.sandbox.surroundings import interpreter
from tests.sandboxed import needs_sandbox

pytestmark = pytest.mark.django_db
NO_SEMICOLON = "grep -q ';' || { echo line 3: a semicolon is missing; exit 7; }"


class Killed(BaseException):
    """The worker ends in the middle of a step."""


def evaluated(script: str, rounds: int = 1, **changes):
    """Simmer's rubric for code, each candidate tried by a line of shell."""
    base = rubric_for("simmer")
    return replace(
        base,
        context=context_rules_for("simmer", evaluator=True),
        policy=replace(base.policy, max_rounds=rounds),
        evaluation_mode=EvaluationMode.RUNNABLE,
        evaluator=replace(Evaluator(("/bin/sh", "-c", script), Handover.STDIN), **changes),
    )


def validated(validation: str = NO_SEMICOLON, **changes):
    return evaluated("echo evaluated", validation=("/bin/sh", "-c", validation), **changes)


@pytest.fixture(autouse=True)
def _allowed(settings):
    needs_sandbox()
    settings.COMMANDS = ["/bin/sh"]


# --- validation ---------------------------------------------------------------------------------------
def test_a_candidate_that_fails_validation_is_repaired_once_before_it_is_judged(stage):
    rubric = validated()
    stage.says(producer=["draft one", "draft one;"], judge=[verdict(rubric, 8)])
    run = stage.play(rubric)
    assert composites(run) == [8]
    assert [(entry.candidate, entry.candidate_chars) for entry in run.rounds.all()] == [("draft one;", 10)]
    first, second = ValidationResult.objects.filter(round__run=run)
    assert (first.exit_code, first.replaced, first.stdout) == (
        7,
        "draft one",
        "line 3: a semicolon is missing\n",
    )
    assert (second.number, second.exit_code, second.replaced) == (2, 0, "")
    assert EvaluatorResult.objects.get(round__run=run).stdout == "evaluated\n"
    asked = texts(stage.asked("producer")[1])[-1]
    assert "exit code 7" in asked
    assert "line 3: a semicolon is missing" in asked
    assert "draft one" in asked
    written = run.calls.filter(role="producer").order_by("id")
    assert [(call.round_number, call.purpose, call.attempt) for call in written] == [
        (1, "draft", 1),
        (1, "repair", 1),
    ]
    kinds = list(run.events.order_by("id").values_list("kind", flat=True))
    assert kinds.count("repaired") == 1
    judged = " ".join(texts(stage.asked("judge")[0]))
    assert "semicolon" not in judged  # the judge sees the evaluator's output, of the repaired candidate


def test_a_candidate_that_is_still_invalid_is_a_complete_failure_and_is_not_evaluated(stage):
    rubric = validated(rounds=2)
    stage.says(
        producer=["draft one", "still wrong", "now; right"],
        judge=[verdict(rubric, 9, asi="End the line."), verdict(rubric, 6)],
    )
    run = stage.play(rubric)
    assert composites(run) == [1, 6]
    result = EvaluatorResult.objects.get(round__run=run, round__number=1)
    assert result.failure == "The validation command failed again after one repair: exit code 7."
    assert result.stdout == "line 3: a semicolon is missing\n"
    assert "a semicolon is missing" in texts(stage.asked("judge")[0])[-1]
    assert [entry.candidate for entry in run.rounds.all()] == ["still wrong", "now; right"]
    assert len(stage.asked("producer")) == 3


def test_a_seed_is_repaired_too_and_stays_with_the_run(stage):
    rubric = validated()
    stage.says(producer=["seed;"], judge=[verdict(rubric, 8)])
    run = stage.play(rubric, seed="seed")
    assert (run.seed, run.rounds.get().candidate, run.rounds.get().origin) == ("seed", "seed;", "seed")


def test_validation_runs_once_and_after_a_stop_only_what_is_missing(stage, monkeypatch):
    ran = []
    real = running.run_job
    monkeypatch.setattr(running, "run_job", lambda job, *given: ran.append(job) or real(job, *given))
    rubric = validated()
    stage.says(producer=["draft", "draft;"], judge=["no verdict", verdict(rubric, 8)])
    run = stage.launch(rubric)
    for _ in range(4):  # draft, validation, repair, judge: a new worker each time
        stage.carry_on(run, turn_over=lambda: True)
    stage.carry_on(run)
    assert run.outcome == "DONE"
    assert len(ran) == 3  # the validation of both candidates, and the evaluator
    assert len(stage.asked("producer")) == 2


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], (False, False)),
        ([(0, "")], (False, False)),
        ([(1, "")], (True, False)),
        ([(1, "old")], (False, True)),
        ([(1, "old"), (0, "")], (False, True)),
        ([(1, "old"), (1, "")], (True, True)),
    ],
)
def test_the_engine_is_told_from_the_rows(stage, rows, expected):
    run = stage.launch(validated(), seed="seed")
    for number, (code, replaced) in enumerate(rows, start=1):
        ValidationResult.objects.create(
            round=run.rounds.get(), number=number, command=["x"], exit_code=code, seconds=0, replaced=replaced
        )
    (entry,) = history_of(run, validated()).rounds
    assert entry == Round(1, "seed", invalid=expected[0], repaired=expected[1])


def test_a_validation_program_must_be_allowed_too(stage, settings):
    settings.COMMANDS = ["/bin/sh"]
    with pytest.raises(Exception, match="runs /bin/cat, which is not allowed here"):
        stage.launch(evaluated("true", validation=("/bin/cat",)))


# --- repeats ------------------------------------------------------------------------------------------
def test_each_repeat_is_saved_and_only_the_missing_ones_run_again(stage, monkeypatch):
    real, ran = running.run_job, []

    def run_job(*given):
        ran.append(1)
        if len(ran) == 3:
            raise Killed
        return real(*given)

    monkeypatch.setattr(running, "run_job", run_job)
    rubric = evaluated("echo run $RANDOM$$", repeat=5)
    stage.says(producer=drafts(1), judge=[verdict(rubric, 8)])
    run = stage.launch(rubric)
    with pytest.raises(Killed):
        stage.carry_on(run)
    kept = list(EvaluatorRepeat.objects.values_list("number", "stdout"))
    assert [number for number, _ in kept] == [1, 2]
    Run.objects.filter(pk=run.pk).update(status="running", lease_until=None, lease_owner="")
    stage.carry_on(run)
    assert len(ran) == 6
    rows = list(EvaluatorRepeat.objects.filter(round__run=run).values_list("number", "stdout"))
    assert ([number for number, _ in rows], rows[:2]) == ([1, 2, 3, 4, 5], kept)
    result = EvaluatorResult.objects.get(round__run=run)
    assert (result.runs, result.failed_runs, result.failure) == (5, 0, "")


@pytest.mark.parametrize(
    ("failing", "composite", "failure"),
    [
        ("3", 8, ""),
        (
            "2 3",
            1,
            "2 of 3 runs failed completely. The command ended with exit code 1 and wrote errors only.",
        ),
    ],
)
def test_most_repeats_decide_on_a_complete_failure(stage, monkeypatch, failing, composite, failure):
    numbers = iter(range(1, 4))
    real = evaluator.evaluator_job

    def job(of, command, text, seconds):
        return real(of, command, str(next(numbers)), seconds)

    monkeypatch.setattr(evaluator, "evaluator_job", job)
    script = (
        f'n=$(cat); for bad in {failing}; do [ "$n" = "$bad" ] && {{ echo no >&2; exit 1; }}; done; echo $n'
    )
    rubric = evaluated(script, repeat=3)
    stage.says(producer=drafts(1), judge=[verdict(rubric, 8)])
    run = stage.play(rubric)
    assert composites(run) == [composite]
    assert EvaluatorResult.objects.get(round__run=run).failure == failure


def test_slow_repeats_give_the_thread_back_in_between(stage, monkeypatch):
    monkeypatch.setattr(evaluator, "REPEATS_SECONDS", 0.0)
    rubric = evaluated("echo measured", repeat=3)
    stage.says(producer=drafts(1), judge=[verdict(rubric, 8)])
    run = stage.launch(rubric)
    saved = []

    def turn_over():
        saved.append(EvaluatorRepeat.objects.count())
        return True

    while not run.is_finished:
        stage.carry_on(run, turn_over=turn_over)
    assert saved == [0, 1, 2]  # the third run of the command and the judge end the round
    assert run.outcome == "DONE"


# --- an hour -------------------------------------------------------------------------------------------
class FastClock:
    """The clock of a module, a thousand times as fast."""

    def __init__(self):
        self.began = time.monotonic()

    def monotonic(self):
        return self.began + (time.monotonic() - self.began) * 1_000

    sleep = staticmethod(time.sleep)


def test_a_command_may_run_for_most_of_an_hour_under_its_lease(stage, monkeypatch):
    clock = FastClock()
    for module in (processes, calls):
        monkeypatch.setattr(module, "time", clock)
    renewed = []
    real = calls.lease_renew
    monkeypatch.setattr(calls, "lease_renew", lambda lease: renewed.append(1) or real(lease))
    rubric = evaluated("sleep 1.5; echo measured at last", timeout=3_600)  # 1,500 s by its clock
    stage.says(producer=drafts(1), judge=[verdict(rubric, 8)])
    run = stage.play(rubric)
    result = EvaluatorResult.objects.get(round__run=run)
    assert (result.stdout, result.stopped, composites(run)) == ("measured at last\n", "", [8])
    assert len(renewed) >= 5
    slow = evaluated("sleep 5", timeout=1_500)
    stage.says(producer=drafts(1), judge=[verdict(slow, 8)])
    stopped = EvaluatorResult.objects.get(round__run=stage.play(slow))
    assert stopped.stopped == "was stopped after 1500 seconds, its limit"


# --- progress ------------------------------------------------------------------------------------------
def test_the_last_line_is_on_the_page_while_the_command_runs(stage, monkeypatch):
    seen = []
    real = live_text.LiveText.objects.create

    def create(**values):
        row = real(**values)
        seen.append(list(LiveText.objects.values_list("text", flat=True)))
        return row

    monkeypatch.setattr(live_text.LiveText.objects, "create", create)
    script = r"printf 'first\nepoch \033[31m1\033[0m\nbar\rbaz \001'; sleep 1.2; echo; echo last; sleep 0.6"
    rubric = evaluated(script)
    stage.says(producer=drafts(1), judge=[verdict(rubric, 8)])
    run = stage.play(rubric)
    lines = [texts for texts in seen if texts in (["baz \ufffd"], ["last"])]
    assert lines == [["baz \ufffd"], ["last"]]  # one row at a time, cleaned
    assert not LiveText.objects.exists()
    said = [event.data for event in run.events.filter(kind__in=["evaluating", "evaluated"]).order_by("id")]
    assert said == [
        {"round": 1, "command": "evaluator", "number": 1},
        {"round": 1, "command": "evaluator", "number": 1, "exit_code": 0},
    ]


# --- network --------------------------------------------------------------------------------------------
CALL = """
import json, sys, urllib.request
body = json.dumps({"model": "loopback:1b", "messages": [{"role": "user", "content": "hi"}], "stream": False})
headers = {"Content-Type": "application/json"}
request = urllib.request.Request(sys.argv[1] + "/api/chat", body.encode(), headers)
answer = json.loads(urllib.request.urlopen(request, timeout=5).readline())
print("the model said", answer["message"]["content"])
"""


def test_a_command_calls_a_model_only_where_the_network_is_allowed(stage, settings):
    settings.COMMANDS = ["/usr/bin/python3"]
    rubric = replace(
        evaluated(""),
        evaluator=Evaluator(("/usr/bin/python3", "-c", CALL, stage.server.address), Handover.STDIN),
    )
    said = {"judge": [verdict(rubric, 8)], "producer": ["Version 1", "Version 2"]}
    stage.says(**said)
    result = EvaluatorResult.objects.get(round__run=stage.play(rubric))
    assert (result.stdout, result.failure != "", result.open_to) == ("", True, "")
    assert "URLError" in result.stderr
    settings.COMMANDS_NETWORK = ["/usr/bin/python3"]
    stage.says(**said)
    result = EvaluatorResult.objects.get(round__run=stage.play(rubric))
    assert result.stdout.startswith("the model said ")
    assert (result.exit_code, result.failure, result.open_to) == (0, "", "network")
    settings.COMMANDS_NETWORK = ["/bin/sh"]
    stage.says(**said)
    assert EvaluatorResult.objects.get(round__run=stage.play(rubric)).failure


# --- noise ----------------------------------------------------------------------------------------------
NOISY = r"""
n=$(cat); i=$(date +%N | tail -c 3); i=${i#0}
case "$n" in *1*) base=800;; *2*) base=801;; *) base=950;; esac
echo "accuracy: 0.$((base + i % 8 - 4))"
"""


def test_a_noisy_metric_is_repeated_and_a_gain_within_its_spread_is_called_noise(stage, monkeypatch):
    digits = itertools.cycle(["00", "06", "02", "04", "07"])
    real = evaluator.evaluator_job

    def job(of, command, text, seconds):
        script = command[2].replace("$(date +%N | tail -c 3)", next(digits))  # noise that tests can count on
        return real(of, (*command[:2], script), text, seconds)

    monkeypatch.setattr(evaluator, "evaluator_job", job)
    rubric = evaluated(NOISY, 3, repeat=5, metrics=(Metric("accuracy", pattern=r"accuracy: ([\d.]+)"),))
    stage.says(producer=drafts(3), judge=[verdict(rubric, 6), verdict(rubric, 7), verdict(rubric, 8)])
    run = stage.play(rubric)
    results = list(EvaluatorResult.objects.filter(round__run=run).order_by("round__number"))
    assert [len(result.metrics["accuracy"]) for result in results] == [5, 5, 5]
    assert [result.stdout for result in results] == [
        "accuracy: 0.800\n",
        "accuracy: 0.801\n",
        "accuracy: 0.950\n",
    ]
    first, second, third = (texts(entry)[-1] for entry in stage.asked("judge"))
    assert "metrics: accuracy 0.8 (median of 5, 0.796 to 0.803)" in first
    assert "accuracy 0.801 (median of 5, 0.797 to 0.804), within noise" in second
    assert "The command ran 5 times. This is the output of one run:" in second
    assert "A metric is within noise if repeated runs" in second
    assert ("within noise" in first, "A metric is within noise" in third) == (False, False)
    assert "within noise" in third.split("<<<HISTORY", 1)[1].split("<<<END HISTORY", 1)[0]


# --- files ------------------------------------------------------------------------------------------------
def test_repeats_and_repairs_come_back_from_a_file(stage):
    rubric = validated(rounds=2, repeat=3)
    stage.says(
        producer=["draft", "draft;", "worse", "worse still"], judge=[verdict(rubric, 7), verdict(rubric, 8)]
    )
    run = stage.play(rubric)
    assert composites(run) == [7, 1]
    document = "".join(
        whole(Run.objects.select_related("project", "rubric", "rubric_version").get(pk=run.pk))
    )
    first, second = json.loads(document)["rounds"]
    assert [entry["number"] for entry in first["evaluator_repeats"]] == [1, 2, 3]
    assert [entry["replaced"] for entry in first["validations"]] == ["draft", ""]
    assert [entry["exit_code"] for entry in second["validations"]] == [7, 7]
    there = Project.objects.create(name="Elsewhere", slug="elsewhere")
    (entry,) = import_files([SourceFile("run.json", document.encode())], project=there).entries
    assert (entry.state, entry.notes, entry.contradictions) == ("new", (), ())
    copy = Run.objects.select_related("project", "rubric", "rubric_version").get(pk=entry.run)
    assert json.loads("".join(whole(copy)))["rounds"] == json.loads(document)["rounds"]


# --- pytest -----------------------------------------------------------------------------------------------
PYTHON = interpreter()
RUN_PYTEST = """
import sys
sys.path[:0] = ["/work", sys.argv[1]]
open("test_add.py", "w").write("from candidate import add\\ndef test_adds():\\n    assert add(2, 3) == 5\\n")
import pytest
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "test_add.py"]))
"""


@pytest.fixture
def pytest_folder():
    """A copy of pytest that every account can read, as under an administrator's folder of tools."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        for module in (pytest, _pytest, pluggy, iniconfig, packaging, pygments):
            source = Path(module.__file__).parent
            shutil.copytree(source, Path(folder, source.name), ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(py.__file__, folder)
        yield folder


def test_pytest_on_a_module_fails_and_passes_after_the_revision(stage, settings, pytest_folder):
    settings.COMMANDS, settings.COMMANDS_READABLE = [PYTHON], [pytest_folder]
    command = (PYTHON, "-c", RUN_PYTEST, pytest_folder, "{file}")
    rubric = replace(evaluated("", 2), evaluator=Evaluator(command, file_name="candidate.py"))
    stage.says(
        producer=["def add(a, b):\n    return a - b", "def add(a, b):\n    return a + b"],
        judge=[verdict(rubric, 3), verdict(rubric, 9)],
    )
    run = stage.play(rubric)
    first, second = EvaluatorResult.objects.filter(round__run=run).order_by("round__number")
    assert (first.exit_code, second.exit_code) == (1, 0), first.stderr
    assert "assert -1 == 5" in texts(stage.asked("judge")[0])[-1]
    assert "1 failed" in first.stdout
    assert "1 passed" in texts(stage.asked("judge")[1])[-1]
    assert composites(run) == [3, 9]
