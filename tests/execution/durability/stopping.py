"""Stops a worker gracefully."""

import signal
import subprocess

from tests.execution.durability.stage import PATIENCE


def stop_gracefully(worker: subprocess.Popen[bytes]) -> None:
    """Sends SIGTERM and waits for the worker to exit."""
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0
