"""A separate instance for a test: database, broker, model server, and workers to start and kill."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.instance import database_drop, wait_for
from benchmarks.wire import Proxy
from tests.execution.durability.rows import Rows, plain
from tests.execution.durability.services import broker_url, queues_empty
from tests.execution.durability.telling import marker_made, task_with, tell
from tests.house.processes import environment
from tests.loopback.replies import role_by_schema
from tests.loopback.server import LoopbackServer
from tests.migrated import migrated_directory, postgres_copied
from tests.preloaded import Forked, Preloaded

ROUNDS = 3
CALLS = 2 * ROUNDS
PATIENCE = 180.0  # seconds; only a failing test waits that long
ROUND_COLUMNS = "number, origin, base_round, candidate, scores, judge_attempts"


@dataclass
class Stage:
    size: str
    app: Preloaded
    server: LoopbackServer
    rows: Rows
    broker: Proxy | None
    database: Proxy | None  # between the workers and PostgreSQL; the stage itself connects directly
    launched: int = 0
    markers: dict[int, str] = field(default_factory=dict)

    def launch(self, count: int = 1, *, board: bool = False) -> list[int]:
        """Queues runs with the same scores, each with a marker of its own."""
        markers = [marker_made(self.launched + number) for number in range(count)]
        self.launched += count
        tasks = [task_with(marker) for marker in markers]
        wanted = json.dumps({"tasks": tasks, "board": board})
        written = self.app.run("-m", "tests.execution.durability.launching", wanted)
        runs: list[int] = json.loads(written.splitlines()[-1])
        self.markers.update(zip(runs, markers, strict=True))
        return runs

    def worker(self, *options: str) -> Forked:
        """Starts a worker with the `options` of `dying_worker`. Without any, it is an ordinary worker."""
        return self.app.start("-m", "tests.execution.durability.dying_worker", *options)

    @contextmanager
    def working(self, *options: str) -> Iterator[Forked]:
        process = self.worker(*options)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def wait_for_end(self, *runs: int, seconds: float = PATIENCE) -> None:
        wait_for(lambda: all(self.status(run) == "finished" for run in runs), seconds)

    def clear(self) -> None:
        """Leaves no work from earlier tests, and a fast model server without faults."""
        self.rows.all("UPDATE refinement_run SET status = 'paused' WHERE status <> 'finished'")
        self.forget_messages()
        self.server.log.clear()
        self.server.replies, self.server.role_of = tell, role_by_schema
        self.server.chunk_delay, self.server.faults = 0.02, []

    def forget_messages(self) -> None:
        """Deletes messages of earlier tests."""
        queues_empty(broker_url(self.size))
        self.rows.all("DELETE FROM refinement_queuedmessage")

    def status(self, run: int) -> str:
        return str(self.rows.one("SELECT status FROM refinement_run WHERE id = ?", run))

    def lease_owner(self, run: int) -> str:
        return str(self.rows.one("SELECT lease_owner FROM refinement_run WHERE id = ?", run))

    def rounds(self, run: int) -> int:
        return int(self.rows.one("SELECT count(*) FROM refinement_round WHERE run_id = ?", run))

    def chats(self, run: int) -> int:
        """How many requests for this run the model server saw."""
        marker = self.markers[run]
        return sum(marker in str(entry.body) for entry in self.server.chats)

    def story(self, run: int) -> dict[str, Any]:
        """Everything that must be equal in two runs with the same scores, without the run's marker."""
        marker = self.markers[run]
        rounds = self.rows.all(
            f"SELECT {ROUND_COLUMNS} FROM refinement_round WHERE run_id = ? ORDER BY number", run
        )
        calls = self.rows.all(
            "SELECT round_number, role, attempt, error_kind, reply FROM refinement_call "
            "WHERE run_id = ? ORDER BY id",
            run,
        )
        verdicts = self.rows.all(
            "SELECT r.number, v.position, v.scores, v.asi FROM refinement_verdict v "
            "JOIN refinement_round r ON r.id = v.round_id WHERE r.run_id = ? ORDER BY r.number, v.position",
            run,
        )
        (figures,) = self.rows.all(
            "SELECT status, outcome, stop_reason, best_round, rounds_judged, calls_made, lease_owner "
            "FROM refinement_run WHERE id = ?",
            run,
        )
        return {
            "figures": figures,
            "rounds": [(*row[:3], row[3].replace(marker, "IT"), plain(row[4]), row[5]) for row in rounds],
            "calls": [(*row[:4], row[4].replace(marker, "IT")) for row in calls],
            "verdicts": [(*row[:2], plain(row[2]), row[3].replace(marker, "IT")) for row in verdicts],
            "events": self.events(run),
        }

    def board_story(self, run: int) -> dict[str, Any]:
        """The same for a board; its judges answer in any order."""
        marker = self.markers[run]
        calls = self.rows.all(
            "SELECT round_number, purpose, seat, attempt, error_kind, reply FROM refinement_call "
            "WHERE run_id = ? ORDER BY round_number, purpose, seat, attempt",
            run,
        )
        board = self.rows.all(
            "SELECT r.number, b.seat, b.problem, b.scores, b.stances FROM refinement_boardverdict b "
            "JOIN refinement_round r ON r.id = b.round_id WHERE r.run_id = ? ORDER BY r.number, b.seat",
            run,
        )
        rounds = self.rows.all(
            "SELECT spread, summary, key_change FROM refinement_round WHERE run_id = ? ORDER BY number", run
        )
        story = self.story(run)
        texts = json.dumps(
            {
                "calls": calls,
                "board": [(*row[:3], plain(row[3]), plain(row[4])) for row in board],
                "merged": [(plain(row[0]), plain(row[1]), row[2]) for row in rounds],
            }
        )
        return {
            **{name: story[name] for name in ("figures", "rounds", "verdicts")},
            "events": sorted(story["events"]),
            **json.loads(texts.replace(marker, "IT")),
        }

    def events(self, run: int) -> list[str]:
        """The kinds of the run's events in order, without the claims: a lost step is claimed twice."""
        query = "SELECT kind FROM refinement_event WHERE run_id = ? AND kind <> 'claimed' ORDER BY id"
        return [row[0] for row in self.rows.all(query, run)]


@contextmanager
def stage_set(size: str, *, broker_proxy: bool = False) -> Iterator[Stage]:
    """A migrated instance of one of the sizes, with an empty queue and a slow model server."""
    with ExitStack() as stack:
        made = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wiggum-durable-")))
        data_dir = Path(shutil.copytree(migrated_directory(), made / "data"))
        server = stack.enter_context(LoopbackServer(chunks=4))
        settings = {"WIGGUM_OLLAMA_URL": server.address, "WIGGUM_BROKER_URL": broker_url(size)}
        postgres_url, database, broker = "", None, None
        if size.startswith("postgres"):
            postgres_url = postgres_copied(f"wiggum_durable_{uuid4().hex[:12]}")
            stack.callback(database_drop, postgres_url)
            database = stack.enter_context(Proxy(postgres_url))
            settings["DATABASE_URL"] = database.url
        if broker_proxy and "+" in size:
            broker = stack.enter_context(Proxy(broker_url(size)))
            settings["WIGGUM_BROKER_URL"] = broker.url
        settings["DJANGO_SETTINGS_MODULE"] = "wiggum_site.settings"
        stack.callback(queues_empty, broker_url(size))
        app = stack.enter_context(Preloaded(environment(data_dir, **settings)))
        stage = Stage(size, app, server, Rows(data_dir, postgres_url), broker, database)
        stage.clear()
        yield stage
