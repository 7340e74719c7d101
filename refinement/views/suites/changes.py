"""Changes to a suite as a whole: name and description, archive, restore a version."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.objects import suite_or_404, suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.suites.library import SuiteForm
from refinement.models import Suite
from refinement.services.suites.editing import NewerVersion, suite_rename
from refinement.services.suites.editing import suite_archive as archive
from refinement.services.suites.editing import suite_restore as restore
from refinement.views.suites.context import suite_context, whole


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_settings(request: ProjectRequest, suite: str) -> HttpResponse:
    """The name and description."""
    context = suite_context(request, suite)
    row = context["suite"]
    form = SuiteForm(request.POST or None, initial={"name": row.name, "description": row.description})
    if request.method == "POST" and form.is_valid():
        changed = suite_rename(suite=row, user=request.user, **form.cleaned_data)
        messages.success(request, "Settings saved." if changed else "No changes to save.")
        return redirect("suite_page", request.project.slug, suite)
    context["form"] = form
    return render(request, "refinement/suites/settings.html", context, status=422 if form.is_bound else 200)


@require_POST
@project_view(role="editor")
def suite_archive(request: ProjectRequest, suite: str) -> HttpResponse:
    """Archives or unarchives a suite; its experiments stay."""
    row = suite_or_404(request, suite)
    archived = request.POST.get("archived", "1") != "0"
    archive(suite=row, user=request.user, archived=archived)
    if archived:
        messages.success(request, f"{row.name} archived. Its experiments stay.")
        return redirect("suite_list", request.project.slug)
    messages.success(request, f"{row.name} unarchived.")
    return redirect("suite_page", request.project.slug, suite)


@require_POST
@project_view(role="editor")
def suite_restore(request: ProjectRequest, suite: str) -> HttpResponse:
    """Saves an earlier version's tasks as the newest. After a concurrent save it shows that one instead."""
    row = suite_or_404(request, suite)
    number, seen = (whole(request.POST.get(name)) for name in ("version", "edited_from"))
    if number is None or seen is None:
        messages.error(request, "Nothing was restored. Choose a version from this list and try again.")
        return redirect("suite_versions", request.project.slug, suite)
    suite_version_or_404(row, number)
    try:
        version = restore(suite=row, number=number, edited_from=seen, user=request.user)
    except NewerVersion as refused:
        return _shown_what_is_newer(request, row, seen, refused.newest)
    if version is None:
        messages.info(request, f"No changes to save: the newest version is the same as version {number}.")
        return redirect("suite_versions", request.project.slug, suite)
    messages.success(request, f"Version {number} restored as version {version.number}.")
    return redirect("suite_page", request.project.slug, suite)


def _shown_what_is_newer(request: ProjectRequest, suite: Suite, seen: int, newest: int) -> HttpResponse:
    messages.warning(
        request,
        f"Nothing was restored: version {newest} was saved in the meantime. These are its changes. "
        "Go to Versions to restore anyway.",
    )
    first = seen if 0 < seen < newest else max(newest - 1, 1)
    address = reverse("suite_compare", args=[request.project.slug, suite.slug])
    return redirect(f"{address}?{urlencode({'a': first, 'b': newest})}")
