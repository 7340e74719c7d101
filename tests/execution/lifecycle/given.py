"""Runs in every state, and the steps of a worker."""

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.db import connections
from django.utils import timezone
from dramatiq import Worker

from refinement.actors import broker
from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.engine.types import Rubric
from refinement.execution.steps.step import StepResult
from refinement.models import Project, QueuedMessage, Round, Run, Verdict
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create
from tests.append_only import audit_emptied
from tests.execution.wire.stage import JUDGE, PRODUCER, TASK, verdict
from tests.loopback.replies import from_lists
from tests.loopback.server import LoopbackServer
from tests.stepping import run_step

SEED = "# A first text about backups."
FINISHED = ("PASS", "FAIL", "DONE", "ERROR", "CANCELLED")
STATES = ("queued", "running", "waiting", "paused", *FINISHED)
REASONS = {
    "PASS": "passed",
    "FAIL": "max_rounds",
    "DONE": "max_rounds",
    "ERROR": "judge_failed",
    "CANCELLED": "cancelled",
}
_slugs = itertools.count(1)


def rubric(rounds: int = 3, **policy: str) -> Rubric:
    """The wiggum profile, which continues until the round limit or its threshold is reached."""
    settings = {"max_rounds": str(rounds), "stop_rules": "passed, max_rounds", **policy}
    return rubric_with(rubric_for("wiggum"), {f"policy.{name}": value for name, value in settings.items()})


class Scene:
    """A project, a server, and runs on them."""

    def __init__(self, server: LoopbackServer, project: Project) -> None:
        self.server = server
        self.project = project

    def says(self, *scores: float | str, texts: Sequence[str] = ()) -> None:
        """Sets the judge's replies in order (scores, or a literal text) and the producer's texts."""
        said = [score if isinstance(score, str) else verdict(rubric(), score) for score in scores]
        written = texts or [f"# Revision {number} of the text." for number in range(1, 30)]
        self.server.replies = from_lists({"judge": said, "producer": written})
        self.server._asked.clear()

    def launch(self, definition: Rubric | None = None, *, seed: str = SEED, **more: Any) -> Run:
        """A queued run with its message."""
        used = definition or rubric()
        version = rubric_create(project=self.project, slug=f"rubric-{next(_slugs)}", definition=used)
        models = {"producer": PRODUCER, "judge": JUDGE, **more}
        return run_create(project=self.project, version=version, task=TASK, seed=seed, **models)

    def in_state(self, state: str) -> Run:
        """A run with one judged round in this state."""
        run = self.launch()
        Run.objects.filter(pk=run.pk).update(
            rounds_judged=1, best_round=1, r1=5, best=5, last=5, improvement=0, **fields_of(state)
        )
        first = Round.objects.get(run=run, number=1)
        scores = {criterion.key: "5" for criterion in rubric().criteria}
        Round.objects.filter(pk=first.pk).update(judged_at=timezone.now(), composite=5, scores=scores)
        entries = [{"key": key, "score": score} for key, score in scores.items()]
        Verdict.objects.create(round=first, judge="loopback:8b", scores=entries)
        QueuedMessage.objects.all().delete()
        run.events.all().delete()
        audit_emptied()
        run.refresh_from_db()
        return run

    def asked(self, role: str = "") -> int:
        """The number of chats that the server received."""
        return sum(not role or entry.role == role for entry in self.server.chats)


def fields_of(state: str) -> dict[str, Any]:
    soon = timezone.now() + timedelta(seconds=15)
    if state in FINISHED:
        failed = {"failure_role": "judge", "failure_message": "no reply"} if state == "ERROR" else {}
        ended = {"status": "finished", "finished_at": timezone.now(), "why": f"Ended with {state}."}
        return {**ended, "outcome": state, "stop_reason": REASONS[state], **failed}
    return {
        "queued": {"status": "queued"},
        "running": {
            "status": "running",
            "lease_owner": "a worker",
            "lease_until": soon,
            "attempt": 3,
            "calling": {"ollama": 1},
        },
        "waiting": {
            "status": "waiting",
            "next_try_at": soon,
            "waiting_for": "the server",
            "waiting_endpoint": "ollama",
        },
        "paused": {"status": "paused"},
    }[state]


def advance(run: Run, steps: int = 100) -> list[StepResult]:
    """Carries out this many steps as a worker does, or all that are due now."""
    results = []
    for _ in range(steps):
        result = run_step(run.pk)
        if result is None:
            break
        results.append(result)
    run.refresh_from_db()
    return results


def now_due(run: Run) -> None:
    """Makes the next try due now."""
    Run.objects.filter(pk=run.pk, status="waiting").update(next_try_at=timezone.now())


def messages(run: Run) -> int:
    """The number of queued messages for this run."""
    bodies = [json.loads(row.body) for row in QueuedMessage.objects.filter(state="queued")]
    return sum(body["args"] == [run.pk] for body in bodies)


def kinds(run: Run) -> list[str]:
    return list(run.events.order_by("id").values_list("kind", flat=True))


def row_of(run: Run) -> dict[str, Any]:
    return Run.objects.values().get(pk=run.pk)


def at_once(*works: Callable[[], object]) -> list[object]:
    """Runs the functions in threads that start together; returns what each returned or raised."""
    start = threading.Barrier(len(works))
    results: list[object] = [None] * len(works)

    def work(index: int) -> None:
        start.wait(10)
        try:
            results[index] = works[index]()
        except Exception as error:  # noqa: BLE001  returned to the test
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(index,)) for index in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "somebody never came back"
    return results


@contextmanager
def worker_threads(count: int) -> Iterator[None]:
    """A worker in this process, started and stopped as the command does it."""
    broker.emit_after("process_boot")
    worker = Worker(broker, worker_threads=count, worker_timeout=100)
    worker.queue_prefetch = count
    worker.start()
    try:
        yield
    finally:
        worker.stop(timeout=5_000)


def endpoint_of(server: LoopbackServer, name: str, concurrency: int) -> str:
    """WIGGUM_ENDPOINTS with another name for the server and this concurrency limit."""
    entry = {"name": name, "kind": "ollama", "url": server.address, "concurrency": concurrency}
    return json.dumps([entry])


def targets(endpoint: str) -> dict[str, Target]:
    return {"producer": replace(PRODUCER, endpoint=endpoint), "judge": replace(JUDGE, endpoint=endpoint)}
