"""Run exports, streamed."""

from decimal import Decimal
from typing import Any, Literal

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from ninja import Field, Query, Router

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.paging import Number
from refinement.api.core.permissions import member
from refinement.api.runs.runs import RunFilters, filter_form
from refinement.downloads import exported, many_exported, training_sent
from refinement.models import Run
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.listing.filters import runs_found
from refinement.selectors.runs.training import TrainingChoice
from refinement.services.reviews.blind_readings import scores_seen_record

router = Router(tags=["Exports"])
MOST_NAMED = 1_000


def files(*types: str) -> dict[str, Any]:
    """The OpenAPI response for files of these types."""
    content = {
        name: {"schema": {"type": "object" if name == "application/json" else "string"}} for name in types
    }
    return {"responses": {200: {"description": "The file.", "content": content}}}


class ManyQuery(RunFilters):
    """Runs by number, or by the list's filters."""

    run: list[Number] = Field([], max_length=MOST_NAMED, description="Run numbers; filters are then ignored.")


@router.get(
    "/{int:run}/export/{form}", openapi_extra=files("application/json", "text/markdown", "text/plain")
)
@member()
def run_export(request: ApiRequest, run: int, form: Literal["json", "md", "txt"]) -> StreamingHttpResponse:
    """Export a run. Everything (json), a report (md), or the resulting text (txt)."""
    found = run_or_404(request, run)
    if form != "txt":
        scores_seen_record(runs=[found], user=request.user)
    return exported(request, found, form)


class TrainingQuery(ManyQuery):
    """Runs and options."""

    least: Decimal | None = Field(
        None, max_digits=14, decimal_places=6, description="The minimum score (sft) or difference (pairs)."
    )
    with_imported: bool = Field(False, description="Include imported runs.")


@router.get("/training/{form}", openapi_extra=files("application/jsonl"))
@member()
def runs_training(
    request: ApiRequest, form: Literal["sft", "pairs"], query: Query[TrainingQuery]
) -> StreamingHttpResponse:
    """Export training data.

    Texts that passed as chats (sft), or pairs of a better and a worse round (pairs).
    """
    choice = TrainingChoice(query.least, query.with_imported)
    return training_sent(request, runs_named(request, query), form, choice)


@router.get("/export/{form}", openapi_extra=files("text/csv", "application/jsonl"))
@member()
def runs_export(
    request: ApiRequest, form: Literal["csv", "jsonl"], query: Query[ManyQuery]
) -> StreamingHttpResponse:
    """Export many runs, one per line. By number or by filters."""
    return many_exported(request, runs_named(request, query), form)


def runs_named(request: ApiRequest, query: ManyQuery) -> QuerySet[Run]:
    """The runs by number or filters."""
    if query.run:
        return shown_runs(request.project).filter(pk__in=query.run).order_by("-pk")
    return runs_found(request.project, filter_form(request, query).filters)
