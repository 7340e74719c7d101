"""Files of an experiment's results."""

import json
from collections.abc import Iterator

from django.http import Http404, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from refinement.access.objects import experiment_or_404, figures_or_blind
from refinement.access.projects import ProjectRequest, project_view
from refinement.downloads import sent
from refinement.interchange.experiments.leaderboard import EXPORTS, leaderboard_csv
from refinement.interchange.experiments.rows import cells_csv
from refinement.interchange.experiments.summary import results_markdown
from refinement.models import Experiment
from refinement.selectors.experiments.exports import cell_rows
from refinement.services.experiments.reporting import results_wanted

ENDINGS = {"csv": ("", "csv"), "runs": ("-runs", "csv"), "json": ("", "json"), "md": ("", "md")}


@require_safe
@project_view()
def experiment_export(request: ProjectRequest, experiment: int, form: str) -> StreamingHttpResponse:
    """The leaderboard (csv), every run (runs), all figures (json), or a report (md)."""
    found = experiment_or_404(request, experiment)
    figures_or_blind(request, found)
    if form not in EXPORTS:
        raise Http404(f"An experiment cannot be exported as {form[:20]!r}.")
    more, ending = ENDINGS[form]
    return sent(request, pieces(request, found, form), f"experiment-{found.pk}{more}", ending)


def pieces(request: ProjectRequest, experiment: Experiment, form: str) -> Iterator[str]:
    """The file. Raises Http404 for figures that are not computed yet."""
    if form == "runs":
        return cells_csv(cell_rows(experiment))
    figures = results_wanted(experiment).result
    if form == "csv":
        return iter((leaderboard_csv(figures),))
    if figures is None:
        raise Http404("The results are not computed yet. Try again in a moment.")
    if form == "json":
        return iter((json.dumps(figures, ensure_ascii=False, indent=2),))
    page = reverse("experiment_page", args=[request.project.slug, experiment.pk])
    return iter((results_markdown(figures, address=request.build_absolute_uri(page)),))
