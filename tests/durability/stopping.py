"""Telling a worker to stop."""

import signal
import subprocess
import time

STOPS_WITHIN = 10.0


def told_to_stop(worker: subprocess.Popen[bytes]) -> None:
    """SIGTERM, and the promise about it."""
    began = time.monotonic()
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=30) == 0
    assert time.monotonic() - began < STOPS_WITHIN
