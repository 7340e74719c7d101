"""What must hold for every attempt, whatever account the worker has."""

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
# Where there is no sandbox, a command is refused before anybody looks at it.
ONE_OF_EACH_KIND = [kind[0] for kind in (WRITES, READS, NETWORK, PROCESSES, LEFTOVERS, BOMBS, KERNEL)]


def assert_held(machine: Machine, attempt: Attempt) -> None:
    """It ran, got nothing, and nothing is left of it: no process, no file, no key."""
    result = machine.attempt(attempt)
    assert "open_to" in result, result
    assert result["open_to"] == ""
    assert not result["escaped"], result["out"]
    assert result["left"] == []
    assert machine.executed() == []


def assert_refused(machine: Machine, attempt: Attempt) -> None:
    """It was not run at all, and the message says what to do."""
    result = machine.attempt(attempt)
    assert "Install bubblewrap" in result["refused"]
    assert "WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX=1" in result["refused"]
    assert result["left"] == []
    assert machine.executed() == []
