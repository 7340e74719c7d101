"""What a check finds, and all checks at once, none of which is waited for long."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

Status = Literal["ok", "warn", "fail"]
# Most have a limit of their own; this one is for a server that takes a connection and says nothing.
LONGEST_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do where it is not well."""

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
    """What all checks find, in their order; each runs in a thread of its own, for so long at most."""
    until = time.monotonic() + seconds
    answers = {name: _started(name, check) for name, check in checks.items()}
    for name, answer in answers.items():
        try:
            yield from answer.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            yield fail(
                name, f"no answer within {seconds:g} s", "Look whether what it asks is overloaded or stuck."
            )


def _started(name: str, check: Check) -> "queue.SimpleQueue[list[Finding]]":
    answer: queue.SimpleQueue[list[Finding]] = queue.SimpleQueue()
    # A daemon: one that never comes back does not keep the command from ending.
    threading.Thread(target=lambda: answer.put(found(name, check)), name=f"check-{name}", daemon=True).start()
    return answer


def found(name: str, check: Check) -> list[Finding]:
    """What the check finds; one that breaks is a finding as well, and no reason to end."""
    try:
        result = check()
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it is, the other checks are told
        words = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return [fail(name, f"could not be looked at: {words}", "See whether another finding explains it.")]
    return result if isinstance(result, list) else [result]
