"""Files of an experiment's results."""

from django.http import StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from refinement.access.objects import experiment_or_404, figures_or_blind
from refinement.access.projects import ProjectRequest, project_view
from refinement.downloads import sent
from refinement.services.experiments.exporting import export_name, export_pieces


@require_safe
@project_view()
def experiment_export(request: ProjectRequest, experiment: int, form: str) -> StreamingHttpResponse:
    """The leaderboard (CSV), every run (CSV), all figures (JSON), or a report (Markdown)."""
    found = experiment_or_404(request, experiment)
    figures_or_blind(request, found)
    name, ending = export_name(found, form)
    page = request.build_absolute_uri(reverse("experiment_page", args=[request.project.slug, found.pk]))
    return sent(request, export_pieces(found, form, address=page), name, ending)
