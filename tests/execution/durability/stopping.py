"""Stops a worker gracefully."""

import signal

from tests.execution.durability.stage import PATIENCE
from tests.preloaded import Forked


def stop_gracefully(worker: Forked) -> None:
    """Sends SIGTERM and waits for the worker to exit."""
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=PATIENCE) == 0
