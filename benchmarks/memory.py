"""Resident memory of a worker after 200 and after 2,000 steps, with a model server that answers immediately.

    python -m benchmarks.memory [--steps 200 2000] [--size sqlite] [--threads 32]

The budget: after ten times the steps, a worker uses at most a tenth more memory.
"""

import argparse
import sys
import time

from benchmarks.instance import Instance, instance, model_server, resident_megabytes, wait_for
from benchmarks.throughput import LAUNCH, alive

STEPS_A_RUN = 7  # a draft and two revisions, each judged, and the end
RUNS_AT_ONCE = 20  # keeps the queue short, so that its size does not matter
BUDGET = 1.10
FINISHED = "from refinement.models import Run; print(Run.objects.filter(status='finished').count())"
ENDS = "from refinement.models import Run; print(Run.objects.exclude(stop_reason='max_rounds').count())"
SETTLE_SECONDS = 3.0


def work(app: Instance, finished: int, runs: int) -> None:
    """Creates runs in batches, and waits until `runs` of them are finished."""
    while finished < runs:
        batch = min(RUNS_AT_ONCE, runs - finished)
        app.manage("shell", "-v0", "-c", LAUNCH % batch)
        finished += batch
        wait_for(lambda wanted=finished: int(app.manage("shell", "-v0", "-c", FINISHED)) >= wanted, 120, 0.2)


def measure(size: str, steps: list[int], threads: int) -> list[float]:
    """Megabytes of the worker's process after each number of steps."""
    sizes = []
    with model_server(0.0) as url, instance(size, url) as app:
        worker = app.worker(threads=threads)
        wait_for(lambda: alive(app) == 1, 30)
        finished = 0
        for wanted in steps:
            runs = -(-wanted // STEPS_A_RUN)
            work(app, finished, runs)
            finished = runs
            time.sleep(SETTLE_SECONDS)
            sizes.append(resident_megabytes(worker.pid))
            print(f"| {wanted:,} steps, {runs:,} runs | {sizes[-1]:.1f} MB |", flush=True)
        assert int(app.manage("shell", "-v0", "-c", ENDS)) == 0, "a run ended for another reason"
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs=2, default=[200, 2_000])
    parser.add_argument("--size", default="sqlite")
    parser.add_argument("--threads", type=int, default=32)
    options = parser.parse_args()
    print(f"{options.size}, {options.threads} threads\n| after | resident |\n|---|---:|")
    before, after = measure(options.size, options.steps, options.threads)
    print(f"{after / before:.3f} × (budget {BUDGET:.2f} ×)")
    if after / before > BUDGET:
        sys.exit("The worker uses too much memory: there is probably a leak.")


if __name__ == "__main__":
    main()
