"""An experiment on a server with a fixed latency: wall time over the ideal, its page, single runs meanwhile.

    python -m benchmarks.suite [--tasks 100] [--configurations 5] [--repeats 2] [--latency 0.5]
                               [--at-once 32] [--size sqlite postgres+redis]

The ideal is that of a scheduler that costs nothing: all calls at the server's latency, `--at-once` of them
at a time. While the experiment runs, its page is loaded over and over, and every few seconds a single run is
launched by the API: it has to start within a second.
"""

import argparse
import json
import math
import os
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.instance import Instance, cpu_seconds, instance, model_server, wait_for
from benchmarks.live import free_port, is_listening, start_web

ROUNDS = 2
CALLS_A_RUN = 2 * ROUNDS  # a draft and a revision, each judged
PAGE_EVERY, SINGLE_EVERY = 0.5, 4.0  # seconds
SLUG = "local"
SETUP = """
import json
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from refinement.models import Membership, User
from refinement.services.people.tokens import token_make
from refinement.services.projects.local import local_project
project = local_project()
user = User.objects.create_user("bench@example.org", "a long enough password")
Membership.objects.create(project=project, user=user, role="editor")
session = SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
session.save()
_, token = token_make(project=project, by=user, name="bench", role="editor", days=30)
print(json.dumps({"session": session.session_key, "token": token}))
"""
LAUNCH = """
from refinement.interchange.suites.types import SuiteTaskText
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.experiments.creating import ConfigurationSpec, experiment_create
from refinement.services.projects.local import local_project
from refinement.services.suites.editing import suite_create
project = local_project()
version = version_named(project, "wiggum")
tasks = [SuiteTaskText(key=f"task-{{n}}", title=f"Task {{n}}", task=f"Guide {{n}}", task_type="how-to")
         for n in range(1, {tasks} + 1)]
suite = suite_create(project=project, name="Bench {name}", tasks=tasks)
changes = {{"policy.stop_rules": "max_rounds", "policy.max_rounds": "{rounds}"}}
models = {{"producer": Target("ollama", "loopback:1b"), "judge": Target("ollama", "loopback:8b")}}
specs = [ConfigurationSpec(f"C{{n}}", version, definition_changes=changes, **models)
         for n in range(1, {configurations} + 1)]
print(experiment_create(project=project, user=None, suite_version=suite, name="Bench {name}",
                        configurations=specs, repeats={repeats}).pk)
"""
REPORT = """
import json
from django.db.models import Max, Min
from refinement.models import Call, Experiment, ExperimentRun, Run
experiment = Experiment.objects.get(pk={pk})
runs = Run.objects.filter(experiment=experiment)
times = runs.aggregate(last=Max("finished_at"))
cells = ExperimentRun.objects.filter(experiment=experiment)
single = [(run.started_at - run.created_at).total_seconds()
          for run in Run.objects.filter(experiment=None) if run.started_at]
print(json.dumps({{
    "status": experiment.status,
    "wall": (times["last"] - experiment.created_at).total_seconds(),
    "finishing": (experiment.finished_at - times["last"]).total_seconds(),
    "done": cells.filter(state="done", replaced=False).count(), "cells": cells.count(), "runs": runs.count(),
    "calls": Call.objects.filter(run__experiment=experiment).count(), "single": sorted(single),
}}))
"""


@dataclass
class Seen:
    """What was measured from outside while the experiment ran."""

    pages: list[float] = field(default_factory=list)  # seconds
    problems: list[str] = field(default_factory=list)
    launched: int = 0


@dataclass(frozen=True)
class Site:
    """The web process, with an editor's session and token."""

    port: int
    session: str
    token: str

    def page(self, path: str) -> float:
        """Loads the page; returns the seconds that took."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Cookie": f"sessionid={self.session}"}
        )
        began = time.perf_counter()
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()
        return time.perf_counter() - began

    def api(self, path: str, body: object = None) -> dict[str, object]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v1/projects/{SLUG}{path}",
            data=data,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, object] = json.load(answer)
        return found


@contextmanager
def visited(site: Site, experiment: int, seen: Seen) -> Iterator[None]:
    """Loads the experiment's page and launches single runs, until the block ends."""
    stopped = threading.Event()
    works = [
        threading.Thread(target=load_pages, args=(site, experiment, seen, stopped)),
        threading.Thread(target=launch_singles, args=(site, seen, stopped)),
    ]
    for work in works:
        work.start()
    try:
        yield
    finally:
        stopped.set()
        for work in works:
            work.join()


def load_pages(site: Site, experiment: int, seen: Seen, stopped: threading.Event) -> None:
    path = f"/p/{SLUG}/experiments/{experiment}/"
    while not stopped.wait(PAGE_EVERY):
        try:
            seen.pages.append(site.page(path))
        except urllib.error.HTTPError as error:
            seen.problems.append(f"the page answered {error.code}")
            return


