"""A run's page: stop reason, trajectory and rounds."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from refinement.access.objects import can_edit, run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.charts import DARK, LIGHT
from refinement.forms.reviews.decisions import decision_form
from refinement.models import HumanScore, Round, Run
from refinement.selectors.experiments.parts import part_of
from refinement.selectors.reviews.decisions import decisions_of
from refinement.selectors.reviews.human_scores import people_of
from refinement.selectors.runs.answer import answer_of, people_means, people_scores
from refinement.selectors.runs.calls import calls_of_round, said, seen_table
from refinement.selectors.runs.charts import metric_charts_of, trajectory_of
from refinement.selectors.runs.evaluators.trials import trials_of_round
from refinement.selectors.runs.imports import import_of
from refinement.selectors.runs.ledger import round_ledger
from refinement.selectors.runs.live.progress import progress_of
from refinement.selectors.runs.page import RunFacts, run_facts, tags_of
from refinement.selectors.runs.rounds import RoundFacts, round_facts, with_ledger
from refinement.selectors.runs.texts.sources import quoted_places, source_lines
from refinement.selectors.runs.watch import Watch, watch_of
from refinement.selectors.runs.words import plateau_calls, reason_label
from refinement.services.reviews.blind_readings import scores_seen_record
from refinement.services.runs.lifecycle import MOST_MORE_ROUNDS
from refinement.views.comments.context import threads_context
from refinement.views.reviews.queue import scores_first
from refinement.views.runs.pane import pane_context
from refinement.views.runs.team import team_context

CHART_HEIGHT = 178  # static/css/round_strip.css draws the open round's column as high


@require_safe
@project_view()
def run_page(request: ProjectRequest, run: int) -> HttpResponse:
    """The run with its best round open, or its newest while running."""
    found = run_or_404(request, run)
    if request.GET.get("form") == "task":
        return HttpResponse(found.task, content_type="text/plain; charset=utf-8")
    return scores_first(request, found) or shown_run(request, found)


@require_safe
@project_view()
def run_chart(request: ProjectRequest, run: int) -> HttpResponse:
    """Downloads the trajectory as an SVG with inline colours."""
    facts = run_facts(run_or_404(request, run))
    palette = DARK if request.GET.get("theme") == "dark" else LIGHT
    chart = trajectory_of(facts, palette=palette, legend=True, links=False)
    picture = render_to_string("refinement/charts/_trajectory.html", {"chart": chart})
    answer = HttpResponse(picture.strip(), content_type="image/svg+xml")
    answer.headers["Content-Disposition"] = f'attachment; filename="run-{run}-trajectory.svg"'
    return answer


def shown_run(
    request: ProjectRequest, run: Run, number: int | None = None, *, status: int = 200, **more: Any
) -> HttpResponse:
    """The page, or its content for htmx."""
    scores_seen_record(runs=[run], user=request.user)
    context = run_context(request, run, number) | more
    name = "_page" if partial(request) else "page"
    return render(request, f"refinement/runs/{name}.html", context, status=status)


def partial(request: ProjectRequest) -> bool:
    return bool(request.htmx) and not request.htmx.boosted


def shown_round(
    request: ProjectRequest, run: Run, number: int, *, status: int = 200, **more: Any
) -> HttpResponse:
    """One round for htmx: its panel, or only the pane with its text if that is what the request is for."""
    scores_seen_record(runs=[run], user=request.user)
    facts = run_facts(run)
    context = {"section": "runs", "run": run, "facts": facts, **round_context(request, facts, number)}
    context |= {"can_edit": can_edit(request), **live_context(facts, number), **more}
    context["watch"] = watch_of(run, facts.rubric)
    name = "_pane" if request.htmx.target == "round-text" else "_round"
    return render(request, f"refinement/runs/{name}.html", context, status=status)


def run_context(request: ProjectRequest, run: Run, number: int | None = None) -> dict[str, Any]:
    """The page's context; 404 for an unknown round."""
    facts = run_facts(run)
    opened = facts.opened(number)
    if number is not None and opened is None:
        raise Http404("Round not found in this run.")
    scores = people_scores(run)
    watch = watch_of(run, facts.rubric)
    head = head_context(facts, scores, watch)
    live = live_context(facts, number)
    return {
        "section": "runs",
        "run": run,
        "facts": facts,
        "can_edit": can_edit(request),
        "watch": watch,
        **head,
        **decide_context(request, facts, head["decided"].seen),
        **team_context(request, run),
        **live,
        "charts": charts(facts, people_means(scores), coming=len(live["live"].coming) if live["live"] else 0),
        **(round_context(request, facts, opened) if opened else threads_context(request, facts, None)),
    }


