"""Run numbers and filters in query strings."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import Http404

from refinement.access.projects import ProjectRequest
from refinement.forms.runs.filters import RunFilterForm
from refinement.models import Run
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.listing.filter_options import run_options
from refinement.selectors.runs.listing.filters import runs_found

MOST_DIGITS = 18


def run_numbers_param(values: Sequence[str]) -> list[int]:
    """Distinct run numbers, in order; 404 for other values."""
    numbers: dict[int, None] = {}
    for value in values:
        if not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS):
            raise Http404(f"No run {value[:40]!r}.")
        numbers[int(value)] = None
    return list(numbers)


def requested_runs(request: ProjectRequest) -> QuerySet[Run] | None:
    """The project's runs by number or filters in the query string; None if the filters are not valid."""
    chosen = run_numbers_param(request.GET.getlist("run"))
    if chosen:
        return shown_runs(request.project).filter(pk__in=chosen).order_by("-pk")
    form = RunFilterForm(request.GET, request.project, run_options(request.project), user=request.user)
    return runs_found(request.project, form.filters) if form.is_valid() else None
