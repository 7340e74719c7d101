"""Rubrics as YAML files: export and import."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from refinement.access.objects import rubric_or_404, version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine import types as engine
from refinement.forms.rubrics.files import ImportForm
from refinement.interchange.rubrics.yaml import BadFile, Problem, rubric_from_yaml, rubric_to_yaml
from refinement.models import RubricVersion
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NewerVersion
from refinement.services.rubrics.files import NothingNew, rubric_import, version_import
from refinement.views.rubrics.asked import number_param

SHOWN_PROBLEMS = 100
QUOTED_CHARS = 160


@require_safe
@project_view()
def rubric_export(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Downloads a version."""
    row = rubric_or_404(request, rubric)
    version = version_or_404(row, number_param(request, "version"))
    answer = HttpResponse(
        rubric_to_yaml(definition_of(version)), content_type="application/yaml; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="{row.slug}-v{version.number}.yaml"'
    return answer


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def rubric_import_page(request: ProjectRequest) -> HttpResponse:
    """Imports a file. Problems are listed by line, and nothing is saved."""
    if request.method != "POST":
        return import_page(request, ImportForm(project=request.project))
    form = ImportForm(request.POST, request.FILES, project=request.project)
    if not form.is_valid():
        return import_page(request, form, status=422)
    try:
        version = import_saved(request, form, rubric_from_yaml(form.cleaned_data["source"]))
    except BadFile as error:
        return import_page(request, form, error.problems, status=422)
    except (NothingNew, NewerVersion) as refusal:
        form.add_error("target", str(refusal))
        return import_page(request, form, status=409 if isinstance(refusal, NewerVersion) else 422)
    messages.success(request, f"{version.name} was imported as version {version.number}.")
    return redirect("rubric_page", request.project.slug, version.rubric.slug)


def import_saved(request: ProjectRequest, form: ImportForm, definition: engine.Rubric) -> RubricVersion:
    chosen, note = form.chosen(), form.cleaned_data["note"]
    if chosen is None:
        return rubric_import(project=request.project, definition=definition, user=request.user, note=note)
    rubric, number = chosen
    return version_import(
        rubric=rubric, definition=definition, edited_from=number, user=request.user, note=note
    )


def import_page(
    request: ProjectRequest, form: ImportForm, problems: list[Problem] | None = None, status: int = 200
) -> HttpResponse:
    """The form with its content, and each problem at its line."""
    found = problems or []
    source = form.cleaned_data.get("source", "") if form.is_bound else ""
    if source:
        form.keep_text(source)
    page = {
        "section": "rubrics",
        "form": form,
        "problem_count": len(found),
        "problems": with_lines(source, found[:SHOWN_PROBLEMS]),
        "more_problems": max(0, len(found) - SHOWN_PROBLEMS),
    }
    return render(request, "refinement/rubrics/import.html", page, status=status)


def with_lines(source: str, problems: list[Problem]) -> list[tuple[int, str, str]]:
    """Each problem's line number, line and message."""
    lines = source.split("\n")
    return [
        (
            problem.line,
            lines[problem.line - 1][:QUOTED_CHARS] if problem.line <= len(lines) else "",
            problem.message,
        )
        for problem in problems
    ]
