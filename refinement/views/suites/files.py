"""Suites as files: YAML with everything, CSV and JSON Lines with the tasks."""

from collections.abc import Callable, Iterable

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from refinement.access.objects import suite_or_404, suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.interchange.suites.tables import tasks_to_csv, tasks_to_jsonl
from refinement.interchange.suites.yaml import suite_to_yaml
from refinement.models import SuiteVersion
from refinement.selectors.suites.tasks import suite_text, tasks_of
from refinement.views.rubrics.asked import number_param

MEDIA_TYPES = {"yaml": "application/yaml", "csv": "text/csv", "jsonl": "application/jsonl"}
FORMS: dict[str, Callable[[SuiteVersion], Iterable[str]]] = {
    "yaml": lambda version: [suite_to_yaml(suite_text(version))],
    "csv": lambda version: tasks_to_csv(tasks_of(version)),
    "jsonl": lambda version: tasks_to_jsonl(tasks_of(version)),
}


@require_safe
@project_view()
def suite_export(request: ProjectRequest, suite: str, form: str) -> HttpResponse:
    """Downloads a version."""
    if form not in FORMS:
        raise Http404("Suites are exported as yaml, csv or jsonl.")
    row = suite_or_404(request, suite)
    version = suite_version_or_404(row, number_param(request, "version"))
    text = "".join(FORMS[form](version))
    answer = HttpResponse(text, content_type=f"{MEDIA_TYPES[form]}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{row.slug}-v{version.number}.{form}"'
    return answer
