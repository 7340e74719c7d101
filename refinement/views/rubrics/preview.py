"""Prompt preview: what each role would be sent, in parts."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.forms.rubrics.rehearsals import SAMPLE, PreviewForm
from refinement.forms.rubrics.staging import PreviewInput, preview_input
from refinement.judging.isolation import time_limit
from refinement.judging.rehearsal import Rehearsal, rehearse
from refinement.judging.templating import TemplateFailure
from refinement.models import Run
from refinement.selectors.rubrics.assumptions import general_assumptions
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.judged_rounds import runs_with_rounds
from refinement.selectors.rubrics.prompt_parts import ShownPrompt, shown_prompt
from refinement.selectors.rubrics.rehearsals import run_of
from refinement.views.rubrics.asked import number_param
from refinement.views.rubrics.context import rubric_context

LISTED_VERSIONS = 100


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def rubric_preview(request: ProjectRequest, rubric: str) -> HttpResponse:
    """For every member. Nothing is sent or stored, so a POST changes nothing."""
    page = rubric_context(request, rubric, version_wanted(request))
    definition = definition_of(page["version"])
    run = run_wanted(request)
    form = preview_form(request, page, definition, run)
    page |= {"form": form, "definition": definition, "tab": "preview"}
    status = 422
    if form.is_valid():
        with time_limit():
            stage = preview_input(form, page, definition, run)
            if stage is not None:
                status = 200
                page |= performed(stage)
    partial = request.htmx and not request.htmx.boosted
    template = "refinement/rubrics/_preview.html" if partial else "refinement/rubrics/preview.html"
    return render(request, template, page, status=status)


def version_wanted(request: ProjectRequest) -> int | None:
    """The version from the form or the query string."""
    said = request.POST.get("version", "")
    if said.isascii() and said.isdigit() and 0 < len(said) < 10:
        return int(said)
    return number_param(request, "version")


def run_wanted(request: ProjectRequest) -> Run | None:
    """The run from the form or the query string, if it is in this project."""
    if request.method == "POST":
        said = request.POST.get("run", "")
        number = int(said) if said.isascii() and said.isdigit() and len(said) < 10 else None
    else:
        number = number_param(request, "run")
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
            **SAMPLE,
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


def performed(stage: PreviewInput) -> dict[str, Any]:
    """The three prompts, or a message on why there is none."""
    rubric, last = stage.brief.rubric, stage.history.rounds[-1]
    try:
        rehearsal = rehearse(stage.brief, stage.history)
    except TemplateFailure as failure:
        return {"failure": str(failure)}
    return {
        "acts": acts_of(rubric, rehearsal, last.number),
        "no_judge": rehearsal.judge is None,
        "round_label": round_name(rubric, last.number),
        "assumptions": [*stage.assumptions, *general_assumptions(rubric, last.number)],
    }


def acts_of(rubric: Rubric, rehearsal: Rehearsal, number: int) -> list[ShownPrompt]:
    """The prompts in reading order."""
    this, following = round_name(rubric, number), round_name(rubric, number + 1)
    judge = [
        shown_prompt(
            act, "judge", "Judge", f"Scores the candidate in {this}.", template_words(rubric, "judge")
        )
        for act in (rehearsal.judge,)
        if act is not None
    ]
    base = rehearsal.step.base_round
    start = "the original prompt" if base is None else f"the text of {round_name(rubric, base)}"
    return [
        *judge,
        shown_prompt(
            rehearsal.draft,
            "draft",
            "Producer, first draft",
            "Writes the first version if there is none.",
            template_words(rubric, "draft"),
        ),
        shown_prompt(
            rehearsal.revision,
            "revision",
            "Producer, revision",
            f"Writes {following} after {this} is judged, starting from {start}.",
            template_words(rubric, "revision", "feedback"),
        ),
    ]


def template_words(rubric: Rubric, *names: str) -> str:
    own = [name for name in names if name in rubric.templates]
    if not own:
        return "the default template"
    return f"this rubric's template{'s' if len(own) > 1 else ''}: {', '.join(own)}"
