"""Experiments: launch, estimate, follow and control."""

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.urls import reverse
from ninja import Field, Query, Router

from refinement.access.objects import experiment_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates, made_at
from refinement.api.core.paging import Page, Paging, page_by_number
from refinement.api.core.permissions import member
from refinement.api.experiments.shapes import (
    BaselineNew,
    BudgetNew,
    ConfigurationNew,
    ConfigurationShape,
    ExperimentEstimateShape,
    ExperimentLine,
    ExperimentNew,
    ExperimentRunShape,
    ExperimentShape,
    MissingShape,
    Resume,
    configuration_shape,
    estimate_shape,
    experiment_line,
    experiment_run_shape,
    experiment_shape,
    experiment_values,
)
from refinement.api.runs.calls import reader_of
from refinement.api.runs.runs import target_of, version_wanted
from refinement.judging.sources import SourceText
from refinement.models import CellState, Experiment, ExperimentRun, ExperimentStatus, SuiteVersion
from refinement.selectors.experiments.estimates import experiment_estimate
from refinement.selectors.experiments.planning import planned_of, sizes_of
from refinement.selectors.experiments.versions import SuiteNotFound, suite_version_named
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.reviews.blindness import blind_run_in
from refinement.services.experiments.checking import (
    ConfigurationSpec,
    configurations_check,
    size_check,
)
from refinement.services.experiments.control import (
    baseline_choose,
    budget_change,
    configuration_add,
    experiment_cancel,
    experiment_pause,
    experiment_resume,
    experiment_run_missing,
)
from refinement.services.experiments.creating import experiment_create
from refinement.streaming.experiments import experiment_streamed

router = Router(tags=["Experiments"])
STREAM = {
    "responses": {
        200: {
            "description": "Server-sent events: `changed` (a run or the figures changed).",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        },
        204: {"description": "This server cannot stream. Poll the experiment instead."},
        429: {"description": "You have too many open streams."},
        503: {"description": "Too many open streams."},
    }
}


class ExperimentQuery(Paging):
    """Filters of a list of experiments."""

    suite: str = Field("", max_length=80, description="A suite's slug.")
    status: str = Field("", max_length=10, description=f"One of {', '.join(ExperimentStatus.values)}.")


class ExperimentRunQuery(Paging):
    """Filters of an experiment's runs."""

    state: str = Field("", max_length=10, description=f"One of {', '.join(CellState.values)}.")
    replaced: bool = Field(False, description="Also those that “run what is missing” has replaced.")


@router.get("", response=Page[ExperimentLine])
@member()
def experiment_list(request: ApiRequest, query: Query[ExperimentQuery]) -> Page[ExperimentLine]:
    """List experiments. Newest first."""
    rows = Experiment.objects.filter(project=request.project)
    rows = rows.select_related("suite_version__suite", "created_by")
    if query.suite:
        rows = rows.filter(suite_version__suite__slug=query.suite)
    if query.status:
        rows = rows.filter(status=query.status)
    found, following = page_by_number(rows, query)
    lines = [ExperimentLine.model_validate(experiment_line(row)) for row in found]
    return Page[ExperimentLine].of(lines, following)


@router.post("", response={201: ExperimentShape})
@member("editor")
@creates()
def experiment_new(request: ApiRequest, body: ExperimentNew) -> ExperimentShape:
    """Launch an experiment: every task under every configuration, `repeats` times.

    Workers start its runs a few at a time, so that single runs do not wait behind them. Follow it with
    `/stream`, or poll.
    """
    made = experiment_create(
        project=request.project,
        user=request.user,
        suite_version=suite_wanted(request, body.suite),
        name=body.name,
        configurations=[spec_of(request, given) for given in body.configurations],
        repeats=body.repeats,
        token_budget=body.token_budget,
        note=body.note,
    )
    made_at(request, address_of(request, made))
    return experiment_shape(made)


@router.post("/estimate", response=ExperimentEstimateShape)
@member("editor")
def experiment_estimated(request: ApiRequest, body: ExperimentNew) -> ExperimentEstimateShape:
    """Estimate calls, tokens, time and cost of an experiment with this body. Nothing is launched."""
    tasks = list(suite_wanted(request, body.suite).tasks.order_by("position"))
    specs = [spec_of(request, given) for given in body.configurations]
    size_check(tasks=len(tasks), configurations=len(specs), repeats=body.repeats)
    checked = configurations_check(request.project, specs, tasks)
    found = experiment_estimate(
        project=request.project,
        configurations=[planned_of(entry.name, entry.definition, entry.spec) for entry in checked],
        tasks=[sizes_of(task) for task in tasks],
        repeats=body.repeats,
        token_budget=body.token_budget,
    )
    return estimate_shape(found)


@router.get("/{int:experiment}", response=ExperimentShape)
@member()
def experiment_read(request: ApiRequest, experiment: int) -> ExperimentShape:
    """Get an experiment with its configurations and progress."""
    return experiment_shape(experiment_or_404(request, experiment))


