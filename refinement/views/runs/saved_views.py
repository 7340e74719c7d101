"""Filters of the list of runs under a name, for everybody in the project."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.filters import RunFilterForm, ViewNameForm
from refinement.models import SavedView
from refinement.services.runs.saved_views import view_delete, view_save
from refinement.views.runs.listing import shown_list

LONGEST_QUERY = 10_000


@require_POST
@project_view(role="editor")
def run_view_save(request: ProjectRequest) -> HttpResponse:
    """Keeps the list's filters; a name that is taken is said beside the field, on the same list."""
    given = QueryDict(request.POST.get("query", "")[:LONGEST_QUERY])
    form = ViewNameForm(request.POST, auto_id="view-%s")
    if not form.is_valid():
        return shown_list(request, given, naming=form)
    query = RunFilterForm(given, request.project).query()
    try:
        view = view_save(
            project=request.project, name=form.cleaned_data["name"], query=query, user=request.user
        )
    except ValidationError as refused:
        form.add_error(None, refused)
        return shown_list(request, given, naming=form)
    messages.success(request, f"The view “{view.name}” is kept for everybody in this project.")
    return redirect(f"{reverse('run_list', args=[request.project.slug])}?{query}")


@require_POST
@project_view(role="editor")
def run_view_delete(request: ProjectRequest, view: int) -> HttpResponse:
    """Forgets the view; its runs stay as they are."""
    row = SavedView.objects.filter(project=request.project, pk=view).first()
    if row is None:
        raise Http404("There is no such view in this project; somebody may have deleted it.")
    view_delete(view=row, user=request.user)
    messages.success(request, f"The view “{row.name}” is gone. The runs in it are untouched.")
    return redirect("run_list", request.project.slug)
