"""A short version of the benchmark: under many failures, runs end as the engine says."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.execution.durability.services import missing
from tests.house.processes import ROOT, environment


@pytest.mark.parametrize("size", ["sqlite", "postgres+redis"])
def test_every_run_ends_as_the_engine_says(size: str, data_dir: Path) -> None:
    if reason := missing(size):
        pytest.skip(reason)
    options = [
        "--seconds",
        "15",
        "--runs",
        "5",
        "--tasks",
        "2",
        "--workers",
        "2",
        "--latency",
        "0.2",
        "--size",
        size,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.chaos", *options],
        cwd=ROOT,
        env=environment(data_dir),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "every run ended as the engine says" in done.stdout
