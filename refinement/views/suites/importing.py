"""Imports tasks from a file: first what it would do, then the same for good."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.objects import suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.suites.importing import NEW_SUITE, SuiteImportForm
from refinement.interchange.rubrics.yaml_reading import BadFile, Problem
from refinement.models import Suite
from refinement.selectors.suites.comparisons import SuiteComparison, tasks_compared
from refinement.selectors.suites.lists import suites_to_choose
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.suites.editing import NewerVersion
from refinement.services.suites.importing import FileRead, file_read, tasks_after, version_import
from refinement.services.suites.importing import suite_import as import_new
from refinement.views.rubrics.files import with_lines

SHOWN_PROBLEMS = 100


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_import(request: ProjectRequest) -> HttpResponse:
    """Shows what the file would add and change; saves with `act=import`."""
    suites = suites_to_choose(request.project)
    if request.method != "POST":
        wanted = request.GET.get("suite", "")
        return import_page(request, SuiteImportForm(suites, initial={"target": wanted or NEW_SUITE}))
    form = SuiteImportForm(suites, request.POST, request.FILES)
    if not form.is_valid():
        return import_page(request, form, status=422)
    try:
        read = file_read(form.cleaned_data["source"], form.cleaned_data["kind"], form.file_name)
    except BadFile as bad:
        return import_page(request, form, bad.problems, status=422)
    suite = form.chosen()
    if request.POST.get("act") != "import":
        return preview(request, form, read, suite)
    return saved(request, form, read, suite)


def preview(
    request: ProjectRequest, form: SuiteImportForm, read: FileRead, suite: Suite | None, status: int = 200
) -> HttpResponse:
    """The dry run: what would be added, changed and removed."""
    newest = suite_version_or_404(suite) if suite else None
    existing = tasks_of(newest) if newest else ()
    comparison = tasks_compared(existing, tasks_after(existing, read, form.mode_chosen()))
    form.keep_text(form.cleaned_data["source"], read.kind, newest.number if newest else None)
    if suite is None and not form.errors and not (form.cleaned_data["name"] or read.suite.name):
        form.add_error("name", "Enter a name for the new suite.")
    return import_page(request, form, read=read, comparison=comparison, status=status)


def saved(
    request: ProjectRequest, form: SuiteImportForm, read: FileRead, suite: Suite | None
) -> HttpResponse:
    try:
        if suite is None:
            version = import_new(
                project=request.project, read=read, name=form.cleaned_data["name"], user=request.user
            )
        else:
            seen = form.cleaned_data["seen"] or 0
            base = tasks_of(suite_version_or_404(suite, seen))
            tasks = tasks_after(base, read, form.mode_chosen())
            made = version_import(suite=suite, tasks=tasks, read=read, edited_from=seen, user=request.user)
            version = made or suite_version_or_404(suite)
    except NewerVersion as newer:
        form.add_error(None, f"Version {newer.newest} was saved in the meantime. Check the changes again.")
        return preview(request, form, read, suite, status=409)
    except ValidationError as refused:
        for name, found in getattr(refused, "message_dict", {None: refused.messages}).items():
            form.add_error(name if name in form.fields else None, found)
        return preview(request, form, read, suite, status=422)
    messages.success(request, f"Imported. {version.suite.name} is at version {version.number}.")
    return redirect("suite_page", request.project.slug, version.suite.slug)


def import_page(
    request: ProjectRequest,
    form: SuiteImportForm,
    problems: list[Problem] | None = None,
    *,
    read: FileRead | None = None,
    comparison: SuiteComparison | None = None,
    status: int = 200,
) -> HttpResponse:
    """The form with its content, and each problem at its line."""
    found = problems or []
    source = form.cleaned_data.get("source", "") if form.is_bound else ""
    if found and source:
        form.keep_text(source, form.cleaned_data.get("kind") or "auto", None)
    context = {
        "section": "suites",
        "form": form,
        "problem_count": len(found),
        "problems": with_lines(source, found[:SHOWN_PROBLEMS]),
        "more_problems": max(0, len(found) - SHOWN_PROBLEMS),
        "read": read,
        "comparison": comparison,
        "target": form.chosen() if form.is_bound and form.is_valid() else None,
    }
    return render(request, "refinement/suites/import.html", context, status=status)
