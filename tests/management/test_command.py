"""The command's output and exit codes."""

import json

import pytest

from refinement.engine.profiles import rubric_for
from tests.execution.wire.stage import draft, drafts, verdict
from tests.management.conftest import MODELS, report_of

WIGGUM, SIMMER = rubric_for("wiggum"), rubric_for("simmer")
RUN_KEYS = {
    "run", "outcome", "stop_reason", "why", "rounds", "best_round", "r1", "last", "improvement", "tokens",
    "seconds", "best_candidate",
}  # fmt: skip
ROUND_KEYS = {
    "round", "composite", "scores", "penalties", "checks", "issues", "asi", "seen_chars", "candidate_chars",
    "judge_attempts", "parse_rung", "signals", "metrics", "contract_violated", "contract_violation",
    "judges", "spread", "summary", "key_change",
}  # fmt: skip


def test_the_best_candidate_goes_to_stdout_and_progress_to_stderr(refine):
    refine.says(judge=[verdict(WIGGUM, score) for score in (7, 8, 6)], producer=drafts(3))
    done = refine("--rubric", "wiggum", "--task", "Explain the backups.", *MODELS)
    assert done.returncode == 1, done.stderr
    assert done.stdout == draft(2) + "\n"
    lines = done.stderr.splitlines()
    assert lines[0].startswith("round 1: loopback:1b is writing the first draft")
    assert lines[1].startswith("round 1: loopback:8b is judging")
    assert lines[2].startswith("round 1: 7.00 (best 7.00)")
    assert lines[-1].startswith("FAIL: Stopped after round 3: reached the 3-round limit")
    assert refine.query("SELECT slug FROM refinement_project") == [("local",)]
    assert refine.query("SELECT COUNT(*) FROM refinement_user") == [(0,)]
    assert refine.query("SELECT status, outcome, calls_made FROM refinement_run") == [("finished", "FAIL", 6)]


def test_one_object_with_json_and_a_finished_run_is_told_again(refine):
    refine.says(judge=[verdict(WIGGUM, 7), verdict(WIGGUM, 9.5)], producer=drafts(2))
    done = refine("--rubric", "wiggum@1", "--task", "Explain.", *MODELS, "--json")
    assert done.returncode == 0, done.stderr
    report = report_of(done)
    assert report.keys() >= RUN_KEYS
    assert [set(entry) for entry in report["rounds"]] == [ROUND_KEYS] * 2
    assert (report["outcome"], report["stop_reason"], report["best_round"]) == ("PASS", "passed", 2)
    assert (report["r1"], report["last"], report["improvement"]) == (7.0, 9.5, 2.5)
    assert report["best_candidate"] == draft(2)
    assert report["rounds"][1]["scores"] == {criterion.key: 9.5 for criterion in WIGGUM.criteria}
    assert report["rounds"][0]["parse_rung"] == "strict"
    assert report["tokens"] > 0

    again = refine("--resume", str(report["run"]), "--json")
    assert (again.returncode, report_of(again)) == (0, report)
    assert len(refine.server.chats) == 4


def test_done_is_a_success_and_the_seed_comes_from_stdin_and_the_task_from_a_file(refine, tmp_path):
    task = tmp_path / "task.txt"
    task.write_text("Erkläre die Sicherung.", "utf-8")
    refine.says(judge=[verdict(SIMMER, 6)])
    arguments = ["--rubric", "simmer", "--task", f"@{task}", "--seed", "-", *MODELS, "--max-rounds", "1"]
    done = refine(*arguments, stdin="Die Saat — größer.\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip("\n") == "Die Saat — größer."
    assert refine.query("SELECT task, seed FROM refinement_run") == [
        ("Erkläre die Sicherung.", "Die Saat — größer.\n")
    ]
    assert len(refine.server.chats) == 1


def test_an_error_is_status_three_with_the_reason_and_no_candidate(refine):
    done = refine(
        "--rubric", "wiggum", "--task", "Explain.", "--producer", "ollama/nobody:1b",
        "--judge", "ollama/loopback:8b", "--json",
    )  # fmt: skip
    assert done.returncode == 3
    report = report_of(done)
    assert (report["outcome"], report["stop_reason"]) == ("ERROR", "producer_failed")
    assert "ollama pull nobody:1b" in report["why"]
    assert (report["best_candidate"], report["rounds"], report["r1"]) == (None, [], None)


def test_settings_change_the_run_and_not_the_rubric(refine):
    refine.says(judge=[verdict(WIGGUM, 6)], producer=drafts(1))
    done = refine(
        "--rubric", "wiggum", "--task", "Explain.", *MODELS, "--max-rounds", "2", "--threshold", "5.5",
        "--set", "policy.budget.calls=9", "--set", "policy.producer_tokens=77", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert refine.server.chats[0].body["options"]["num_predict"] == 77
    (snapshot,) = refine.query("SELECT snapshot FROM refinement_run")[0]
    policy = json.loads(snapshot)["policy"]
    assert (policy["max_rounds"], policy["pass_threshold"], policy["budget"]["calls"]) == (2, "5.5", 9)
    kept = refine.query("SELECT policy FROM refinement_rubricversion WHERE profile = 'wiggum'")
    assert [json.loads(policy)["max_rounds"] for (policy,) in kept] == [3]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--rubric", "nothing", "--task", "x", *MODELS], "there is no rubric 'nothing'"),
        (["--max-rounds", "many"], "invalid int value"),
    ],
)
def test_wrong_usage_is_status_two(refine, arguments, words):
    done = refine(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_seed_that_is_no_text_is_wrong_usage(refine, tmp_path):
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\xff\xfe")
    done = refine("--rubric", "wiggum", "--task", "x", "--seed", str(picture), *MODELS)
    assert done.returncode == 2
    assert "not UTF-8 text" in done.stderr


def test_a_database_without_tables_is_said_in_one_line(refine):
    refine.database.unlink()
    done = refine("--rubric", "wiggum", "--task", "x", *MODELS)
    assert done.returncode == 1
    assert done.stderr.strip() == "wiggum: the database has no tables yet; run: wiggum migrate"
