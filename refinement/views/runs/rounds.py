"""A single round of a run."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Round, Run
from refinement.views.runs.page import partial, shown_round, shown_run


@require_safe
@project_view()
def run_round(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """The round; `part=page` the whole page around it, `form=text` its full candidate as plain text."""
    found = run_or_404(request, run)
    if request.GET.get("form") == "text":
        return candidate_as_text(found, number)
    if not partial(request) or request.GET.get("part") == "page":
        return shown_run(request, found, number)
    return shown_round(request, found, number)


def candidate_as_text(run: Run, number: int) -> HttpResponse:
    text = Round.objects.filter(run=run, number=number).values_list("candidate", flat=True).first()
    if text is None:
        return HttpResponse("Round not found.", status=404, content_type="text/plain; charset=utf-8")
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
