"""Prompt preview: what each role would be sent, in parts."""

from typing import Any

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.forms.rubrics.trying.rehearsals import SAMPLE, SAMPLES, PreviewForm
from refinement.forms.rubrics.trying.staging import PreviewInput, preview_input
from refinement.judging.isolation import time_limit
from refinement.judging.rehearsal import rehearse
from refinement.judging.templating import TemplateFailure
from refinement.models import Rubric as RubricRow
from refinement.models import Run
from refinement.selectors.rubrics.assumptions import board_assumptions, general_assumptions
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.judged_rounds import runs_with_rounds
from refinement.selectors.rubrics.preview_sections import preview_sections
from refinement.selectors.rubrics.rehearsals import latest_run, run_of
from refinement.views.rubrics.asked import number_param
from refinement.views.rubrics.context import rubric_context

LISTED_VERSIONS = 100


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def rubric_preview(request: ProjectRequest, rubric: str) -> HttpResponse:
    """For every member. Nothing is sent or stored, so a POST changes nothing."""
    page = rubric_context(request, rubric, version_wanted(request))
    definition = definition_of(page["version"])
    run = run_wanted(request, page["rubric"])
    form = preview_form(request, page, definition, run)
    page |= {"form": form, "definition": definition, "tab": "preview"}
    status = 422
    if form.is_valid():
        with time_limit():
            stage = preview_input(form, page, definition, run)
            if stage is not None:
                status = 200
                page |= performed(stage, params(request).get("show", ""))
    partial = request.htmx and not request.htmx.boosted
    template = "refinement/rubrics/_preview.html" if partial else "refinement/rubrics/preview.html"
    return render(request, template, page, status=status)


def params(request: ProjectRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def version_wanted(request: ProjectRequest) -> int | None:
    """The version from the form or the query string."""
    said = request.POST.get("version", "")
    if said.isascii() and said.isdigit() and 0 < len(said) < 10:
        return int(said)
    return number_param(request, "version")


def run_wanted(request: ProjectRequest, rubric: RubricRow) -> Run | None:
    """The run from the form or the query string, if it is in this project; at first the rubric's latest."""
    if request.method == "POST":
        said = request.POST.get("run", "")
        number = int(said) if said.isascii() and said.isdigit() and len(said) < 10 else None
    elif "run" in request.GET or "round" in request.GET:
        number = number_param(request, "run")
    else:
        return latest_run(rubric)
    if number is None:
        return None
    found = run_of(request.project, number)
    if found is None:
        raise Http404("Run not found in this project.")
    return found


def preview_form(
    request: ProjectRequest, page: dict[str, Any], definition: Rubric, run: Run | None
) -> PreviewForm:
    """The submitted form, or one filled with a sample."""
    listed = page["rubric"].versions.order_by("-number").values_list("number", flat=True)[:LISTED_VERSIONS]
    shown = page["version"].number
    data = (
        request.POST
        if request.method == "POST"
        else {
            **(SAMPLES.get(definition.artifact_type) or SAMPLE),
            "version": str(shown),
            "run": str(run.pk) if run else "",
            "number": str(number_param(request, "round") or ("" if run else 1)),
        }
    )
    return PreviewForm(
        data,
        definition=definition,
        versions=sorted({*listed, shown}, reverse=True),
        runs=runs_with_rounds(request.project, also=run),
    )


def performed(stage: PreviewInput, wanted: str) -> dict[str, Any]:
    """The prompts, or a message on why there is none. Of several judges, only the wanted one is shown."""
    rubric, last = stage.brief.rubric, stage.history.rounds[-1]
    try:
        rehearsal = rehearse(stage.brief, stage.history, stage.feedback)
        shown = preview_sections(rubric, rehearsal, last.number, wanted)
    except TemplateFailure as failure:
        return {"failure": str(failure)}
    return {
        "sections": shown,
        "no_judge": rehearsal.judge is None and rehearsal.board is None,
        "round_label": round_name(last.number),
        "assumptions": [
            *stage.assumptions,
            *board_assumptions(rehearsal.board),
            *general_assumptions(rubric, last.number),
        ],
    }
