"""Whole runs on a loopback model server: scripted replies, and the requests that the server received."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from refinement.engine.types import Rubric
from refinement.execution.foreground import run_in_foreground
from refinement.execution.steps.step import StepOptions, StepResult
from refinement.judging.sources import SourceText
from refinement.models import Call, Project, Run, RunStatus
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create
from tests.loopback.replies import from_lists
from tests.loopback.server import Entry, LoopbackServer

TASK = "Explain how our backups are made and how they are restored."
PRODUCER, JUDGE = Target("ollama", "loopback:1b"), Target("ollama", "loopback:8b")
_slugs = itertools.count(1)


def verdict(
    rubric: Rubric,
    scores: float | Sequence[float],
    *,
    issues: Iterable[str] = ("The restore is not explained.",),
    asi: str = "Explain the restore.",
    reasoning: str = "It names the steps.",
    **more: object,
) -> str:
    """A judge's reply as the schema wants it: one score for all criteria, or one for each."""
    each = scores if isinstance(scores, Sequence) else [scores] * len(rubric.criteria)
    criteria = {
        criterion.key: {"reasoning": reasoning, "score": score, "improvement": "Say more."}
        for criterion, score in zip(rubric.criteria, each, strict=True)
    }
    return json.dumps({"criteria": criteria, "issues": list(issues), "asi": asi, **more})


def draft(number: int) -> str:
    return f"# Version {number}\n\nThe backups are made every night and kept for {number} weeks."


def drafts(count: int) -> list[str]:
    return [draft(number) for number in range(1, count + 1)]


class Stage:
    """A project, a server, and runs that are carried out from start to end."""

    def __init__(self, server: LoopbackServer, project: Project) -> None:
        self.server = server
        self.project = project
        self.waits: list[StepResult] = []

    def says(self, **lists: Sequence[Any]) -> None:
        """Sets the replies of judge and producer from now on, in order."""
        self.server.replies = from_lists(lists)
        self.server._asked.clear()

    def launch(
        self,
        rubric: Rubric,
        *,
        seed: str = "",
        task: str = TASK,
        producer: Target = PRODUCER,
        judge: Target = JUDGE,
        sources: Sequence[SourceText] = (),
        **more: Any,
    ) -> Run:
        version = rubric_create(project=self.project, slug=f"rubric-{next(_slugs)}", definition=rubric)
        return run_create(
            project=self.project,
            version=version,
            task=task,
            seed=seed,
            producer=producer,
            judge=judge,
            sources=sources,
            status=RunStatus.RUNNING,
            **more,
        )

    def carry_on(self, run: Run, **options: Any) -> Run:
        run_in_foreground(run.pk, StepOptions(**options), self.waits.append)
        run.refresh_from_db()
        return run

    def play(self, rubric: Rubric, *, options: Mapping[str, Any] | None = None, **launch: Any) -> Run:
        """Creates a run and carries it out to its end."""
        return self.carry_on(self.launch(rubric, **launch), **(options or {}))

    def asked(self, role: str) -> list[Entry]:
        return [entry for entry in self.server.chats if entry.role == role]


def composites(run: Run) -> list[float | None]:
    values = run.rounds.order_by("number").values_list("composite", flat=True)
    return [None if value is None else float(value) for value in values]


def figures(run: Run) -> tuple[float | None, ...]:
    """r1, best, last and improvement."""
    values = (run.r1, run.best, run.last, run.improvement)
    return tuple(None if value is None else float(value) for value in values)


def texts(entry: Entry) -> list[str]:
    return [message["content"] for message in entry.body["messages"]]


def roles(entry: Entry) -> list[str]:
    return [message["role"] for message in entry.body["messages"]]


def calls(run: Run) -> list[Call]:
    return list(run.calls.order_by("id"))


def no_wait(moment: datetime) -> None:
    """Makes retries due immediately, so that tests do not wait."""
    Run.objects.filter(status=RunStatus.WAITING, next_try_at=moment).update(next_try_at="2000-01-01T00:00Z")
