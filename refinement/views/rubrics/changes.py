"""Changes to a rubric as a whole: restore a version, duplicate, archive."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from refinement.access.objects import rubric_or_404, version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.rubrics.library import DuplicateForm
from refinement.models import Rubric
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import NewerVersion
from refinement.services.rubrics.editing import rubric_archive as archive
from refinement.services.rubrics.editing import rubric_duplicate as duplicate
from refinement.services.rubrics.editing import rubric_restore as restore
from refinement.views.rubrics.page import editable, overview


@require_POST
@project_view(role="editor")
def rubric_restore(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Saves an earlier version as the newest. After a concurrent save it shows that change instead."""
    row = rubric_or_404(request, rubric)
    number, seen = (_whole(request.POST.get(name)) for name in ("version", "edited_from"))
    if number is None or seen is None:
        messages.error(request, "Nothing was restored. Choose a version from this list and try again.")
        return redirect("rubric_versions", request.project.slug, rubric)
    earlier = version_or_404(row, number)
    if number == seen or definition_of(earlier) == definition_of(version_or_404(row, None)):
        messages.info(request, f"No changes to save: the newest version is the same as version {number}.")
        return redirect("rubric_versions", request.project.slug, rubric)
    try:
        version = restore(rubric=row, number=number, edited_from=seen, user=request.user)
    except NewerVersion as refused:
        return _shown_what_is_newer(request, row, seen, refused.newest)
    messages.success(request, f"Version {number} restored as version {version.number}.")
    return redirect("rubric_page", request.project.slug, rubric)


def _shown_what_is_newer(request: ProjectRequest, rubric: Rubric, seen: int, newest: int) -> HttpResponse:
    messages.warning(
        request,
        f"Nothing was restored: version {newest} was saved in the meantime. These are its changes. "
        "Go to Versions to restore anyway.",
    )
    place = {"slug": request.project.slug, "rubric": rubric.slug}
    first = seen if 0 < seen < newest else max(newest - 1, 1)
    return redirect(f"{reverse('rubric_compare', kwargs=place)}?{urlencode({'a': first, 'b': newest})}")


@require_POST
@project_view(role="editor")
def rubric_duplicate(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Creates a copy in this or another of the user's projects."""
    row = rubric_or_404(request, rubric)
    number = _whole(request.POST.get("version"))
    form = DuplicateForm(editable(request), request.POST)
    if not form.is_valid():
        return overview(request, rubric, number, copy=form)
    version = version_or_404(row, number)
    project = form.projects[form.cleaned_data["project"]]
    copy = duplicate(version=version, project=project, name=form.cleaned_data["name"], user=request.user)
    messages.success(request, f"{copy.name} was created in {project.name}.")
    return redirect("rubric_page", project.slug, copy.rubric.slug)


@require_POST
@project_view(role="editor")
def rubric_archive(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Archives or unarchives a rubric; its runs continue."""
    row = rubric_or_404(request, rubric)
    archived = request.POST.get("archived", "1") != "0"
    archive(rubric=row, user=request.user, archived=archived)
    if archived:
        messages.success(request, f"{row.name} archived. Its runs continue.")
        return redirect("rubric_list", request.project.slug)
    messages.success(request, f"{row.name} unarchived.")
    return redirect("rubric_page", request.project.slug, rubric)


def _whole(text: str | None) -> int | None:
    """The submitted version number, if valid."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None
