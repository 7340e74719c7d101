"""Which runs an address asks for."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import Http404

from refinement.access.projects import ProjectRequest
from refinement.forms.runs.filters import RunFilterForm
from refinement.models import Run
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.filter_options import run_options
from refinement.selectors.runs.filters import runs_found

MOST_DIGITS = 18


def numbers_asked_for(values: Sequence[str]) -> list[int]:
    """Runs' numbers from an address, each once, in their order; anything else is not found."""
    numbers: dict[int, None] = {}
    for value in values:
        if not (value.isascii() and value.isdigit() and len(value) <= MOST_DIGITS):
            raise Http404(f"There is no run {value[:40]!r}.")
        numbers[int(value)] = None
    return list(numbers)


def runs_asked_for(request: ProjectRequest) -> QuerySet[Run] | None:
    """The project's runs that the address names, or those of its filters; None if they cannot be read."""
    chosen = numbers_asked_for(request.GET.getlist("run"))
    if chosen:
        return shown_runs(request.project).filter(pk__in=chosen).order_by("-pk")
    form = RunFilterForm(request.GET, request.project, run_options(request.project))
    return runs_found(request.project, form.filters) if form.is_valid() else None
