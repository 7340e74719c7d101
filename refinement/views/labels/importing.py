"""Imports ratings and texts: first what it would do, then the same for good."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.labelling import trust_or_labelling
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.labels.importing import LabelImportForm
from refinement.interchange.labels.types import BadLabels
from refinement.interchange.rubrics.yaml_reading import Problem
from refinement.selectors.trust.labels import versions_to_label
from refinement.services.trust.label_importing import LabelImport, WrongSet, label_files_import
from refinement.views.rubrics.files import with_lines

SHOWN_PROBLEMS = 100
NAMES = 100


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def label_set_import(request: ProjectRequest) -> HttpResponse:
    """Shows what the files would add and change; saves with `act=import`."""
    versions = versions_to_label(request.project)
    if request.method != "POST":
        wanted = {"name": request.GET.get("set", "")[:160], "rubric": request.GET.get("rubric", "")}
        return import_page(request, LabelImportForm(versions, initial=wanted))
    form = LabelImportForm(versions, request.POST, request.FILES)
    if not form.is_valid():
        return import_page(request, form, status=422)
    for version in versions:
        if version.rubric.slug == form.cleaned_data["rubric"]:
            # The answer to a file says which of its scores are in the set already.
            trust_or_labelling(request, version.rubric_id)
    saves = request.POST.get("act") == "import"
    try:
        result = imported(request, form, dry_run=not saves)
    except BadLabels as bad:
        return import_page(request, form, bad=bad, status=422)
    except (WrongSet, ValidationError) as refused:
        take_over(form, refused)
        return import_page(request, form, status=422)
    if saves:
        messages.success(request, f"Imported {result.scores:,} scores of {result.labels_new:,} new labels.")
        return redirect("label_set_page", request.project.slug, result.label_set)
    return import_page(request, form, result=result)


def imported(request: ProjectRequest, form: LabelImportForm, *, dry_run: bool) -> LabelImport:
    return label_files_import(
        project=request.project,
        rubric=form.cleaned_data["rubric"],
        name=form.cleaned_data["name"],
        ratings=form.sources["ratings"],
        items=form.sources["items"],
        judges=form.cleaned_data["judges"],
        user=request.user,
        dry_run=dry_run,
    )


def take_over(form: LabelImportForm, error: Exception) -> None:
    if not isinstance(error, ValidationError):
        form.add_error("name", str(error))
        return
    for name, found in getattr(error, "message_dict", {None: error.messages}).items():
        form.add_error(name if name in form.fields else None, found)


def import_page(
    request: ProjectRequest,
    form: LabelImportForm,
    *,
    bad: BadLabels | None = None,
    result: LabelImport | None = None,
    status: int = 200,
) -> HttpResponse:
    """The form with its content, and each problem at its line."""
    if form.is_bound and form.sources:
        form.keep_texts()
    context = {
        "section": "trust",
        "form": form,
        "problems": problems_of(form, bad) if bad else [],
        "result": result,
        "names": request.project.label_sets.filter(archived_at__isnull=True).values_list("name", flat=True)[
            :NAMES
        ],
    }
    return render(request, "refinement/labels/import.html", context, status=status)


def problems_of(form: LabelImportForm, bad: BadLabels) -> list[dict[str, Any]]:
    """The problems of each file, with the lines they are about."""

    def of(title: str, field: str, problems: list[Problem]) -> dict[str, Any]:
        shown = problems[:SHOWN_PROBLEMS]
        return {
            "title": title,
            "count": len(problems),
            "lines": with_lines(form.sources[field].text, shown),
            "more": len(problems) - len(shown),
        }

    found = [of("Ratings", "ratings", bad.ratings), of("Texts", "items", bad.items)]
    return [entry for entry in found if entry["count"]]
