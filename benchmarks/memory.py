"""Resident memory of a worker after 200 and after 2,000 steps, against a server that answers at once.

    python -m benchmarks.memory [--steps 200 2000] [--size sqlite] [--threads 32]

The bar: what a worker holds after ten times the steps is within a tenth of what it held before.
"""

import argparse
import sys
import time

from benchmarks.instance import Instance, instance, model_server, resident_megabytes, wait_for
from benchmarks.throughput import LAUNCH, alive

STEPS_A_RUN = 7  # a draft and two revisions, each judged, and the end
RUNS_AT_ONCE = 20  # as many wait together at most, so that the queue's own size does not count
BAR = 1.10
FINISHED = "from refinement.models import Run; print(Run.objects.filter(status='finished').count())"
ENDS = "from refinement.models import Run; print(Run.objects.exclude(stop_reason='max_rounds').count())"
SETTLE_SECONDS = 3.0


def work(app: Instance, finished: int, runs: int) -> None:
    """Has the worker carry runs to their end until so many are finished."""
    while finished < runs:
        batch = min(RUNS_AT_ONCE, runs - finished)
        app.manage("shell", "-v0", "-c", LAUNCH % batch)
        finished += batch
        wait_for(lambda wanted=finished: int(app.manage("shell", "-v0", "-c", FINISHED)) >= wanted, 120, 0.2)


def measure(size: str, steps: list[int], threads: int) -> list[float]:
    """Megabytes of the worker's process after each number of steps."""
    found = []
    with model_server(0.0) as url, instance(size, url) as app:
        worker = app.worker(threads=threads)
        wait_for(lambda: alive(app) == 1, 30)
        finished = 0
        for wanted in steps:
            runs = -(-wanted // STEPS_A_RUN)
            work(app, finished, runs)
            finished = runs
            time.sleep(SETTLE_SECONDS)
            found.append(resident_megabytes(worker.pid))
            print(f"| {wanted:,} steps, {runs:,} runs | {found[-1]:.1f} MB |", flush=True)
        assert int(app.manage("shell", "-v0", "-c", ENDS)) == 0, "a run did not end as it should"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs=2, default=[200, 2_000])
    parser.add_argument("--size", default="sqlite")
    parser.add_argument("--threads", type=int, default=32)
    options = parser.parse_args()
    print(f"{options.size}, {options.threads} threads\n| after | resident |\n|---|---:|")
    before, after = measure(options.size, options.steps, options.threads)
    print(f"{after / before:.3f} × (bar {BAR:.2f} ×)")
    if after / before > BAR:
        sys.exit("The worker holds more than it should: something is kept that nobody asks for again.")


if __name__ == "__main__":
    main()
