"""Findings, and running checks in parallel with a timeout."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]
# For a server that accepts a connection and never responds; most checks have shorter timeouts.
LONGEST_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, and how to fix a problem."""

    name: str
    status: Status
    what: str
    remedy: str = ""

    def as_json(self) -> dict[str, str]:
        return asdict(self)


Check = Callable[[], Finding | list[Finding]]


def ok(name: str, what: str) -> Finding:
    return Finding(name, "ok", what)


def warn(name: str, what: str, remedy: str) -> Finding:
    return Finding(name, "warn", what, remedy)


def fail(name: str, what: str, remedy: str) -> Finding:
    return Finding(name, "fail", what, remedy)


def findings_of(checks: Mapping[str, Check], *, seconds: float = LONGEST_SECONDS) -> Iterator[Finding]:
    """Run all checks in threads for at most `seconds`, and yield their findings in order."""
    until = time.monotonic() + seconds
    answers = {name: _started(name, check) for name, check in checks.items()}
    for name, answer in answers.items():
        try:
            yield from answer.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            yield fail(
                name, f"no response within {seconds:g} s", "Check whether the service is overloaded or stuck."
            )


def _started(name: str, check: Check) -> "queue.SimpleQueue[list[Finding]]":
    answer: queue.SimpleQueue[list[Finding]] = queue.SimpleQueue()
    # A daemon, so that a check that hangs does not keep the command from exiting.
    threading.Thread(target=lambda: answer.put(run(name, check)), name=f"check-{name}", daemon=True).start()
    return answer


def run(name: str, check: Check) -> list[Finding]:
    """The findings of a check. An exception in the check is a finding too."""
    try:
        result = check()
    except (Exception, SystemExit) as error:  # noqa: BLE001  the other checks must go on
        message = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return [fail(name, f"the check failed: {message}", "See whether another finding explains it.")]
    return result if isinstance(result, list) else [result]
