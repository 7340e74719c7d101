"""Experiments, and runs that end without a model."""

import itertools
from decimal import Decimal
from typing import Any

from django.utils import timezone

from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.engine.types import Outcome, StopReason
from refinement.execution.signals import run_ended
from refinement.models import Experiment, ExperimentRun, Project, Run, RunStatus, SuiteVersion
from refinement.providers.registry import Target
from refinement.services.experiments.creating import ConfigurationSpec, experiment_create
from refinement.services.experiments.dealing import experiment_advance
from refinement.services.rubrics.editing import rubric_create
from tests.services.suites.given import a_suite, a_task

PRODUCER, JUDGE = Target("ollama", "loopback:1b"), Target("ollama", "loopback:8b")
_slugs = itertools.count(1)


def a_rubric(project: Project, profile: str = "wiggum", **policy: str):
    settings = {"max_rounds": "1", "stop_rules": "passed, max_rounds", **policy}
    changed = rubric_with(rubric_for(profile), {f"policy.{name}": text for name, text in settings.items()})
    return rubric_create(project=project, slug=f"experiment-{next(_slugs)}", definition=changed)


def a_configuration(version, name: str = "A", **more: Any) -> ConfigurationSpec:
    return ConfigurationSpec(name, version, more.pop("producer", PRODUCER), more.pop("judge", JUDGE), **more)


def an_experiment(
    project: Project, *, tasks: int = 2, names: str = "AB", suite: SuiteVersion | None = None, **more: Any
) -> Experiment:
    """An experiment whose tasks have a starting text, so that a run consists of one judgement."""
    number = next(_slugs)
    suite = suite or a_suite(
        project,
        *(a_task(f"task-{count}", seed=f"# Text {count}") for count in range(1, tasks + 1)),
        name=f"Suite {number}",
    )
    version = more.pop("version", None) or a_rubric(project)
    given = {
        "user": None,
        "name": f"Experiment {number}",
        "configurations": [a_configuration(version, name) for name in names],
        **more,
    }
    return experiment_create(project=project, suite_version=suite, **given)


def dealt(experiment: Experiment, window: int, monkeypatch) -> int:
    """Starts runs for this many worker threads; returns how many."""
    monkeypatch.setattr("refinement.services.experiments.dealing.window_of", lambda row: window)
    return experiment_advance(experiment.pk)


def end(run: Run, outcome: str = "PASS", r1: str | None = "8", **fields: Any) -> Run:
    """Ends the run as a worker would."""
    score = Decimal(r1) if r1 is not None else None
    values = {
        "status": RunStatus.FINISHED,
        "finished_at": timezone.now(),
        "outcome": Outcome(outcome),
        "stop_reason": StopReason.PASSED if outcome == "PASS" else StopReason.MAX_ROUNDS,
        "r1": score,
        "best": score,
        "rounds_judged": 1 if r1 is not None else 0,
        **fields,
    }
    Run.objects.filter(pk=run.pk).update(**values)
    run.refresh_from_db()
    run_ended.send(Run, run=run, outcome=outcome)
    return run


def going(experiment: Experiment) -> list[Run]:
    """The running runs, in the order in which they started."""
    cells = ExperimentRun.objects.filter(experiment=experiment, state="running", replaced=False)
    return [cell.run for cell in cells.select_related("run").order_by("order", "pk")]


def end_all(experiment: Experiment, monkeypatch, outcome: str = "PASS", **fields: Any) -> None:
    """Starts and ends runs until there are no more."""
    while dealt(experiment, 50, monkeypatch) or going(experiment):
        for run in going(experiment):
            end(run, outcome, **fields)


def states(experiment: Experiment) -> dict[str, int]:
    """The number of current cells in each state."""
    found: dict[str, int] = {}
    for state in ExperimentRun.objects.filter(experiment=experiment, replaced=False).values_list(
        "state", flat=True
    ):
        found[state] = found.get(state, 0) + 1
    return found
