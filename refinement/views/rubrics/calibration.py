"""The calibration example: a text with known scores, entered or taken from a judged round."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.labelling import trust_or_labelling
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.types import Information, Role, Rubric
from refinement.forms.rubrics.calibration import SCORE, CalibrationForm, calibration_initial
from refinement.judging.context import permitted
from refinement.judging.schema import plain, scale_in_words
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.judged_rounds import (
    JudgedText,
    judged_rounds,
    judged_text,
    labelled_text,
    scored_text,
)
from refinement.services.rubrics.calibration import calibration_remove, calibration_set
from refinement.services.rubrics.editing import NewerVersion
from refinement.views.rubrics.context import rubric_context

REMOVE = "remove"
NOTE_CHARS = 400
UNSEEN = {
    Information.CALIBRATION: "the calibration example",
    Information.CALIBRATION_SCORES: "its scores",
}


@require_http_methods(["GET", "HEAD", "POST"])
def rubric_calibration(request: HttpRequest, slug: str, rubric: str) -> HttpResponse:
    """Members can view, editors can change."""
    view = calibration_change if request.method == "POST" else calibration_show
    return view(request, slug, rubric)


@project_view()
def calibration_show(request: ProjectRequest, rubric: str) -> HttpResponse:
    """The current example, or the form filled with a round's text and its scores, by a judge or a person."""
    page = rubric_context(request, rubric)
    definition = definition_of(page["version"])
    initial = calibration_initial(definition, page["version"].number)
    taken = taken_round(request, page)
    if taken is not None:
        initial = from_round(definition, taken, initial)
    form = CalibrationForm(definition=definition, initial=initial)
    return calibration_page(request, page, definition, form, taken=taken)


def taken_round(request: ProjectRequest, page: dict[str, Any]) -> JudgedText | None:
    """The round or the person's score in the query string; fills an editor's form."""
    for name, find in (("label", labelled_text), ("score", scored_text), ("round", judged_text)):
        named = request.GET.get(name, "")
        if named and page["can_edit"]:
            if name == "label":
                trust_or_labelling(request, page["rubric"].pk)
            taken = find(page["rubric"], named)
            if taken is None:
                raise Http404(f"No such {name} among this rubric's runs and labels.")
            return taken
    return None


def from_round(definition: Rubric, taken: JudgedText, initial: dict[str, Any]) -> dict[str, Any]:
    keys = {criterion.key for criterion in definition.criteria}
    scores = {SCORE + key: plain(score) for key, score in taken.scores.items() if key in keys}
    by = f", as {taken.scored_by} scored it" if taken.scored_by else ""
    note = f"Calibration example from {taken.place}{by}."[:NOTE_CHARS]
    return {"edited_from": initial["edited_from"], "text": taken.text, "note": note, **scores}


@project_view(role="editor")
def calibration_change(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Saves or removes the example as a new version. Errors are shown with the form."""
    page = rubric_context(request, rubric)
    definition = definition_of(page["version"])
    form = CalibrationForm(request.POST, definition=definition)
    removing = request.POST.get("action") == REMOVE
    # A removal needs only the version it was requested on.
    if not form.is_valid() and not (removing and "edited_from" in form.cleaned_data):
        return calibration_page(request, page, definition, form, status=422)
    try:
        message = calibration_saved(request, page, form)
    except NewerVersion as newer:
        return conflict_page(request, page, definition, form, newer)
    except ValidationError as error:
        form.take_over(error)
        return calibration_page(request, page, definition, form, status=422)
    messages.success(request, message)
    return redirect("rubric_calibration", request.project.slug, rubric)


def calibration_saved(request: ProjectRequest, page: dict[str, Any], form: CalibrationForm) -> str:
    """Performs the pressed button's action and returns the message to show."""
    given = {
        "rubric": page["rubric"],
        "edited_from": form.cleaned_data["edited_from"],
        "user": request.user,
        "note": form.cleaned_data.get("note", ""),
    }
    if request.POST.get("action") == REMOVE:
        version = calibration_remove(**given)
        return f"Example removed: version {version.number}." if version else "There is no example to remove."
    version = calibration_set(text=form.cleaned_data["text"], scores=form.scores, **given)
    return f"Calibration example saved: version {version.number}." if version else "No changes to save."


def conflict_page(
    request: ProjectRequest,
    page: dict[str, Any],
    definition: Rubric,
    form: CalibrationForm,
    newer: NewerVersion,
) -> HttpResponse:
    """The typed form with the version someone else saved; submitting again overwrites it."""
    opened_on = form.cleaned_data["edited_from"]
    kept = form.data.copy()  # type: ignore[attr-defined]
    kept["edited_from"] = str(page["version"].number)
    form = CalibrationForm(kept, definition=definition)
    more = {"opened_on": opened_on, "newer": newer.newest}
    return calibration_page(request, page, definition, form, status=409, **more)


def calibration_page(
    request: ProjectRequest,
    page: dict[str, Any],
    definition: Rubric,
    form: CalibrationForm,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    unseen = [words for kind, words in UNSEEN.items() if kind not in permitted(definition, Role.JUDGE)]
    named = {criterion.key: criterion.name for criterion in definition.criteria}
    shown = {
        **page,
        "definition": definition,
        "form": form,
        "scale_words": scale_in_words(definition.scale),
        "unseen": " and ".join(unseen),
        "calibration_scores": [
            (named[key], plain(score)) for key, score in definition.calibration_scores.items()
        ],
        "rounds": judged_rounds(page["rubric"]) if page["can_edit"] and definition.criteria else [],
        **more,
    }
    return render(request, "refinement/rubrics/calibration.html", shown, status=status)