def live_context(facts: RunFacts, number: int | None) -> dict[str, Any]:
    """What a run at work shows; while its next text is written, that text unless a round is asked for."""
    run = facts.run
    live = None if run.is_finished or run.is_asking else progress_of(facts)
    judged = run.rounds_judged
    return {
        "live": live,
        "watching": live is not None and live.writing and number is None,
        "starts_over": judged > 0 and judged in (run.extended_after, run.escalated_after),
    }


def decide_context(request: ProjectRequest, facts: RunFacts, seen: int) -> dict[str, Any]:
    """The decision form for editors, based on the decision shown."""
    if not can_edit(request):
        return {}
    numbers = [line.number for line in facts.rounds]
    return {"decide": decision_form(facts.run, numbers, seen=seen)}


def head_context(
    facts: RunFacts, scores: Mapping[int, Sequence[HumanScore]], watch: Watch | None = None
) -> dict[str, Any]:
    """Context of the header and its forms, with people's scores by round."""
    run, rubric = facts.run, facts.rubric
    tags = tags_of(run)
    return {
        "answer": answer_of(facts, scores, watch),
        "decided": decisions_of(run, rubric),
        "imported": import_of(run, rubric, {line.number: line.composite for line in facts.rounds}),
        "reason": reason_label(run),
        "part": part_of(run),
        "task": said("task", run.task),
        "sources": source_lines(run, rubric),
        "tags": tags,
        "typed_tags": ", ".join(tags),
        "more_rounds": "2",
        "most_more_rounds": MOST_MORE_ROUNDS,
        "plateau_calls": plateau_calls(rubric, len(facts.panel)) if facts.plateau else 0,
    }


def charts(facts: RunFacts, people: Mapping[int, Decimal], *, coming: int = 0) -> dict[str, Any]:
    """A wide and a narrow chart, with people's mean scores by round; CSS shows one of them.

    They have room for `coming` rounds.
    """
    return {
        "wide": trajectory_of(facts, people=people, ends=True, width=924, height=CHART_HEIGHT, coming=coming),
        "narrow": trajectory_of(
            facts, people=people, ends=True, width=400, height=200, name="trajectory-narrow", coming=coming
        ),
        "metrics": metric_charts_of(facts, width=924, ends=True),
        "narrow_metrics": metric_charts_of(facts, width=400, name="metric-narrow", ends=True),
        "people": bool(people),
        "toggles": list(enumerate(["Score", *facts.criteria[:24]])),
    }


def round_context(request: ProjectRequest, facts: RunFacts, number: int) -> dict[str, Any]:
    """A round: text, verdict, and who saw what."""
    found = round_facts(facts.run, facts.rubric, number)
    if found is None:
        raise Http404("Round not found in this run.")
    found = with_ledger(found, round_ledger(facts.run, facts.rubric, number))
    calls = calls_of_round(facts.run, number)
    talk = threads_context(request, facts, found)
    return {
        "opened": number,
        "round": found,
        **pane_context(request, facts, found, calls, talk["talk"]),
        "seen": seen_table(calls),
        "quotes": source_addresses(facts.run, found),
        "previous": number - 1 if number > 1 else None,
        "best_number": facts.run.best_round,
        **again_context(found),
        **talk,
        **people_context(request, facts, found.row),
    }


def again_context(found: RoundFacts) -> dict[str, Any]:
    """Further results of the round's evaluator; none for a round that is not judged."""
    if found.evaluator is None or found.row.judged_at is None:
        return {"again": None}
    again = trials_of_round(found.row)
    return {"again": again, "again_polls": any(not facts.trial.is_over for facts in again)}


def source_addresses(run: Run, found: RoundFacts) -> dict[str, str]:
    """The addresses of the passages that the judge quotes from sources."""
    return {
        passage: f"{reverse('run_source', args=[run.project.slug, run.pk, place.source])}"
        f"?start={place.start}&end={place.end}#source-quote"
        for passage, place in quoted_places(run, found).items()
    }


def people_context(request: ProjectRequest, facts: RunFacts, row: Round) -> dict[str, Any]:
    """Human scores of the round, and how the user can score it."""
    if not facts.rubric.criteria:
        return {"people": None}
    people = people_of(facts.run, facts.rubric, row, request.user)
    return {
        "people": people,
        "can_edit": can_edit(request),
        "not_blind": people.not_blind,
    }
