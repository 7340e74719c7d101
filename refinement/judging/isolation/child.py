"""The child process: reads requests as JSON lines, runs them under limits and writes the answers.

`process.py` starts this file in a separate interpreter, without secrets or connections.
"""

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.append(sys.argv[1])

from refinement.engine.types import Check
from refinement.judging.checks import running
from refinement.judging.checks.kinds import Broken
from refinement.judging.checks.runaway import runaway_problems
from refinement.judging.checks.transforming import as_text, outcome_of
from refinement.judging.evidence import reading
from refinement.judging.isolation.limits import MEMORY_BYTES, Limit
from refinement.judging.template_rendering import TemplateFailure, rendered, template_problems

# Extra memory for a request, because its text is copied several times while it is parsed.
BYTES_PER_INPUT_BYTE = 8
KEPT_BYTES = MEMORY_BYTES // 4  # a child that still uses more than this after a request is replaced
ORPHAN_SECONDS = 15.0
NICENESS = 5  # web requests have priority


def check_template(name: str, source: str) -> Iterator[object]:
    yield [[problem.line, problem.message] for problem in template_problems(name, source)]


def render(name: str, source: str, values: dict[str, Any]) -> Iterator[object]:
    try:
        yield {"text": rendered(name, source, values)}
    except TemplateFailure as failure:
        yield {"failure": str(failure)}


def run_checks(checks: list[list[str]], candidate: str) -> Iterator[object]:
    for kind, parameters in checks:
        finding = running.finding(Check("check", kind, json.loads(parameters)), candidate)
        place = finding.place
        answer = [finding.passed, finding.message, [place.start, place.end] if place else None]
        yield answer if finding.score is None else [*answer, str(finding.score)]


def transform(parameters: str, candidate: str) -> Iterator[object]:
    try:
        yield {"text": as_text(outcome_of(json.loads(parameters), candidate))}
    except Broken as problem:
        yield {"failure": str(problem)}


def check_problems(kind: str, parameters: str, probe: bool) -> Iterator[object]:
    check = Check("check", kind, json.loads(parameters))
    yield running.problems(check) or (runaway_problems(check) if probe else [])


def read_output(patterns: list[str], metrics: list[list[str]], stdout: str, stderr: str) -> Iterator[object]:
    yield reading.failure_pattern(patterns, [stdout, stderr])
    for pattern, pointer in metrics:
        number = reading.metric(pattern, pointer, stdout, stderr)
        yield None if number is None else str(number)


def output_pattern_problems(pattern: str, groups: int | None) -> Iterator[object]:
    yield list(reading.problems(pattern, groups))


OPERATIONS: dict[str, Callable[..., Iterator[object]]] = {
    operation.__name__: operation
    for operation in (
        check_template,
        render,
        run_checks,
        transform,
        check_problems,
        read_output,
        output_pattern_problems,
    )
}


def main(idle_seconds: float) -> None:
    """Answers requests until the input is closed, the idle time is over, or a limit is reached."""
    with suppress(OSError):
        os.nice(NICENESS)
    bounded("RLIMIT_CORE", 0)
    data = data_bytes()
    send({"ready": True})
    while select.select([sys.stdin.buffer], [], [], idle_seconds)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        began = time.process_time()
        answer(line, data)
        grown = data is not None and (data_bytes() or 0) - data > KEPT_BYTES
        send({"last": grown, "seconds": time.process_time() - began})
        if grown:
            return


def answer(line: bytes, data: int | None) -> None:
    """Runs one request. `data` is the memory allocated before the first request."""
    memory = None if data is None else data + MEMORY_BYTES + BYTES_PER_INPUT_BYTE * len(line)
    request = json.loads(line)
    operation = OPERATIONS[request["operation"]]
    # Both signals end the process. The first limits processor time, so a busy machine does not make a
    # request fail. The second is for a child whose parent is gone.
    signal.setitimer(signal.ITIMER_PROF, request["seconds"])
    signal.setitimer(signal.ITIMER_REAL, ORPHAN_SECONDS)
    try:
        with memory_limited(memory):
            arguments = with_records(request["operation"], request["arguments"])
            for piece in operation(**arguments):
                send({"answer": piece})
    except MemoryError:
        end(Limit.MEMORY)
    except Exception as error:  # noqa: BLE001  templates and schemas can raise anything
        end(Limit.CRASH, f"{type(error).__name__}: {error}"[:400])
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)


def with_records(operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with records that templates can read by attribute."""
    if operation != "render":
        return arguments
    return arguments | {"values": {name: record(value) for name, value in arguments["values"].items()}}


def record(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{name: record(inner) for name, inner in value.items()})
    return [record(inner) for inner in value] if isinstance(value, list) else value


@contextmanager
def memory_limited(most: int | None) -> Iterator[None]:
    """Makes allocations above this size fail inside the block. None sets no limit."""
    if most is None:
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_DATA)
    bounded("RLIMIT_DATA", most)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def bounded(name: str, most: int) -> None:
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def data_bytes() -> int | None:
    """The memory that counts toward RLIMIT_DATA; None if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[5])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def send(message: dict[str, object]) -> None:
    text = json.dumps(message, ensure_ascii=False)
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
    sys.stdout.buffer.flush()


def end(limit: Limit, detail: str = "") -> NoReturn:
    """Reports the limit and ends the process, which frees everything it allocated."""
    send({"limit": limit.value, "detail": detail})
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    main(float(sys.argv[2]))
