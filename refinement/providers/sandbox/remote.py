"""The client of the evaluator service."""

import json
import socket
import time
from collections.abc import Callable

from pydantic import TypeAdapter, ValidationError

from refinement.providers.cancelling import CHECK_SECONDS
from refinement.providers.sandbox.jobs import Busy, CannotStart, Job, JobResult, NoSandbox
from refinement.providers.sandbox.last_line import LINE_CHARS, ignore_line

CONNECT_SECONDS = 10.0  # long enough for a restart of the service
ANSWER_SECONDS = 30.0  # in addition to the job's time limit
ANSWER_BYTES = 2_000_000
STOPPED_CHARS = 200
EXIT_CODES = range(256)
UNREADABLE = "the evaluator service sent an invalid answer"
_finished = TypeAdapter(JobResult)


def run_remotely(
    path: str, job: Job, check: Callable[[], None], on_line: Callable[[str], None] = ignore_line
) -> JobResult:
    """Runs the job in the evaluator service that listens on the socket at `path`.

    Same promises and errors as `run_job`; CannotStart if the service does not answer.
    """
    request = {
        "command": list(job.command),
        "text": job.text,
        "seconds": job.seconds,
        "file_name": job.file_name,
        "network": job.network,
    }
    try:
        with _connected(path, check) as connection:
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer = _answer(connection, time.monotonic() + job.seconds + ANSWER_SECONDS, check, on_line)
    except (OSError, ValueError) as error:
        raise CannotStart(f"the evaluator service at {path} does not answer: {error}") from error
    return _result(answer)


def _answer(
    connection: socket.socket, until: float, check: Callable[[], None], on_line: Callable[[str], None]
) -> dict[str, object]:
    """The service's last message. The ones before it have the last line of output."""
    buffer = bytearray()
    while True:
        answer = json.loads(_line(connection, until, check, buffer))
        if not isinstance(answer, dict):
            raise CannotStart(UNREADABLE)
        if "line" not in answer:
            return answer
        on_line(str(answer["line"])[:LINE_CHARS])


def _result(answer: dict[str, object]) -> JobResult:
    """The validated result: commands that run without a sandbox could have tampered with the service."""
    message = str(answer.get("message", ""))[:1_000]
    match answer.get("failure"):
        case "busy":
            raise Busy
        case "no_sandbox":
            raise NoSandbox(message)
        case str():
            raise CannotStart(message)
    try:
        finished = _finished.validate_python(answer.get("finished"))
    except ValidationError as error:
        raise CannotStart(UNREADABLE) from error
    known = finished.open_to in ("", "network", "all") and len(finished.stopped) <= STOPPED_CHARS
    ended = finished.exit_code in EXIT_CODES if not finished.stopped else finished.exit_code is None
    if not known or not ended or min(finished.out_missing, finished.err_missing, finished.seconds) < 0:
        raise CannotStart(UNREADABLE)
    return finished


def _connected(path: str, check: Callable[[], None]) -> socket.socket:
    until = time.monotonic() + CONNECT_SECONDS
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(CHECK_SECONDS)
        try:
            connection.connect(path)
        except OSError:
            connection.close()
            if time.monotonic() > until:
                raise
            check()
            time.sleep(CHECK_SECONDS / 4)
        else:
            connection.settimeout(ANSWER_SECONDS)
            return connection


def _line(connection: socket.socket, until: float, check: Callable[[], None], read: bytearray) -> bytes:
    """The next line. `read` has what was received already, and keeps what comes after the line."""
    connection.settimeout(CHECK_SECONDS)
    while b"\n" not in read:
        check()
        try:
            piece = connection.recv(65_536)
        except TimeoutError:
            if time.monotonic() > until:
                raise
            continue
        read += piece
        if not piece or len(read) > ANSWER_BYTES:
            raise ConnectionError("it closed the connection" if not piece else "its answer is too long")
    line, _, rest = read.partition(b"\n")
    read[:] = rest
    return bytes(line)
