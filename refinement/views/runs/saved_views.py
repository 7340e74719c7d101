"""Saved views: named filters of the run list, private or shared within the project."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.runs.filters import RunFilterForm, ViewNameForm
from refinement.selectors.runs.listing.saved_views import views_of
from refinement.services.runs.saved_views import view_delete, view_save
from refinement.views.runs.listing import shown_list

LONGEST_QUERY = 10_000


@require_POST
@project_view()
def run_view_save(request: ProjectRequest) -> HttpResponse:
    """Saves the list's filters; a name in use is an error on the field. Only editors share views."""
    given = QueryDict(request.POST.get("query", "")[:LONGEST_QUERY])
    form = ViewNameForm(request.POST, auto_id="view-%s")
    if not form.is_valid():
        return shown_list(request, given, naming=form)
    shared = form.cleaned_data["shared"]
    if shared and not request.membership.can_edit:
        raise PermissionDenied("Only editors and owners can share views.")
    query, name = RunFilterForm(given, request.project).query(), form.cleaned_data["name"]
    try:
        view = view_save(project=request.project, name=name, query=query, user=request.user, shared=shared)
    except ValidationError as refused:
        form.add_error(None, refused)
        return shown_list(request, given, naming=form)
    messages.success(request, f"View “{view.name}” {'shared' if shared else 'saved'}.")
    return redirect(f"{reverse('run_list', args=[request.project.slug])}?{query}")


@require_POST
@project_view()
def run_view_delete(request: ProjectRequest, view: int) -> HttpResponse:
    """Deletes an own view or, for editors, a shared one; its runs are unchanged."""
    row = views_of(request.project, request.user).filter(pk=view).first()
    if row is None:
        raise Http404("View not found in this project. It may have been deleted.")
    if row.shared and not request.membership.can_edit:
        raise PermissionDenied("Only editors and owners can delete shared views.")
    view_delete(view=row, user=request.user)
    messages.success(request, f"View “{row.name}” deleted.")
    return redirect("run_list", request.project.slug)
