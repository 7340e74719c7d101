"""The watchdog restarts a process that stops responding, not one that starts or is briefly busy."""

import signal
import sys

import pytest

from refinement import supervisor
from refinement.supervisor import PROBE_FAILURES, Child, Watchdog


@pytest.fixture
def child(monkeypatch):
    monkeypatch.setattr(supervisor, "PROBE_EVERY_SECONDS", 0.0)
    running = Child("web", [sys.executable, "-c", "import signal; signal.pause()"], {})
    running.start()
    yield running
    running.signal(signal.SIGKILL)
    if running.process is not None:
        running.process.wait()


def watch(child: Child, answers: list[bool]) -> None:
    """Probes once for each answer."""
    watchdog = Watchdog(child, answers=iter(answers).__next__)
    for _ in answers:
        watchdog.look()


def test_a_process_that_stops_answering_is_killed_and_restarted(child, capsys):
    process = child.process
    watch(child, [True, *[False] * PROBE_FAILURES])
    assert process.returncode == -signal.SIGKILL
    assert child.process is None
    assert capsys.readouterr().err.splitlines() == [
        "wiggum: the web process failed 4 health checks in a row and was killed; restarting in 0.5 s."
    ]
    child.start_at = 0.0
    child.tend()
    assert child.process.poll() is None


@pytest.mark.parametrize(
    "answers",
    [
        [False] * 50,  # still starting
        [True, *[False] * (PROBE_FAILURES - 1), True] * 5,  # busy for a while, again and again
    ],
)
def test_a_process_that_starts_or_is_busy_is_left_alone(child, answers):
    process = child.process
    watch(child, answers)
    assert child.process is process
    assert process.poll() is None


def test_the_next_process_gets_its_own_start_up_time(child):
    watchdog = Watchdog(child, answers=iter([True, *[False] * 50]).__next__)
    for _ in range(1 + PROBE_FAILURES):
        watchdog.look()
    child.start()
    restarted = child.process
    for _ in range(2 * PROBE_FAILURES):
        watchdog.look()
    assert child.process is restarted
