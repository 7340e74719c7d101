"""Assertions for every attempt, with any account of the worker."""

from tests.providers.sandbox.attempts import (
    ATTEMPTS,
    BOMBS,
    KERNEL,
    LEFTOVERS,
    NETWORK,
    PROCESSES,
    READS,
    WRITES,
    Attempt,
)
from tests.providers.sandbox.surroundings import Machine

NAMES = [attempt.name for attempt in ATTEMPTS]
# Without a sandbox, a command is refused before it is examined.
ONE_OF_EACH_KIND = [kind[0] for kind in (WRITES, READS, NETWORK, PROCESSES, LEFTOVERS, BOMBS, KERNEL)]


def assert_held(machine: Machine, attempt: Attempt) -> None:
    """The attempt ran, got nothing, and left nothing behind: no process, file or key."""
    result = machine.attempt(attempt)
    assert "open_to" in result, result
    assert result["open_to"] == ""
    assert not result["escaped"], result["out"]
    assert result["left"] == []
    assert machine.executed() == []


def assert_refused(machine: Machine, attempt: Attempt) -> None:
    """The attempt was not run, and the message says what to do."""
    result = machine.attempt(attempt)
    assert "Install bubblewrap" in result["refused"]
    assert "WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX=1" in result["refused"]
    assert result["left"] == []
    assert machine.executed() == []
