"""Eval cases as runs: create their rubrics and runs, and execute them on this machine."""

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial

from django.db import transaction

from refinement.engine.codec import rubric_to_json
from refinement.engine.types import Rubric as Definition
from refinement.evals.local.scripts import LocalChecks
from refinement.evals.local.workspaces import Opened
from refinement.evals.planning import Job
from refinement.evals.targets import instance_target
from refinement.execution.calls import LocalResources
from refinement.execution.foreground import RunBusy, foreground_resume, run_in_foreground
from refinement.execution.steps.step import DEADLINE_SECONDS, StepOptions, StepResult
from refinement.models import Project, RubricVersion, Run, RunStatus
from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.registry import Target, build
from refinement.selectors.endpoints import provider_for
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NAME_LENGTH, rubric_create, rubric_slug_for, version_create
from refinement.services.runs.creating import TAG_CHARS, run_create
from refinement.services.runs.lifecycle import WrongState, run_pause
from refinement.texts import storable

ACTOR = "wiggum eval"
EMBED_SECONDS = 60
SPARE_SECONDS = 60  # so that a command reaches its own limit before the step's deadline


class EvalRubrics:
    """One rubric per eval, with one version per set of assertions. Equal versions are reused."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._versions: dict[str, dict[str, RubricVersion]] = {}

    @transaction.atomic
    def version_for(self, job: Job) -> RubricVersion:
        name = job.rubric.name[:NAME_LENGTH]
        if name not in self._versions:
            self._versions[name] = self._load(name)
        known = self._versions[name]
        content = content_of(job.rubric)
        if content not in known:
            known[content] = self._create(name, job, next(iter(known.values()), None))
        return known[content]

    def _load(self, name: str) -> dict[str, RubricVersion]:
        rows = RubricVersion.objects.filter(
            rubric__project=self.project, rubric__name=name, rubric__slug__startswith="eval"
        )
        rows = rows.select_related("rubric").prefetch_related("criteria", "checks").order_by("-number")
        return {content_of(definition_of(row)): row for row in rows}

    def _create(self, name: str, job: Job, earlier: RubricVersion | None) -> RubricVersion:
        note = f"The assertions of {job.case.name}."[:400]
        if earlier is not None:
            return version_create(rubric=earlier.rubric, definition=job.rubric, note=note)
        slug = rubric_slug_for(self.project, f"eval {job.file.name}")
        return rubric_create(project=self.project, slug=slug, definition=job.rubric, note=note)


def content_of(definition: Definition) -> str:
    return json.dumps(rubric_to_json(definition), sort_keys=True)


def eval_run_create(*, project: Project, version: RubricVersion, job: Job) -> Run:
    """Create the run of a case. Its status is running, so no worker takes it."""
    return run_create(
        project=project,
        version=version,
        definition=job.definition,
        task=job.case.prompt,
        producer=Target(job.target.endpoint, job.target.model),
        judge=Target(job.judge.endpoint, job.judge.model),
        status=RunStatus.RUNNING,
        new_judge=False,
        tags=[tag_of(job.file.name)],
    )


def tag_of(name: str) -> str:
    """The eval's name as one tag, without commas, which separate tags."""
    return " ".join(name.replace(",", " ").split())[:TAG_CHARS].strip()


def eval_run_found(*, project: Project, job: Job, number: int) -> Run | None:
    """The resumed run of an interrupted evaluation, or None.

    Its inputs must match the job's: the results folder may belong to another database.
    """
    run = Run.objects.filter(pk=number, project=project).first()
    if run is None or run_inputs(run) != job_inputs(job):
        return None
    try:
        return foreground_resume(number)
    except RunBusy:
        return None


def run_inputs(run: Run) -> tuple[object, ...]:
    models = (run.producer_endpoint, run.producer_model, run.judge_endpoint, run.judge_model)
    return (run.task, run.snapshot, *models)


def job_inputs(job: Job) -> tuple[object, ...]:
    models = (job.target.endpoint, job.target.model, job.judge.endpoint, job.judge.model)
    return (storable(job.case.prompt).strip(), rubric_to_json(job.definition), *models)


def eval_run_carry_out(
    *, run: Run, job: Job, on_waiting: Callable[[StepResult], None], workspace: Opened | None = None
) -> Run:
    """Execute the run to its end on this machine, with the eval's endpoints and scripts."""
    checks = LocalChecks(job.file.path.parent, job.case, partial(embedded, job), workspace)
    endpoints = job.endpoints if workspace is None else job.endpoints_in(workspace.folder)
    options = StepOptions(
        actor=ACTOR,
        deadline_seconds=max(DEADLINE_SECONDS, job.longest_seconds + SPARE_SECONDS),
        local=LocalResources(endpoints, checks.controlled),
    )
    if not run.is_finished:
        run_in_foreground(run.pk, options, on_waiting)
        run.refresh_from_db()
    return run


def embedded(job: Job, texts: Sequence[str], provider: str) -> Sequence[Sequence[float]]:
    """Embeddings of the texts, by the assertion's provider or the target's server. Raises ProviderError."""
    target = instance_target(provider) if provider else job.judge
    found = build(target.spec, foreground=True) if target.spec else provider_for(target.endpoint)
    embed = getattr(found, "embed", None)
    if embed is None:
        message = f"{target.name} has no embeddings. Set provider to a model that has, as ENDPOINT/MODEL."
        raise ProviderError(ErrorKind.REFUSED, message, retryable=False)
    vectors: Sequence[Sequence[float]] = embed(target.model, texts, seconds=EMBED_SECONDS)
    return vectors


class Runs:
    """The runs this process is executing, so that all of them can be stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._going: dict[int, Run] = {}
        self.stopped = threading.Event()

    def enter(self, run: Run) -> None:
        with self._lock:
            self._going[run.pk] = run
        if self.stopped.is_set():
            pause(run)

    def leave(self, run: Run) -> None:
        with self._lock:
            self._going.pop(run.pk, None)

    def stop(self) -> None:
        """Pause every run. Execution stops within a second."""
        self.stopped.set()
        with self._lock:
            going = list(self._going.values())
        for run in going:
            pause(run)


def pause(run: Run) -> None:
    try:
        run_pause(run=run)
    except WrongState:
        return  # it has just finished
