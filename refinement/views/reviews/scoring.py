"""Scoring a round: openly, or blind without any scores on the page."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.objects import can_read_blind, must_read_blind, own_score, round_or_404, run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Rubric
from refinement.forms.reviews.human_scores import HumanScoreForm, score_initial
from refinement.judging.schema import scale_in_words
from refinement.models import BlindReading, HumanScore, Round, Run
from refinement.selectors.reviews.blindness import not_blind_reason
from refinement.selectors.reviews.human_scores import gap_headline, own_rows, who_judges
from refinement.selectors.reviews.requests import place_of
from refinement.selectors.runs.calls import said
from refinement.selectors.runs.texts.sources import source_lines
from refinement.selectors.runs.texts.texts import candidate_text
from refinement.selectors.runs.words import capital_round_name
from refinement.services.reviews.blind_readings import (
    ScoresSeen,
    blind_reading_begin,
    blind_reading_give_up,
)
from refinement.services.reviews.human_scores import (
    ScoreConflict,
    human_score_give,
)
from refinement.views.reviews.queue import REVIEWING

PLAIN = "text/plain; charset=utf-8"


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def run_score(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """The scoring page, for every member. Errors are shown with the form."""
    found = run_or_404(request, run, blind=True)
    row = round_or_404(found, number)
    if found.is_example:
        return redirect("run_page", request.project.slug, run)
    if request.method == "POST":
        return score_saved(request, found, row)
    if request.GET.get("form") in ("text", "task"):
        text = row.candidate if request.GET["form"] == "text" else found.task
        return HttpResponse(text, content_type=PLAIN)
    if must_read_blind(request, found) or ("choose" in request.GET and can_read_blind(request, found)):
        return begin_page(request, found, row)
    rubric = rubric_from_json(found.snapshot)
    kept = own_score(request, row)
    if kept is not None and "scored" in request.GET and run not in request.blind_runs:
        return saved_page(request, found, row, rubric, kept)
    form = HumanScoreForm(definition=rubric, initial=score_initial(kept))
    return score_page(request, found, row, rubric, form, kept=kept)


def score_saved(request: ProjectRequest, run: Run, row: Round) -> HttpResponse:
    """Saves the score and continues: to the run, or blind to its next round."""
    rubric = rubric_from_json(run.snapshot)
    if must_read_blind(request, run):
        return begin_page(request, run, row, status=422)
    form = HumanScoreForm(request.POST, definition=rubric)
    if not form.is_valid():
        return score_page(request, run, row, rubric, form, status=422)
    onward = next_number(request, run, row)
    try:
        human_score_give(
            run=run, row=row, user=request.user, submitted=form.reading,
            seen_version=form.cleaned_data["version"], blind_next=onward,
        )  # fmt: skip
    except ScoreConflict as meanwhile:
        return conflict_page(request, run, row, rubric, meanwhile.stored)
    except ValidationError as error:
        form.take_over(error)
        return score_page(request, run, row, rubric, form, status=422)
    messages.success(request, f"Your scores of {capital_round_name(row.number).lower()} are saved.")
    address = reverse("run_score", args=[request.project.slug, run.pk, onward or row.number])
    return redirect(f"{address}?scored={row.number}")


def saved_page(
    request: ProjectRequest, run: Run, row: Round, rubric: Rubric, own: HumanScore
) -> HttpResponse:
    """The user's scores next to the judge's, and a link to the next review."""
    context = {
        "section": "reviews" if request.session.get(REVIEWING) else "runs",
        "run": run,
        "row": row,
        "name": capital_round_name(row.number),
        "own": own,
        "who": who_judges(rubric),
        "headline": gap_headline(rubric, row, own),
        "rows": own_rows(rubric, row, own),
        "queue": place_of(run.pk, request.user, request.project),
        "reviewing": request.session.get(REVIEWING) == request.project.slug,
    }
    return render(request, "refinement/runs/score_saved.html", context)


@require_POST
@project_view()
def run_score_blind(request: ProjectRequest, run: int, number: int) -> HttpResponse:
    """Starts scoring the run blind, at this round."""
    found = run_or_404(request, run, blind=True)
    row = round_or_404(found, number)
    try:
        blind_reading_begin(run=found, number=row.number, user=request.user)
    except ScoresSeen as seen:
        messages.error(request, str(seen))
    return redirect("run_score", request.project.slug, run, number)


@require_POST
@project_view()
def run_score_reveal(request: ProjectRequest, run: int) -> HttpResponse:
    """Ends blind scoring after confirmation; later scores are not blind."""
    found = run_or_404(request, run, whole=False, blind=True)
    if request.POST.get("sure") != "yes":
        page = {"section": "runs", "run": found, "number": request.blind_runs.get(run, 1)}
        return render(request, "refinement/runs/score_reveal.html", page)
    if blind_reading_give_up(run=found, user=request.user):
        messages.success(request, "Scores are visible now. Your scores from now on are marked as not blind.")
    return redirect("run_page", request.project.slug, run)


def next_number(request: ProjectRequest, run: Run, row: Round) -> int | None:
    """The round to score blind next, if requested and available."""
    if request.POST.get("then") != "next" or run.pk not in request.blind_runs:
        return None
    later = run.rounds.exclude(pk=row.pk).exclude(human_scores__author=request.user).order_by("number")
    following = later.filter(number__gt=row.number).first() or later.first()
    return following.number if following else None


def conflict_page(
    request: ProjectRequest, run: Run, row: Round, rubric: Rubric, kept: HumanScore
) -> HttpResponse:
    """The typed scores with those saved in another window; submitting again overwrites them."""
    typed = request.POST.copy()
    typed["version"] = str(kept.version)
    form = HumanScoreForm(typed, definition=rubric)
    return score_page(request, run, row, rubric, form, status=409, kept=kept, meanwhile=kept)


def begin_page(request: ProjectRequest, run: Run, row: Round, *, status: int = 200) -> HttpResponse:
    """Blind or open, and what each means; only blind in projects that score blind."""
    page = {"section": "runs", "run": run, "number": row.number, "name": capital_round_name(row.number)}
    return render(request, "refinement/runs/score_begin.html", page, status=status)


def score_page(
    request: ProjectRequest,
    run: Run,
    row: Round,
    rubric: Rubric,
    form: HumanScoreForm,
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    reading = BlindReading.objects.filter(run=run, reader=request.user, ended_at__isnull=True).first()
    raw = request.GET.get("view") == "raw"
    scored = HumanScore.objects.filter(run=run, author=request.user)
    context = {
        "section": "runs",
        "run": run,
        "row": row,
        "rubric": rubric,
        "name": capital_round_name(row.number),
        "rounds": round_choices(run, set(scored.values_list("round__number", flat=True))),
        "form": form,
        "reading": reading,
        "not_blind": "" if reading else not_blind_reason(run, request.user),
        "raw": raw,
        "text": candidate_text(row.candidate, raw=raw),
        "task": said("task", run.task),
        "sources": source_lines(run, rubric),
        "scale_words": scale_in_words(rubric.scale),
        "kept": None,
        **more,
    }
    return render(request, "refinement/runs/score.html", context, status=status)


def round_choices(run: Run, scored: set[int]) -> list[tuple[int, str, bool]]:
    """Every round's number and name, and whether this user has scored it."""
    numbers = run.rounds.order_by("number").values_list("number", flat=True)
    return [(number, capital_round_name(number), number in scored) for number in numbers]
