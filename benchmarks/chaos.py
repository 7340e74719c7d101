"""Injects failures while runs are in progress: every run must end as if nothing had happened.

    python -m benchmarks.chaos [--seconds 120] [--runs 50] [--tasks 10] [--workers 3] [--seed 1]
                               [--size postgres+redis]

With a seeded random sequence, it kills and stops workers, resets connections to the database and the broker,
disconnects them for a while and deletes queued messages, while one model call in five fails. Then the
failures stop, the runs end, and each is compared with a replay of the engine.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.instance import Instance, postgres_database, wait_for
from benchmarks.wire import Proxy
from tests.execution.durability.rows import Rows
from tests.execution.durability.services import SIZES, broker_url, queues_empty
from tests.execution.durability.telling import ForeignMarker, marker_made, task_with, tell
from tests.house.processes import environment
from tests.loopback.faults import Fault
from tests.loopback.replies import Asked, OutOfReplies
from tests.loopback.server import LoopbackServer

BATCHES = 5
ROUNDS = 6
SETTLE_SECONDS = 180.0
AWAY_SECONDS = 3.0
FAULTS = ("status", "reset", "rate_limit", "truncated_line", "drop", "error_object", "empty")
ONE_IN = 5
LAUNCH = """
from refinement.engine.codec import rubric_with
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.services.projects.local import local_project
from refinement.services.runs.creating import run_create
project = local_project()
for profile, task in %r:
    version = version_named(project, profile)
    definition = rubric_with(definition_of(version), {"policy.max_rounds": "%d"})
    run_create(project=project, version=version, definition=definition, task=task,
               producer=Target("ollama", "loopback:1b"), judge=Target("ollama", "loopback:8b"))
