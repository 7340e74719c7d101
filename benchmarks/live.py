"""The cost of open live pages, and how fast events reach them.

    python -m benchmarks.live [--pages 100] [--seconds 20] [--size sqlite postgres] [--runs 1 10]

Opens event streams to a real instance while runs with a slow model are in progress. Measures the web
process's CPU as a share of one core, and the time from an event's row to its arrival on each socket. The
budgets are a tenth of a core for 100 pages and one second for an event.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from benchmarks.instance import Instance, cpu_seconds, instance, model_server, resident_megabytes, wait_for

PAGES_OF_ONE_PERSON = 20  # there is a limit per user
LONG = 100_000  # rounds: the run must not end during the measurement
SETUP = """
import json
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from refinement.engine.codec import rubric_with
from refinement.models import Membership, User
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.services.projects.local import local_project
from refinement.services.runs.creating import run_create
project = local_project()
sessions = []
for number in range(%d):
    user = User.objects.create_user(f"watcher{number}@example.org", "a long enough password")
    Membership.objects.create(project=project, user=user, role="viewer")
    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session.save()
    sessions.append(session.session_key)
version = version_named(project, "wiggum")
rubric = rubric_with(definition_of(version), {"policy.max_rounds": "%d", "policy.stop_rules": "max_rounds"})
runs = [
    run_create(project=project, version=version, definition=rubric, task=f"Guide {number}",
               producer=Target("ollama", "loopback:1b"), judge=Target("ollama", "loopback:8b")).pk
    for number in range(%d)
]
print(json.dumps({"sessions": sessions, "runs": runs}))
"""


@dataclass
class Received:
    """Messages received by all pages together since the last reset."""

    pages: int = 0
    events: int = 0
    texts: int = 0
    delays: list[float] = field(default_factory=list)

    def count(self, kind: str, data: str) -> None:
        if kind == "state":
            self.pages += 1
        elif kind == "text":
            self.texts += 1
        elif kind == "event":
            self.events += 1
            self.delays.append(time.time() - datetime.fromisoformat(json.loads(data)["at"]).timestamp())


async def watch(port: int, run: int, session: str, received: Received) -> None:
    """One page: reads its stream until it is cancelled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = (
        f"GET /p/local/runs/{run}/events/ HTTP/1.1\r\nHost: localhost\r\nCookie: sessionid={session}\r\n\r\n"
    )
    writer.write(request.encode())
    try:
        assert b" 200 " in await reader.readline(), "a stream was refused"
        kind = ""
        while line := (await reader.readline()).decode().rstrip("\r\n"):
            pass
        while raw := await reader.readline():
            line = raw.decode().rstrip("\r\n")
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                received.count(kind, line.removeprefix("data: "))
    finally:
        writer.close()


@dataclass
class Figures:
    size: str
    pages: int
    runs: int
    share: float  # of one core
    idle_share: float
    megabytes: float
    events: int
    texts: int
    median: float
    slowest: float


async def measure(app: Instance, size: str, pages: int, runs: int, seconds: float) -> Figures:
    port = free_port()
    web = start_web(app, port)
    wait_for(lambda: is_listening(port), 30)
    setup = json.loads(
        app.manage("shell", "-v0", "-c", SETUP % (1 + pages // PAGES_OF_ONE_PERSON, LONG, runs))
    )
    serving = children(web)
    app.worker(threads=runs)
    await asyncio.sleep(3)
    idle_share = await cpu_share(serving, 5)
    received = Received()
    numbers = [setup["runs"][index % runs] for index in range(pages)]
    readers = []
    for index, run in enumerate(numbers):
        # Not all at once: most servers refuse a hundred new database connections.
        await asyncio.sleep(0.05)
        session = setup["sessions"][index // PAGES_OF_ONE_PERSON]
        readers.append(asyncio.create_task(watch(port, run, session, received)))
    while received.pages < pages and not any(
        reader.done() for reader in readers
    ):  # opening pages and catching up is not measured
        await asyncio.sleep(0.1)
    await asyncio.sleep(2)
    received.events, received.texts = 0, 0
    received.delays.clear()
    share = await cpu_share(serving, seconds)
    megabytes = sum(resident_megabytes(pid) for pid in serving)
    ended = [reader for reader in readers if reader.done()]
    assert not ended, f"{len(ended)} streams ended: {ended[0]}"
    for reader in readers:
        reader.cancel()
    delays = sorted(received.delays)
    return Figures(
        size, pages, runs, share, idle_share, megabytes, received.events // pages, received.texts // pages,
        statistics.median(delays) if delays else 0.0, delays[-1] if delays else 0.0,
    )  # fmt: skip


async def cpu_share(pids: list[int], seconds: float) -> float:
    """The CPU that these processes use during `seconds`, as a share of one core."""
    before, began = sum(cpu_seconds(pid) for pid in pids), time.monotonic()
    await asyncio.sleep(seconds)
    return (sum(cpu_seconds(pid) for pid in pids) - before) / (time.monotonic() - began)


def start_web(app: Instance, port: int) -> int:
    app.manage("collectstatic", "--no-input", "-v0")
    options = ["--interface", "asginl", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    more = ["--workers-kill-timeout", "3", "--backpressure", "4096", "--no-ws", "--log-level", "warning"]
    return app.start("-m", "granian", "wiggum_site.asgi:application", *options, *more).pid


def children(pid: int) -> list[int]:
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(int(child) for child in below)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--size", nargs="+", default=["sqlite", "postgres"])
    options = parser.parse_args()
    print(f"{options.pages} pages over {options.seconds:g} s, {os.cpu_count()} cores")
    print("| size | runs | CPU of the web process | without pages | memory | events a page | texts a page "
          "| row to socket, median | slowest |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")  # fmt: skip
    for size in options.size:
        for runs in options.runs:
            # A reply takes about four seconds and has eighty pieces, like that of a model of medium speed.
            with (
                model_server(0.2, **{"chunks": "80", "chunk-delay": "0.05"}) as url,
                instance(size, url) as app,
            ):
                report = asyncio.run(measure(app, size, options.pages, runs, options.seconds))
            late = "" if report.share < 0.1 and report.slowest < 1 else "  over budget"
            print(
                f"| {size} | {runs} | {report.share:.1%} of a core | {report.idle_share:.1%} "
                f"| {report.megabytes:.0f} MB | {report.events} | {report.texts} | {report.median:.2f} s "
                f"| {report.slowest:.2f} s |{late}",
                flush=True,
            )


if __name__ == "__main__":
    main()
