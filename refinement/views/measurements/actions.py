"""What editors do with a measurement: pause, resume, stop, delete; save a replayed draft."""

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from refinement.access.objects import measurement_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Measurement, MeasurementKind
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.trust.measurements.definitions import definition_measured
from refinement.services.rubrics.editing import NewerVersion, version_create
from refinement.services.runs.lifecycle import WrongState
from refinement.services.trust.measurements.control import (
    measurement_delete,
    measurement_pause,
    measurement_resume,
    measurement_stop,
)
from refinement.views.experiments.actions import budget_of


def pause(request: ProjectRequest, measurement: Measurement) -> str:
    measurement_pause(measurement, request.user)
    return "Paused. Verdicts so far are kept."


def resume(request: ProjectRequest, measurement: Measurement) -> str:
    budget = request.POST.get("token_budget", "").strip()
    measurement_resume(measurement, request.user, token_budget=budget_of(budget) if budget else None)
    return "Resumed."


def stop(request: ProjectRequest, measurement: Measurement) -> str:
    measurement_stop(measurement, request.user)
    return "Stopped. Verdicts so far are kept."


def delete(request: ProjectRequest, measurement: Measurement) -> str:
    measurement_delete(measurement, request.user)
    return f"{measurement.get_kind_display()} {measurement.pk} deleted."


ACTIONS: Mapping[str, Callable[[ProjectRequest, Measurement], str]] = {
    "pause": pause,
    "resume": resume,
    "stop": stop,
    "delete": delete,
}


@require_POST
@project_view(role="editor")
def measurement_action(request: ProjectRequest, measurement: int, action: str) -> HttpResponse:
    """One of `ACTIONS`; the page says what happened, or why not."""
    if action not in ACTIONS:
        raise Http404("Measurements have no such action.")
    found = measurement_or_404(request, measurement)
    try:
        messages.success(request, ACTIONS[action](request, found))
    except WrongState as refusal:
        messages.error(request, str(refusal))
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
    else:
        if action == "delete":
            return redirect("measurement_list", request.project.slug)
    return redirect("measurement_page", request.project.slug, measurement)


@require_POST
@project_view(role="editor")
def draft_save(request: ProjectRequest, measurement: int) -> HttpResponse:
    """Saves the draft of a replay as the rubric's next version. After a newer version, shows that instead."""
    found = measurement_or_404(request, measurement)
    if found.kind != MeasurementKind.REPLAY or not found.is_draft:
        raise Http404("This measurement has no draft.")
    base = found.rubric_version
    rubric = base.rubric
    draft = definition_measured(found)
    newest = rubric.versions.order_by("-number").first()
    if newest is not None and definition_of(newest) == draft:
        messages.info(request, f"The draft is already saved as version {newest.number}.")
        return redirect("rubric_page", request.project.slug, rubric.slug)
    try:
        version = version_create(
            rubric=rubric,
            definition=draft,
            user=request.user,
            note=request.POST.get("note", "").strip() or f"Tried in replay {found.pk}.",
            edited_from=base.number,
        )
    except NewerVersion as refused:
        messages.warning(
            request,
            f"Not saved: version {refused.newest} was saved after this draft was made. These are its "
            "changes. Open the editor to bring both together.",
        )
        place = {"slug": request.project.slug, "rubric": rubric.slug}
        query = urlencode({"a": base.number, "b": refused.newest})
        return redirect(f"{reverse('rubric_compare', kwargs=place)}?{query}")
    messages.success(request, f"Version {version.number} saved.")
    return redirect("rubric_page", request.project.slug, rubric.slug)
