"""New rubrics, from a gallery of profiles and kinds of work."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.rubrics.library import NewRubricForm
from refinement.models import Rubric
from refinement.selectors.rubrics.gallery import artifact_cards, preset_rubric, profile_cards
from refinement.services.rubrics.editing import rubric_create, rubric_slug_for


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def rubric_gallery(request: ProjectRequest) -> HttpResponse:
    """Profiles and kinds of work with their defaults; POST creates a rubric."""
    chosen = {"profile": "wiggum", "artifact": "document", **request.GET.dict()}
    form = NewRubricForm(request.POST) if request.method == "POST" else NewRubricForm(initial=chosen)
    if form.is_valid():
        return _created(request, form)
    page = {
        "section": "rubrics",
        "form": form,
        "profiles": profile_cards(),
        "artifacts": artifact_cards(),
    }
    return render(request, "refinement/rubrics/gallery.html", page, status=422 if form.is_bound else 200)


def _created(request: ProjectRequest, form: NewRubricForm) -> HttpResponse:
    name = form.cleaned_data["name"]
    version = rubric_create(
        project=request.project,
        slug=rubric_slug_for(request.project, name),
        definition=preset_rubric(form.cleaned_data["profile"], form.cleaned_data["artifact"], name),
        user=request.user,
        note="Created from the gallery.",
    )
    messages.success(request, f"{name} created. Every save is a new version.")
    return redirect(_editor_address(version.rubric))


def _editor_address(rubric: Rubric) -> str:
    place = {"slug": rubric.project.slug, "rubric": rubric.slug}
    try:
        return reverse("rubric_edit", kwargs=place)
    except NoReverseMatch:
        return reverse("rubric_page", kwargs=place)
