"""Suites as files: YAML with everything, CSV and JSON Lines with the tasks."""

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from refinement.access.objects import suite_or_404, suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.interchange.suites.writing import FORMS, MEDIA_TYPES
from refinement.selectors.suites.tasks import suite_text
from refinement.views.rubrics.asked import number_param


@require_safe
@project_view()
def suite_export(request: ProjectRequest, suite: str, form: str) -> HttpResponse:
    """Downloads a version."""
    if form not in FORMS:
        raise Http404("Suites are exported as yaml, csv or jsonl.")
    row = suite_or_404(request, suite)
    version = suite_version_or_404(row, number_param(request, "version"))
    text = "".join(FORMS[form](suite_text(version)))
    answer = HttpResponse(text, content_type=f"{MEDIA_TYPES[form]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{row.slug}-v{version.number}.{form}"'
    return answer