"""
LAUNCH_EXPERIMENT = """
from refinement.interchange.suites.types import SuiteTaskText
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.experiments.creating import ConfigurationSpec, experiment_create
from refinement.services.projects.local import local_project
from refinement.services.suites.editing import suite_create
project = local_project()
tasks = [SuiteTaskText(key=f"task-{n}", title=f"Task {n}", task=task) for n, task in enumerate(%r, 1)]
suite = suite_create(project=project, name="Chaos", tasks=tasks)
models = {"producer": Target("ollama", "loopback:1b"), "judge": Target("ollama", "loopback:8b")}
changes = {"policy.max_rounds": %d}
specs = [
    ConfigurationSpec(name, version_named(project, name), definition_changes=changes, **models)
    for name in ("wiggum", "ralph")
]
experiment_create(project=project, user=None, suite_version=suite, name="Chaos", configurations=specs)
"""
CONFIGURATIONS = 2
FIRST_TASK = 1_000_000  # so that markers of its tasks are not those of single runs
REPORT = "from benchmarks.replay import report; report()"


@dataclass
class Chaos:
    """One instance, its workers, and the failures injected so far."""

    size: str
    app: Instance
    rows: Rows
    rng: random.Random
    threads: int
    verbose: bool
    database: Proxy | None
    broker: Proxy | None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)

    def start_workers(self, count: int) -> None:
        """Starts workers until there are `count`, as a supervisor does."""
        gone = [worker for worker in self.workers if worker.poll() is not None]
        self.done["workers that ended unexpectedly"] += len(gone)
        self.workers = [worker for worker in self.workers if worker not in gone]
        while len(self.workers) < count:
            arguments = ("manage.py", "worker", "--threads", str(self.threads))
            self.workers.append(self.app.start(*arguments, quiet=not self.verbose))

    def actions(self) -> dict[str, Callable[[], None]]:
        possible: dict[str, Callable[[], None]] = {
            "kill -9 of a worker": lambda: self.stop_worker(signal.SIGKILL),
            "SIGTERM to a worker": lambda: self.stop_worker(signal.SIGTERM),
            "all queued messages lost": self.lose_messages,
        }
        if self.database is not None:
            possible["database connections reset"] = self.database.reset_connections
            possible["database down for a while"] = lambda: self.disconnect(self.database)
        if self.broker is not None:
            possible["broker connections reset"] = self.broker.reset_connections
            possible["broker down for a while"] = lambda: self.disconnect(self.broker)
        return possible

    def inject_failure(self) -> None:
        """Injects a random failure, most often a killed worker."""
        possible = self.actions()
        names = [*possible, "kill -9 of a worker", "kill -9 of a worker"]
        name = self.rng.choice(names)
        possible[name]()
        self.done[name] += 1

    def stop_worker(self, number: int) -> None:
        worker = self.workers.pop(self.rng.randrange(len(self.workers)))
        worker.send_signal(number)
        worker.wait(timeout=30)

    def lose_messages(self) -> None:
        if self.broker is None:
            self.rows.all("DELETE FROM refinement_queuedmessage WHERE state = 'queued'")
        else:
            queues_empty(broker_url(self.size))

    def disconnect(self, proxy: Proxy | None) -> None:
        assert proxy is not None
        proxy.stop()
        time.sleep(AWAY_SECONDS)
        proxy.start()

    def unfinished(self) -> int:
        experiments = "SELECT count(*) FROM refinement_experiment WHERE status <> 'finished'"
        runs = "SELECT count(*) FROM refinement_run WHERE status <> 'finished'"
        return int(self.rows.one(experiments)) + int(self.rows.one(runs))

    def launch(self, numbers: range) -> None:
        profiles = ("wiggum", "ralph", "simmer")
        runs = [(profiles[n % 3], task_with(marker_made(n, course=n))) for n in numbers]
        self.app.manage("shell", "-v0", "--no-imports", "-c", LAUNCH % (runs, ROUNDS))

    def launch_experiment(self, tasks: int) -> None:
        numbers = range(FIRST_TASK, FIRST_TASK + tasks)
        texts = [task_with(marker_made(n, course=n)) for n in numbers]
        self.app.manage("shell", "-v0", "--no-imports", "-c", LAUNCH_EXPERIMENT % (texts, ROUNDS))

    def run(self, seconds: float, runs: int, workers: int, tasks: int) -> None:
        """Creates the runs in batches over the first half of the time, and injects failures throughout.

        An experiment with so many tasks is under way beside them.
        """
        if tasks:
            self.launch_experiment(tasks)
        began = time.monotonic()
        edges = [runs * part // BATCHES for part in range(BATCHES + 1)]
        batches = [range(low, high) for low, high in pairwise(edges) if high > low]
        self.start_workers(workers)
        while (elapsed := time.monotonic() - began) < seconds or batches:
            if batches and elapsed >= seconds / 2 * (1 - len(batches) / BATCHES):
                self.launch(batches.pop(0))
            time.sleep(self.rng.uniform(0.3, 2.0))
            self.inject_failure()
            self.start_workers(workers)

    def wait_for_end(self, workers: int) -> float:
        """Waits until all runs have ended; returns the seconds that took."""
        began = time.monotonic()

        def ended() -> bool:
            self.start_workers(workers)
            return self.unfinished() == 0

        try:
            wait_for(ended, SETTLE_SECONDS, every=0.5)
        except TimeoutError:
            print(
                f"{self.unfinished()} runs or experiments have not ended after {SETTLE_SECONDS:.0f} s",
                file=sys.stderr,
            )
        return time.monotonic() - began


def faults(rng: random.Random) -> list[Fault]:
    """Rules that make one call in five fail, alternating between the kinds."""
    first = rng.randrange(1, ONE_IN + 1)
    failing = range(first, 20_000, ONE_IN)
    return [
        Fault(kind, nth=tuple(failing[turn :: len(FAULTS)]), retry_after="1")
        for turn, kind in enumerate(FAULTS)
    ]


@contextmanager
def chaos(size: str, options: argparse.Namespace, server: LoopbackServer) -> Iterator[Chaos]:
    with ExitStack() as stack:
        data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wiggum-chaos-")))
        settings = {"WIGGUM_OLLAMA_URL": server.address, "DJANGO_SETTINGS_MODULE": "wiggum_site.settings"}
        database = broker = None
        postgres_url = ""
        if size.startswith("postgres"):
            postgres_url = stack.enter_context(postgres_database())
            database = stack.enter_context(Proxy(postgres_url))
            settings["DATABASE_URL"] = database.url
        if "+" in size:
            queues_empty(broker_url(size))
            broker = stack.enter_context(Proxy(broker_url(size)))
            settings["WIGGUM_BROKER_URL"] = broker.url
        app = Instance(environment(data_dir, **settings))
        stack.callback(app.stop)
        app.manage("migrate", "-v0")
        rng = random.Random(options.seed)
        rows = Rows(data_dir, postgres_url)
        yield Chaos(size, app, rows, rng, options.threads, options.verbose, database, broker)


def run_chaos(size: str, options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """Runs the benchmark; returns the problems and the figures to print."""
    with LoopbackServer() as server, chaos(size, options, server) as instance:
        return run_on(instance, server, options)


def run_on(
    instance: Chaos, server: LoopbackServer, options: argparse.Namespace
) -> tuple[list[str], dict[str, Any]]:
    """Runs the benchmark on an instance without runs."""
    mixed_up: list[str] = []

    def replies(asked: Asked) -> str:
        try:
            return tell(asked)
        except ForeignMarker as error:
            mixed_up.append(str(error))
            raise OutOfReplies(str(error)) from error

    server.replies = replies
    server.latency, server.chunk_delay = options.latency, options.latency / 8
    server.faults = faults(instance.rng)
    instance.run(options.seconds, options.runs, options.workers, options.tasks)
    server.faults = []
    instance.lose_messages()
    settled = instance.wait_for_end(options.workers)
    report = json.loads(instance.app.manage("shell", "-v0", "--no-imports", "-c", REPORT))
    problems = [*report.pop("problems"), *mixed_up]
    expected = options.runs + options.tasks * CONFIGURATIONS
    if sum(report["endings"].values()) != expected:
        problems.append(f"of {expected} runs, {sum(report['endings'].values())} ended")
    stored = report["calls"]
    figures = {**instance.done, **report, "calls lost and repeated": len(server.chats) - stored}
    return problems, {**figures, "seconds until all runs had ended": round(settled, 1)}


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options in these arguments, or in those of the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--tasks", type=int, default=10, help="of an experiment with two configurations")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.6, help="of the model server, in seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", nargs="+", choices=SIZES, default=["sqlite", "postgres+redis"])
    parser.add_argument("--verbose", action="store_true", help="show the workers' output")
    return parser.parse_args(arguments)


def main() -> None:
    options = options_of()
    failed = False
    for size in options.size:
        problems, figures = run_chaos(size, options)
        what = f"{options.runs} runs, an experiment of {options.tasks} tasks"
        print(f"\n{size}: {what}, {options.workers} workers, seed {options.seed}")
        print("| what | how often |\n|---|---:|")
        for name, value in figures.items():
            print(f"| {name} | {value} |")
        for problem in problems:
            print(f"WRONG: {problem}")
        failed = failed or bool(problems)
        print(
            "every run ended as the engine says" if not problems else f"{len(problems)} problems", flush=True
        )
    sys.exit(failed)


if __name__ == "__main__":
    main()
