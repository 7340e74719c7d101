"""The runs log (WIGGUM_RUNS_LOG): one line of `runs.jsonl` for each run that ends.

The line is written once, after the run's end is committed. If the process is killed in between, the line is
missing; the run itself is safe in the database.
"""

import fcntl
import logging
import os
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import Error as AnyDatabaseError
from django.db import transaction

from refinement.interchange.exports.rows import runs_jsonl
from refinement.models import Run
from refinement.selectors.runs.exports import run_summaries

log = logging.getLogger("wiggum.runs_log")
_failing: set[Path] = set()  # logs that this process has warned about


def log_run_ended(run: Run) -> None:
    """Append the run to the log when the current transaction is committed, if there is a log."""
    path: Path | None = settings.RUNS_LOG
    if path is not None:
        transaction.on_commit(partial(_append_run, path, run), robust=True)


def _append_run(path: Path, run: Run) -> None:
    """Append the run's line. A failure is logged once, until a line can be written again."""
    try:
        summaries = run_summaries(run.project, [run.pk], tasks=True)
        append_line(path, "".join(runs_jsonl(summaries)).encode())
    except (OSError, AnyDatabaseError) as error:
        if path not in _failing:
            log.warning("run=%s: cannot write to the runs log %s: %s", run.pk, path, error)
        _failing.add(path)
    else:
        _failing.discard(path)


def append_line(path: Path, line: bytes) -> None:
    """Append the line as a whole, also if other processes append at the same time. Raises OSError.

    The file is opened for each line, so that it can be rotated.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # A long line may take several writes. The lock is released when the file is closed.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        _append_locked(descriptor, line)
    finally:
        os.close(descriptor)


def _append_locked(descriptor: int, line: bytes) -> None:
    size = os.fstat(descriptor).st_size
    # A process that was killed while it wrote leaves an incomplete line.
    incomplete = size and os.pread(descriptor, 1, size - 1) != b"\n"
    rest = memoryview(b"\n" + line if incomplete else line)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        os.ftruncate(descriptor, size)  # such as on a full disk: leave no half of a line
        raise