def launch_singles(site: Site, seen: Seen, stopped: threading.Event) -> None:
    body = {"task": "A single run.", "rubric": "wiggum", "settings": {"rounds": 1}}
    models = {"producer": "ollama/loopback:1b", "judge": "ollama/loopback:8b"}
    while not stopped.wait(SINGLE_EVERY):
        site.api("/runs", {**body, **models})
        seen.launched += 1


@dataclass
class Figures:
    size: str
    wall_over_ideal: float
    ideal: float
    finishing: float
    page: float  # at the 95th percentile, in seconds
    pages: int
    single: list[float]
    cpu_ms_a_call: float
    problems: list[str]


def measure(size: str, options: argparse.Namespace) -> Figures:
    with model_server(options.latency) as url, instance(size, url) as app:
        threads = -(-options.at_once // options.workers)
        site = site_of(app)
        workers = [app.worker(threads=threads) for _ in range(options.workers)]
        wait_for(lambda: alive(app) == options.workers, 60)
        warm = launched(app, tasks=options.at_once, configurations=1, repeats=1, name="warm")
        wait_for(lambda: is_finished(site, warm), 120, every=0.5)
        idle = sum(cpu_seconds(worker.pid) for worker in workers)
        cells = options.tasks * options.configurations * options.repeats
        ideal = cells * CALLS_A_RUN * options.latency / options.at_once
        seen = Seen()
        experiment = launched(app, options.tasks, options.configurations, options.repeats, name="measured")
        with visited(site, experiment, seen):
            wait_for(lambda: is_finished(site, experiment), 60 + 4 * ideal, every=1.0)
        found = json.loads(app.manage("shell", "-v0", "-c", REPORT.format(pk=experiment)))
        used = sum(cpu_seconds(worker.pid) for worker in workers) - idle
    if (found["done"], found["cells"], found["runs"]) != (cells, cells, cells):
        seen.problems.append(f"of {cells} cells: {found}")
    page = statistics.quantiles(seen.pages, n=20)[-1] if len(seen.pages) > 1 else math.nan
    return Figures(
        size, found["wall"] / ideal, ideal, found["finishing"], page, len(seen.pages), found["single"],
        1000 * used / found["calls"], seen.problems,
    )  # fmt: skip


def site_of(app: Instance) -> Site:
    port = free_port()
    made = json.loads(app.manage("shell", "-v0", "-c", SETUP))
    start_web(app, port)
    wait_for(lambda: is_listening(port), 60)
    return Site(port, made["session"], made["token"])


def launched(app: Instance, tasks: int, configurations: int, repeats: int, name: str) -> int:
    numbers = {"tasks": tasks, "configurations": configurations, "repeats": repeats}
    code = LAUNCH.format(**numbers, name=name, rounds=ROUNDS)
    return int(app.manage("shell", "-v0", "-c", code))


def is_finished(site: Site, experiment: int) -> bool:
    return site.api(f"/experiments/{experiment}")["status"] == "finished"


def alive(app: Instance) -> int:
    code = "from refinement.selectors.workers import workers_alive; print(workers_alive())"
    return int(app.manage("shell", "-v0", "-c", code))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tasks", type=int, default=100)
    parser.add_argument("--configurations", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--at-once", type=int, default=32, help="threads of all workers together")
    parser.add_argument("--workers", type=int, default=2, help="worker processes")
    parser.add_argument("--size", nargs="+", default=["sqlite", "postgres+redis"])
    options = parser.parse_args()
    print(
        f"{options.tasks} tasks × {options.configurations} configurations × {options.repeats} repeats, "
        f"{CALLS_A_RUN} calls of {options.latency:g} s each, {options.at_once} at a time; "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before"
    )
    print("| size | ideal | wall / ideal | page p95 | pages | single runs start within | CPU per call "
          "| load |\n|---|---:|---:|---:|---:|---:|---:|---:|")  # fmt: skip
    failed = False
    for size in options.size:
        found = measure(size, options)
        slowest = f"{found.single[-1]:.2f} s ({len(found.single)})" if found.single else "none"
        print(
            f"| {size} | {found.ideal:.0f} s | {found.wall_over_ideal:.2f} × | {1000 * found.page:.0f} ms "
            f"| {found.pages} | {slowest} | {found.cpu_ms_a_call:.1f} ms | {os.getloadavg()[0]:.1f} |",
            flush=True,
        )
        for problem in found.problems:
            print(f"WRONG: {problem}")
        failed = failed or bool(found.problems)
    raise SystemExit(failed)


if __name__ == "__main__":
    main()
