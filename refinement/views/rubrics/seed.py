"""Seed calibration: a text with known scores, entered or taken from a judged round."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.types import Information, Role, Rubric
from refinement.forms.rubrics.seeds import SCORE, SeedForm, seed_initial
from refinement.judging.context import permitted
from refinement.judging.schema import plain, scale_in_words
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.judged_rounds import JudgedText, judged_rounds, judged_text
from refinement.services.rubrics.editing import NewerVersion
from refinement.services.rubrics.seeds import seed_remove, seed_set
from refinement.views.rubrics.context import rubric_context

REMOVE = "remove"
UNSEEN = {Information.SEED: "the seed's text", Information.SEED_SCORES: "its scores"}


@require_http_methods(["GET", "HEAD", "POST"])
def rubric_seed(request: HttpRequest, slug: str, rubric: str) -> HttpResponse:
    """Members can view, editors can change."""
    view = seed_change if request.method == "POST" else seed_show
    return view(request, slug, rubric)


@project_view()
def seed_show(request: ProjectRequest, rubric: str) -> HttpResponse:
    """The current seed, or the form filled with a judged round's text and scores."""
    page = rubric_context(request, rubric)
    definition = definition_of(page["version"])
    initial = seed_initial(definition, page["version"].number)
    taken = taken_round(request, page)
    if taken is not None:
        initial = from_round(definition, taken, initial)
    form = SeedForm(definition=definition, initial=initial)
    return seed_page(request, page, definition, form, taken=taken)


def taken_round(request: ProjectRequest, page: dict[str, Any]) -> JudgedText | None:
    """The round in the query string; fills an editor's form."""
    named = request.GET.get("round", "")
    if not named or not page["can_edit"]:
        return None
    taken = judged_text(page["rubric"], named)
    if taken is None:
        raise Http404("Judged round not found among this rubric's runs.")
    return taken


def from_round(definition: Rubric, taken: JudgedText, initial: dict[str, Any]) -> dict[str, Any]:
    keys = {criterion.key for criterion in definition.criteria}
    scores = {SCORE + key: plain(score) for key, score in taken.scores.items() if key in keys}
    note = f"Seed from round {taken.number} of run {taken.run}."
    return {"edited_from": initial["edited_from"], "text": taken.text, "note": note, **scores}


@project_view(role="editor")
def seed_change(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Saves or removes the seed as a new version. Errors are shown with the form."""
    page = rubric_context(request, rubric)
    definition = definition_of(page["version"])
    form = SeedForm(request.POST, definition=definition)
    removing = request.POST.get("action") == REMOVE
    # A removal needs only the version it was requested on.
    if not form.is_valid() and not (removing and "edited_from" in form.cleaned_data):
        return seed_page(request, page, definition, form, status=422)
    try:
        told = seed_saved(request, page, form)
    except NewerVersion as newer:
        return conflict_page(request, page, definition, form, newer)
    except ValidationError as error:
        form.take_over(error)
        return seed_page(request, page, definition, form, status=422)
    messages.success(request, told)
    return redirect("rubric_seed", request.project.slug, rubric)


def seed_saved(request: ProjectRequest, page: dict[str, Any], form: SeedForm) -> str:
    """Performs the pressed button's action and returns the message to show."""
    given = {
        "rubric": page["rubric"],
        "edited_from": form.cleaned_data["edited_from"],
        "user": request.user,
        "note": form.cleaned_data.get("note", ""),
    }
    if request.POST.get("action") == REMOVE:
        version = seed_remove(**given)
        return f"Seed removed: version {version.number}." if version else "There is no seed to remove."
    version = seed_set(text=form.cleaned_data["text"], scores=form.scores, **given)
    return f"Seed saved: version {version.number}."


def conflict_page(
    request: ProjectRequest, page: dict[str, Any], definition: Rubric, form: SeedForm, newer: NewerVersion
) -> HttpResponse:
    """The typed form with the version someone else saved; submitting again overwrites it."""
    opened_on = form.cleaned_data["edited_from"]
    kept = form.data.copy()  # type: ignore[attr-defined]
    kept["edited_from"] = str(page["version"].number)
    form = SeedForm(kept, definition=definition)
    more = {"opened_on": opened_on, "newer": newer.newest}
    return seed_page(request, page, definition, form, status=409, **more)


def seed_page(
    request: ProjectRequest,
    page: dict[str, Any],
    definition: Rubric,
    form: SeedForm,
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
        "seed_scores": [(named[key], plain(score)) for key, score in definition.seed_scores.items()],
        "rounds": judged_rounds(page["rubric"]) if page["can_edit"] and definition.criteria else [],
        **more,
    }
    return render(request, "refinement/rubrics/seed.html", shown, status=status)
