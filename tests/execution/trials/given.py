"""Benches in every state, and the steps of a worker."""

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Rubric
from refinement.execution.trials.advancing import trial_advance
from refinement.models import Bench, BenchTrial, Project, QueuedMessage, RubricVersion
from refinement.providers.registry import Target
from refinement.services.rubrics.bench import Candidate, bench_create
from refinement.services.rubrics.editing import rubric_create, version_create
from tests.execution.wire.stage import verdict
from tests.loopback.replies import from_lists
from tests.loopback.server import LoopbackServer

TEXT = "Our backups are made every night.\nThey are kept for four weeks."
TASK = "Explain how our backups are made."
JUDGE = Target("ollama", "loopback:8b")
EXAMPLE = "Backups exist."


def definition(profile: str = "wiggum", **changes: Any) -> Rubric:
    return replace(rubric_for(profile), **changes)


def calibrated(score: str = "6") -> Rubric:
    """The wiggum rubric with a calibration example that has this score on every criterion."""
    rubric = definition()
    scores = {criterion.key: Decimal(score) for criterion in rubric.criteria}
    return replace(rubric, calibration_text=EXAMPLE, calibration_scores=scores)


class Table:
    """A project, a server, a rubric, and benches on them."""

    def __init__(self, server: LoopbackServer, project: Project) -> None:
        self.server = server
        self.project = project
        self._version: RubricVersion | None = None

    @property
    def version(self) -> RubricVersion:
        return self._version or self.rubric(definition())

    def rubric(self, what: Rubric) -> RubricVersion:
        """The rubric under test, or its next version."""
        if self._version is None:
            self._version = rubric_create(project=self.project, slug="guides", definition=what)
        else:
            self._version = version_create(rubric=self._version.rubric, definition=what)
        return self._version

    def says(self, *scores: float | Sequence[float] | str) -> None:
        """Sets the judge's replies in order: scores become a verdict, a text is sent unchanged."""
        rubric = definition()
        said = [score if isinstance(score, str) else verdict(rubric, score) for score in scores]
        self.server.replies = from_lists({"judge": said})
        self.server._asked.clear()

    def bench(self, *, repeats: int = 3, text: str = TEXT, **more: Any) -> Bench:
        values = {"version": self.version, "judge": JUDGE, "task": TASK, **more}
        candidate = values.pop("candidate", Candidate(text))
        return bench_create(candidate=candidate, repeats=repeats, **values)

    def judged(self, *scores: float | Sequence[float] | str, **more: Any) -> Bench:
        """A finished bench with one trial per score."""
        self.says(*scores)
        bench = self.bench(**{"repeats": len(scores), **more})
        advance(bench)
        return bench


def advance(bench: Bench) -> None:
    """Makes all calls that are due now, one after the other, as workers do."""
    while any(trial_advance(trial.pk) for trial in bench.trials.all()):
        pass
    bench.refresh_from_db()


def now_due(bench: Bench) -> None:
    """Makes the next try due now."""
    BenchTrial.objects.filter(bench=bench, status="waiting").update(next_try_at="2000-01-01T00:00Z")


def trials(bench: Bench) -> list[BenchTrial]:
    return list(bench.trials.order_by("number"))


def statuses(bench: Bench) -> list[str]:
    return [trial.status for trial in trials(bench)]


def messages(trial: BenchTrial) -> int:
    """The number of queued messages for this trial."""
    bodies = [json.loads(row.body) for row in QueuedMessage.objects.filter(state="queued")]
    return sum(body["actor_name"] == "judge_trial" and body["args"] == [trial.pk] for body in bodies)
