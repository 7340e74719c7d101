"""`wiggum doctor`: all checks, in bounded time, with an exit code."""

import json
import socket
import subprocess
import sys
import threading

from refinement.cli.doctor import command
from refinement.cli.doctor.findings import Finding, findings_of, ok
from tests.cli.conftest import called
from tests.house.processes import PATIENCE, ROOT, environment, free_port


def doctor(data_dir, *arguments, **settings):
    done = subprocess.run(
        [sys.executable, "-m", "refinement.cli", "doctor", "--json", *arguments],
        cwd=ROOT,
        env=environment(data_dir, **settings),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    told = json.loads(done.stdout)
    assert "Traceback" not in done.stderr
    return done.returncode, told, {finding["name"]: finding for finding in told["findings"]}


def test_everything_that_can_be_down_is_named_at_once(data_dir):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        redis, postgres, ollama = free_port(), free_port(), free_port()
        code, told, by_name = doctor(
            data_dir,
            DATABASE_URL=f"postgres://wiggum:secret-word@127.0.0.1:{postgres}/wiggum",
            WIGGUM_BROKER_URL=f"redis://127.0.0.1:{redis}",
            WIGGUM_OLLAMA_URL=f"http://127.0.0.1:{ollama}",
            PORT=str(taken.getsockname()[1]),
        )
    assert (code, told["ok"]) == (3, False)
    for name, words in {
        "database": "Start PostgreSQL, or fix DATABASE_URL",
        "broker": "Start Redis",
        "model server ollama": "ollama serve",
        "port": "PORT=",
        "worker": "database",
        "migrations": "database",
    }.items():
        assert (by_name[name]["status"], words in by_name[name]["remedy"]) == ("fail", True), by_name[name]
    assert "secret-word" not in json.dumps(told)


def test_a_bad_setting_is_a_finding_and_the_rest_is_still_looked_at(data_dir):
    code, _, by_name = doctor(data_dir, WIGGUM_WORKER_THREADS="many")
    assert code == 3
    assert (
        by_name["settings"]["what"] == "invalid setting WIGGUM_WORKER_THREADS: 'many' is not a whole number."
    )
    assert by_name["disk"]["status"] == "ok"
    assert "database" not in by_name


def test_a_check_that_hangs_or_breaks_is_a_finding():
    never = threading.Event()

    def broken() -> Finding:
        raise RuntimeError("no such luck\nand more")

    findings = list(
        findings_of(
            {
                "stuck": lambda: [ok("x", "")] if never.wait(60) else [],
                "broken": broken,
                "well": lambda: ok("well", ""),
            },
            seconds=2,
        )
    )
    never.set()
    assert [(finding.name, finding.status) for finding in findings] == [
        ("stuck", "fail"), ("broken", "fail"), ("well", "ok"),
    ]  # fmt: skip
    assert "no response within 2 s" in findings[0].what
    assert findings[1].what == "the check failed: no such luck"


def test_people_read_the_remedy_under_its_cause(monkeypatch):
    findings = [ok("python", "3.11"), Finding("port", "warn", "taken\x1b[2J", "PORT=")]
    monkeypatch.setattr(command, "local_findings", lambda models, skip: findings)
    result = called("doctor")
    assert result.exit_code == 0
    assert "ok   python: 3.11\nwarn port: taken�[2J\n     → PORT=" in result.stdout
    assert "2 checked: 0 failed, 1 warning." in result.stdout


def test_what_nobody_needs_here_is_skipped(monkeypatch):
    monkeypatch.setattr(
        command, "instance_checks", lambda models: {"worker": lambda: Finding("worker", "fail", "none")}
    )
    assert called("doctor", "--skip", "packages").exit_code == 3
    skipped = called("doctor", "--skip", "worker", "--skip", "packages")
    assert (skipped.exit_code, "worker" in skipped.stdout, "packages" in skipped.stdout) == (0, False, False)
    refused = called("doctor", "--skip", "weather")
    assert (refused.exit_code, "Choose from python, packages, disk" in refused.stderr) == (2, True)


def test_a_model_that_cannot_be_meant(db):
    result = called("doctor", "--model", "qwen")
    assert (result.exit_code, "has no model" in result.stderr) == (2, True)
