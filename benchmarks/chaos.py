"""Runs under a rain of failures: every one must end as if nothing had happened.

    python -m benchmarks.chaos [--seconds 120] [--runs 50] [--workers 3] [--seed 1] [--size postgres+redis]

A seeded script kills and stops workers, cuts the wires to database and broker, unplugs the broker for
a while and loses its messages, while one call in five fails at the model server. Then all is well
again, the runs end, and each is held against a replay of the engine.
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
from benchmarks.wire import Wire
from tests.durability.rows import Rows
from tests.durability.services import SIZES, broker_url, queues_empty
from tests.durability.telling import ForeignMarker, marker_made, task_with, tell
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
REPORT = "from benchmarks.replay import report; report()"


@dataclass
class Chaos:
    """One instance, its workers, and what is done to them."""

    size: str
    app: Instance
    rows: Rows
    dice: random.Random
    threads: int
    loud: bool
    database: Wire | None
    broker: Wire | None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)

    def hire(self, count: int) -> None:
        """Starts workers where there are fewer, as a supervisor does."""
        gone = [worker for worker in self.workers if worker.poll() is not None]
        self.done["workers that ended unasked"] += len(gone)
        self.workers = [worker for worker in self.workers if worker not in gone]
        while len(self.workers) < count:
            arguments = ("manage.py", "worker", "--threads", str(self.threads))
            self.workers.append(self.app.start(*arguments, quiet=not self.loud))

    def actions(self) -> dict[str, Callable[[], None]]:
        possible: dict[str, Callable[[], None]] = {
            "kill -9 of a worker": lambda: self.dismiss(signal.SIGKILL),
            "SIGTERM to a worker": lambda: self.dismiss(signal.SIGTERM),
            "all queued messages lost": self.lose_messages,
        }
        if self.database is not None:
            possible["database connections cut"] = self.database.cut
            possible["database away for a while"] = lambda: self.away(self.database)
        if self.broker is not None:
            possible["broker connections cut"] = self.broker.cut
            possible["broker away for a while"] = lambda: self.away(self.broker)
        return possible

    def strike(self) -> None:
        """One of the failures, by the dice; a killed worker is the likeliest."""
        possible = self.actions()
        names = [*possible, "kill -9 of a worker", "kill -9 of a worker"]
        name = self.dice.choice(names)
        possible[name]()
        self.done[name] += 1

    def dismiss(self, number: int) -> None:
        worker = self.workers.pop(self.dice.randrange(len(self.workers)))
        worker.send_signal(number)
        worker.wait(timeout=30)

    def lose_messages(self) -> None:
        if self.broker is None:
            self.rows.all("DELETE FROM refinement_queuedmessage WHERE state = 'queued'")
        else:
            queues_empty(broker_url(self.size))

    def away(self, wire: Wire | None) -> None:
        assert wire is not None
        wire.unplug()
        time.sleep(AWAY_SECONDS)
        wire.mend()

    def unfinished(self) -> int:
        return int(self.rows.one("SELECT count(*) FROM refinement_run WHERE status <> 'finished'"))

    def launch(self, numbers: range) -> None:
        profiles = ("wiggum", "ralph", "simmer")
        runs = [(profiles[n % 3], task_with(marker_made(n, course=n))) for n in numbers]
        self.app.manage("shell", "-v0", "--no-imports", "-c", LAUNCH % (runs, ROUNDS))

    def rain(self, seconds: float, runs: int, workers: int) -> None:
        """Launches the runs in batches over the first half of the time, and strikes all along."""
        began = time.monotonic()
        edges = [runs * part // BATCHES for part in range(BATCHES + 1)]
        batches = [range(low, high) for low, high in pairwise(edges) if high > low]
        self.hire(workers)
        while (elapsed := time.monotonic() - began) < seconds or batches:
            if batches and elapsed >= seconds / 2 * (1 - len(batches) / BATCHES):
                self.launch(batches.pop(0))
            time.sleep(self.dice.uniform(0.3, 2.0))
            self.strike()
            self.hire(workers)

    def settle(self, workers: int) -> float:
        """How long the rest took once all was well again."""
        began = time.monotonic()

        def ended() -> bool:
            self.hire(workers)
            return self.unfinished() == 0

        try:
            wait_for(ended, SETTLE_SECONDS, every=0.5)
        except TimeoutError:
            print(f"{self.unfinished()} runs have not ended after {SETTLE_SECONDS:.0f} s", file=sys.stderr)
        return time.monotonic() - began


def faults(dice: random.Random) -> list[Fault]:
    """Rules that spoil one call in five, by turns."""
    first = dice.randrange(1, ONE_IN + 1)
    spoilt = range(first, 20_000, ONE_IN)
    return [
        Fault(kind, nth=tuple(spoilt[turn :: len(FAULTS)]), retry_after="1")
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
            database = stack.enter_context(Wire(postgres_url))
            settings["DATABASE_URL"] = database.url
        if "+" in size:
            queues_empty(broker_url(size))
            broker = stack.enter_context(Wire(broker_url(size)))
            settings["WIGGUM_BROKER_URL"] = broker.url
        app = Instance(environment(data_dir, **settings))
        stack.callback(app.stop)
        app.manage("migrate", "-v0")
        dice = random.Random(options.seed)
        rows = Rows(data_dir, postgres_url)
        yield Chaos(size, app, rows, dice, options.threads, options.verbose, database, broker)


def suffer(size: str, options: argparse.Namespace) -> tuple[list[str], dict[str, Any]]:
    """What was wrong in the end, and what was done and seen."""
    mixed_up: list[str] = []

    def replies(asked: Asked) -> str:
        try:
            return tell(asked)
        except ForeignMarker as error:
            mixed_up.append(str(error))
            raise OutOfReplies(str(error)) from error

    given = {"latency": options.latency, "chunk_delay": options.latency / 8}
    with LoopbackServer(replies, **given) as server, chaos(size, options, server) as instance:
        server.faults = faults(instance.dice)
        instance.rain(options.seconds, options.runs, options.workers)
        server.faults = []
        instance.lose_messages()
        settled = instance.settle(options.workers)
        found = json.loads(instance.app.manage("shell", "-v0", "--no-imports", "-c", REPORT))
        seen = len(server.chats)
    problems = [*found.pop("problems"), *mixed_up]
    if sum(found["endings"].values()) != options.runs:
        problems.append(f"of {options.runs} runs, {sum(found['endings'].values())} ended")
    kept = found["calls"]
    figures = {**instance.done, **found, "calls that were lost and made again": seen - kept}
    return problems, {**figures, "seconds until all had ended": round(settled, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--latency", type=float, default=0.6, help="of the model server, in seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", nargs="+", choices=SIZES, default=["sqlite", "postgres+redis"])
    parser.add_argument("--verbose", action="store_true", help="show what the workers say")
    options = parser.parse_args()
    failed = False
    for size in options.size:
        problems, figures = suffer(size, options)
        print(f"\n{size}: {options.runs} runs, {options.workers} workers, seed {options.seed}")
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
