"""Results of experiments: figures, cells, exports, comparisons, and a suite over time."""

from typing import Any, Literal

from django.http import Http404, StreamingHttpResponse
from ninja import Field, Query, Router, Schema

from refinement.access.objects import experiment_or_404, figures_or_blind, suite_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Number
from refinement.api.core.permissions import member
from refinement.api.experiments.result_shapes import (
    CellRun,
    CellRuns,
    HistoryShape,
    StoredComparisonShape,
    StoredResultsShape,
    stored_values,
)
from refinement.api.runs.exports import files
from refinement.downloads import sent
from refinement.selectors.experiments.reports.exports import current_rows, run_values
from refinement.selectors.experiments.reports.history import suite_history
from refinement.selectors.trust.gate import figures_with_standings
from refinement.services.experiments.exporting import export_name, export_pieces
from refinement.services.experiments.reporting import comparison_wanted, results_wanted

router = Router(tags=["Experiments"])
history_router = Router(tags=["Suites"])


@router.get("/{int:experiment}/results", response=StoredResultsShape)
@member()
def experiment_results(request: ApiRequest, experiment: int) -> dict[str, Any]:
    """Get the figures. Workers compute them after runs end; poll while `is_current` is false."""
    row = experiment_or_404(request, experiment)
    figures_or_blind(request, row)
    found = stored_values(results_wanted(row), "results")
    if found["results"]:
        found["results"] = figures_with_standings(row, found["results"])
    return found


class CellQuery(Schema):
    """A cell."""

    task: str = Field(max_length=80, description="The task's key.", examples=["restore"])
    configuration: Number = Field(description="The configuration's ID.")


@router.get("/{int:experiment}/cell", response=CellRuns)
@member()
def experiment_cell(request: ApiRequest, experiment: int, query: Query[CellQuery]) -> CellRuns:
    """Get the repeats of a cell."""
    row = experiment_or_404(request, experiment)
    figures_or_blind(request, row)
    runs = current_rows(row).filter(task__key=query.task, configuration=query.configuration)
    found = [CellRun(**run_values(run)) for run in runs]
    if not found:
        raise Http404("There is no such cell in this experiment.")
    return CellRuns(runs=found)


@router.get("/{int:experiment}/compare/{int:other}", response=StoredComparisonShape)
@member()
def experiments_compared(request: ApiRequest, experiment: int, other: int) -> dict[str, Any]:
    """Compare with another experiment. Only tasks with the same texts in both count."""
    row, compared = experiment_or_404(request, experiment), experiment_or_404(request, other)
    if row.pk == compared.pk:
        raise Http404("An experiment is not compared with itself.")
    figures_or_blind(request, row, compared)
    return stored_values(comparison_wanted(row, compared), "comparison")


@router.get(
    "/{int:experiment}/export/{form}", openapi_extra=files("text/csv", "application/json", "text/markdown")
)
@member()
def experiment_export(
    request: ApiRequest, experiment: int, form: Literal["leaderboard", "runs", "json", "md"]
) -> StreamingHttpResponse:
    """Export the results. The leaderboard or every run (CSV), the figures (json), or a report (md)."""
    row = experiment_or_404(request, experiment)
    figures_or_blind(request, row)
    return sent(request, export_pieces(row, form), *export_name(row, form))


class HistoryQuery(Schema):
    """What makes a line."""

    by: Literal["models", "exact"] = Field(
        "models", description="models: the same rubric and models, in any version; exact: nothing differs."
    )


@history_router.get("/{suite}/history", response=HistoryShape)
@member()
def suite_over_time(request: ApiRequest, suite: str, query: Query[HistoryQuery]) -> dict[str, Any]:
    """Get a suite's composites over time, of its newest 50 computed experiments."""
    row = suite_or_404(request, suite)
    return suite_history(row, by=query.by, blind=request.blind_runs)
