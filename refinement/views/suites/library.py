"""The list of a project's suites, and a new one."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.suites.library import SuiteForm
from refinement.selectors.suites.lists import archived_count, suites_page
from refinement.services.suites.editing import suite_create
from refinement.views.suites.context import query_of


@require_safe
@project_view()
def suite_list(request: ProjectRequest) -> HttpResponse:
    """Active or archived suites, with search by name and description."""
    query, archived = query_of(request), request.GET.get("archived") == "1"
    page, suites = suites_page(
        request.project, query=query, archived=archived, page=request.GET.get("page", "1")
    )
    context = {
        "section": "suites",
        "query": query,
        "archived": archived,
        "archived_count": archived_count(request.project),
        "page": page,
        "suites": suites,
        "can_edit": can_edit(request),
    }
    partial = request.htmx and not request.htmx.boosted
    name = "refinement/suites/_list.html" if partial else "refinement/suites/list.html"
    return render(request, name, context)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_new(request: ProjectRequest) -> HttpResponse:
    """Creates an empty suite, and continues in its table."""
    form = SuiteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        version = suite_create(project=request.project, user=request.user, **form.cleaned_data)
        messages.success(request, f"{version.suite.name} was created. Add its tasks.")
        return redirect("suite_edit", request.project.slug, version.suite.slug)
    context = {"section": "suites", "form": form}
    return render(request, "refinement/suites/new.html", context, status=422 if form.is_bound else 200)
