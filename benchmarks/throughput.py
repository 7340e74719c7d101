"""Many parallel runs on a server with a fixed latency: wall time over the ideal, and CPU per model call.

    python -m benchmarks.throughput [--runs 32] [--workers 2] [--latency 1 0.25] [--size sqlite …]

The ideal is the time of one run: its calls one after the other, at the server's latency. Runs are created one
after the other, as a script does, and that counts: from the first creation to the last end. The worker
processes have one thread per run in total; CPU is the sum of all of them. It is shown together with the cost
of a bare call by Ollama's client (`benchmarks.bare`), which depends on the machine's speed in the same way.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass

from benchmarks.instance import ROOT, Instance, cpu_seconds, instance, model_server, wait_for

ROUNDS = 3
SETTLE_SECONDS = 1.0
CALLS_A_RUN = 2 * ROUNDS  # a draft and two revisions, each judged
LAUNCH = """
from refinement.engine.codec import rubric_with
from refinement.models import Run
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.services.projects.local import local_project
from refinement.services.runs.creating import run_create
project = local_project()
version = version_named(project, "wiggum")
definition = rubric_with(definition_of(version), {"policy.stop_rules": "max_rounds"})
for number in range(%d):
    run_create(project=project, version=version, definition=definition, task=f"Guide {number}",
               producer=Target("ollama", "loopback:1b"), judge=Target("ollama", "loopback:8b"))
"""
FORGET = "from refinement.models import Run; Run.objects.all().delete()"
REPORT = """
import json
from django.db.models import Max, Min
from refinement.models import Call, Run
times = Run.objects.aggregate(first=Min("created_at"), last=Max("finished_at"))
done = Run.objects.filter(status="finished")
wall = (times["last"] - times["first"]).total_seconds() if times["last"] else 0
right = done.filter(stop_reason="max_rounds").count()
calls = Call.objects.count()
print(json.dumps({"finished": done.count(), "right": right, "calls": calls, "wall": wall}))
"""


@dataclass
class Figures:
    size: str
    latency: float
    wall_over_ideal: float
    cpu_ms_a_call: float
    bare_ms_a_call: float


def measure(size: str, latency: float, runs: int, processes: int) -> Figures:
    with model_server(latency) as url, instance(size, url) as app:
        workers = [app.worker(threads=-(-runs // processes)) for _ in range(processes)]
        make_project = "from refinement.services.projects.local import local_project; local_project()"
        app.manage("shell", "-v0", "-c", make_project)
        wait_for(lambda: alive(app) == processes, 30)
        warm_up = runs  # one-time costs of processes and threads, such as connecting, do not count
        app.manage("shell", "-v0", "-c", LAUNCH % warm_up)
        wait_for(lambda: report(app)["finished"] == warm_up, 60, every=0.5)
        app.manage("shell", "-v0", "-c", FORGET)
        idle = sum(cpu_seconds(worker.pid) for worker in workers)
        app.manage("shell", "-v0", "-c", LAUNCH % runs)
        # Polls the model server, which is cheap, and not the database.
        wait_for(lambda: chats_seen(url) >= (runs + warm_up) * CALLS_A_RUN, 60 + 20 * latency, every=0.5)
        time.sleep(latency + SETTLE_SECONDS)  # starting a process during the last steps would slow them down
        wait_for(lambda: report(app)["finished"] == runs, 60, every=0.5)
        result = report(app)
        assert result["right"] == runs, result
        used = sum(cpu_seconds(worker.pid) for worker in workers) - idle
        bare = bare_call_ms(url, -(-runs // processes), processes)
    ideal = CALLS_A_RUN * latency
    return Figures(size, latency, result["wall"] / ideal, 1000 * used / result["calls"], bare)


def bare_call_ms(url: str, threads: int, processes: int) -> float:
    """The CPU milliseconds of a bare call, with the same number of threads and processes."""
    command = [sys.executable, "-m", "benchmarks.bare", url, "--threads", str(threads)]
    started = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(processes)]
    return sum(float(process.communicate()[0]) for process in started) / processes


def alive(app: Instance) -> int:
    code = "from refinement.selectors.workers import workers_alive; print(workers_alive())"
    return int(app.manage("shell", "-v0", "-c", code))


def report(app: Instance) -> dict[str, float]:
    result: dict[str, float] = json.loads(app.manage("shell", "-v0", "-c", REPORT))
    return result


def chats_seen(url: str) -> int:
    with urllib.request.urlopen(f"{url}/__count") as answer:
        return int(json.load(answer)["chats"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--latency", type=float, nargs="+", default=[1.0, 0.25])
    parser.add_argument("--size", nargs="+", default=["sqlite", "postgres+redis"])
    parser.add_argument("--workers", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    print(f"{options.runs} runs of {ROUNDS} rounds, {options.workers} workers, {os.cpu_count()} cores")
    print("| size | latency | wall / ideal | CPU per call | bare call |\n|---|---:|---:|---:|---:|")
    for size in options.size:
        for latency in options.latency:
            result = measure(size, latency, options.runs, options.workers)
            print(
                f"| {result.size} | {result.latency:g} s | {result.wall_over_ideal:.2f} × "
                f"| {result.cpu_ms_a_call:.1f} ms | {result.bare_ms_a_call:.1f} ms |",
                flush=True,
            )


if __name__ == "__main__":
    main()
