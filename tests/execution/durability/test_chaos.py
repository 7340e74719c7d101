"""A short version of the benchmark: under many failures, runs end as the engine says."""

import random

import pytest

from benchmarks.chaos import Chaos, options_of, run_on
from tests.execution.durability.services import missing
from tests.execution.durability.stage import stage_set

OPTIONS = "--seconds 15 --runs 5 --tasks 2 --workers 2 --latency 0.2"


@pytest.mark.parametrize("size", ["sqlite", "postgres+redis"])
def test_every_run_ends_as_the_engine_says(size: str) -> None:
    if reason := missing(size):
        pytest.skip(reason)
    options = options_of(OPTIONS.split())
    with stage_set(size, broker_proxy=True) as stage:
        rng = random.Random(options.seed)
        chaos = Chaos(
            size, stage.app, stage.rows, rng, options.threads, options.verbose, stage.database, stage.broker
        )
        problems, figures = run_on(chaos, stage.server, options)
    assert problems == []
    assert figures["kill -9 of a worker"] >= 1
