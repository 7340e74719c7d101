"""Telling a worker to stop."""

import signal
import subprocess

from tests.execution.durability.stage import PATIENCE


def told_to_stop(worker: subprocess.Popen[bytes]) -> None:
    """SIGTERM, and it stops by itself."""
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0