@router.get("/{int:experiment}/runs", response=Page[ExperimentRunShape])
@member()
def experiment_run_list(
    request: ApiRequest, experiment: int, query: Query[ExperimentRunQuery]
) -> Page[ExperimentRunShape]:
    """List an experiment's runs by task, configuration and repeat, also those that are not started yet.

    Without scores while you score any of them blind.
    """
    found_in = experiment_or_404(request, experiment)
    rows = ExperimentRun.objects.filter(experiment=found_in)
    rows = rows.select_related("task").defer("task__task", "task__seed", "task__sources")
    if query.state:
        rows = rows.filter(state=query.state)
    if not query.replaced:
        rows = rows.filter(replaced=False)
    found, following = page_by_number(rows, query, newest_first=False)
    hidden = blind_run_in([found_in.pk], request.blind_runs) is not None
    shapes = [experiment_run_shape(row, hidden=hidden) for row in found]
    return Page[ExperimentRunShape].of(shapes, following)


@router.get("/{int:experiment}/stream", openapi_extra=STREAM)
@member()
def experiment_stream(request: ApiRequest, experiment: int) -> HttpResponse:
    """Server-sent events: `changed` with the status and the runs by state, at most twice a second."""
    return experiment_streamed(request, experiment_or_404(request, experiment), session=reader_of(request))


@router.post("/{int:experiment}/pause", response=ExperimentShape)
@member("editor")
def experiment_paused(request: ApiRequest, experiment: int) -> ExperimentShape:
    """Pause an experiment: no more runs start, and running ones are paused."""
    return changed(request, experiment, experiment_pause)


@router.post("/{int:experiment}/resume", response=ExperimentShape)
@member("editor")
def experiment_resumed(request: ApiRequest, experiment: int, body: Resume | None = None) -> ExperimentShape:
    """Resume a paused experiment. One that used up its budget needs a larger one."""
    budget = body.token_budget if body else None
    return changed(request, experiment, experiment_resume, token_budget=budget)


@router.post("/{int:experiment}/cancel", response=ExperimentShape)
@member("editor")
def experiment_cancelled(request: ApiRequest, experiment: int) -> ExperimentShape:
    """Stop an experiment and its runs."""
    return changed(request, experiment, experiment_cancel)


@router.post("/{int:experiment}/run-missing", response=MissingShape)
@member("editor")
def experiment_missing_run(request: ApiRequest, experiment: int) -> MissingShape:
    """Rerun what failed, was unscored, stopped or never started. 409 if nothing is missing."""
    row = experiment_or_404(request, experiment)
    started = experiment_run_missing(row, request.user)
    values = experiment_values(experiment_or_404(request, experiment))
    return MissingShape.model_validate({**values, "started": started})


@router.post("/{int:experiment}/configurations", response={201: ConfigurationShape})
@member("editor")
@creates()
def configuration_new(request: ApiRequest, experiment: int, body: ConfigurationNew) -> ConfigurationShape:
    """Add a configuration. Its runs are started; a finished experiment continues."""
    row = experiment_or_404(request, experiment)
    added = configuration_add(row, spec_of(request, body), request.user)
    made_at(request, address_of(request, row))
    return configuration_shape(added)


@router.put("/{int:experiment}/baseline", response=ExperimentShape)
@member("editor")
def experiment_baseline(request: ApiRequest, experiment: int, body: BaselineNew) -> ExperimentShape:
    """Choose the configuration that the others are compared with."""
    row = experiment_or_404(request, experiment)
    found = row.configurations.filter(pk=body.configuration).first()
    if found is None:
        raise NotFound("This experiment has no such configuration.")
    baseline_choose(found, request.user)
    return experiment_shape(experiment_or_404(request, experiment))


@router.put("/{int:experiment}/budget", response=ExperimentShape)
@member("editor")
def experiment_budget(request: ApiRequest, experiment: int, body: BudgetNew) -> ExperimentShape:
    """Set or remove the token budget. A paused experiment is resumed separately."""
    budget_change(experiment_or_404(request, experiment), body.token_budget, request.user)
    return experiment_shape(experiment_or_404(request, experiment))


def changed(
    request: ApiRequest, experiment: int, change: Callable[..., object], **values: object
) -> ExperimentShape:
    """Performs the change and returns the experiment."""
    change(experiment_or_404(request, experiment), request.user, **values)
    return experiment_shape(experiment_or_404(request, experiment))


def suite_wanted(request: ApiRequest, reference: str) -> SuiteVersion:
    try:
        return suite_version_named(request.project, reference)
    except SuiteNotFound as missing:
        raise ValidationError({"suite": str(missing)}) from None


def spec_of(request: ApiRequest, given: ConfigurationNew) -> ConfigurationSpec:
    """The configuration with its rubric and models; raises ValidationError."""
    version = version_wanted(request, given.rubric)
    producer = target_of("producer", given.producer)
    judged = bool(given.judge.strip()) or version.criteria.exists()
    return ConfigurationSpec(
        name=given.name,
        version=version,
        producer=producer,
        judge=target_of("judge", given.judge) if judged else producer,
        clerk=target_of("clerk", given.clerk) if given.clerk.strip() else None,
        definition_changes=dict(given.set),
        sources=[SourceText(source.name, source.text) for source in given.sources],
        baseline=given.baseline,
    )


def address_of(request: ApiRequest, experiment: Experiment) -> str:
    values = {"slug": request.project.slug, "experiment": experiment.pk}
    return reverse("api:experiment_read", kwargs=values)
