"""The page of a share link: one run, read-only, without an account."""

from typing import Any, Literal

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables

from refinement.access.limits import Limit
from refinement.models import Run, ShareLink
from refinement.selectors.reviews.human_scores import readings_of
from refinement.selectors.runs.answer import answer_of, people_scores
from refinement.selectors.runs.calls import said
from refinement.selectors.runs.charts import metric_charts_of, trajectory_of
from refinement.selectors.runs.page import RunFacts, run_facts
from refinement.selectors.runs.shares import (
    reads_blind,
    shared_calls,
    shared_comments,
    shared_decisions,
    shared_round,
    shared_sentence,
    without_names,
)
from refinement.selectors.runs.texts.diffs import round_diff
from refinement.selectors.runs.texts.texts import candidate_text
from refinement.selectors.runs.watch import watch_of
from refinement.selectors.runs.words import reason_label
from refinement.services.runs.shares import ShareGone, share_link_for, share_link_opened
from refinement.views.runs.pane import marks_of

View = Literal["text", "raw", "diff", "calls"]
TITLE = "Scores by round"
GUESSES = Limit("share-guesses", most=30, seconds=600)


@sensitive_variables("token")
@login_not_required
def shared_run(request: HttpRequest, token: str, number: int | None = None) -> HttpResponse:
    """The run or one of its rounds. Invalid and revoked links get the same 404."""
    # Checked here: a decorator's response would lack the headers below.
    is_read = request.method in ("GET", "HEAD")
    answer = _answer(request, token, number) if is_read else HttpResponseNotAllowed(["GET", "HEAD"])
    # The URL is the key, so keep it out of Referer headers, caches and search engines.
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cache-Control"] = "no-store, private"
    answer.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    return answer


@sensitive_variables("token")
def _answer(request: HttpRequest, token: str, number: int | None) -> HttpResponse:
    if GUESSES.is_reached(request):
        return render(request, "refinement/share/too_often.html", status=429)
    try:
        link = share_link_for(token)
        if reads_blind(request.user, link.run_id):
            return render(request, "refinement/share/blind.html", status=403)
        return _shown(request, token, link, number)
    except ShareGone:
        GUESSES.note(request)
    except Http404:
        pass
    return render(request, "refinement/share/gone.html", status=404)


@sensitive_variables("token")
def _shown(request: HttpRequest, token: str, link: ShareLink, number: int | None) -> HttpResponse:
    run = Run.objects.select_related("rubric_version", "project").get(pk=link.run_id)
    facts = without_names(run_facts(run))
    opened = facts.opened(number)
    if number is not None and opened is None:
        raise Http404
    if opened is not None and request.GET.get("form") == "text":
        return _whole_text(facts, opened)
    page = _head(token, link, facts) | _round(request, link, facts, opened)
    if opened is not None:
        page["here"] = reverse("shared_round", args=[token, opened])
    if request.method == "GET" and number is None:
        share_link_opened(link)
    return render(request, "refinement/share/page.html", page)


@sensitive_variables("token")
def _head(token: str, link: ShareLink, facts: RunFacts) -> dict[str, Any]:
    addresses = [reverse("shared_round", args=[token, line.number]) for line in facts.rounds]
    run = facts.run
    return {
        "link": link,
        "run": run,
        "facts": facts,
        "sentence": shared_sentence(run, facts.rubric),
        "reason": reason_label(run),
        "task": said("task", run.task),
        "rounds": list(zip(facts.rounds, addresses, strict=True)),
        "toggles": list(enumerate(["Score", *facts.criteria[:24]])),
        "answer": answer_of(
            facts, people_scores(run) if link.show_comments else {}, watch_of(run, facts.rubric)
        ),
        "wide": trajectory_of(facts, hrefs=addresses, title=TITLE, ends=True, width=924, height=226),
        "narrow": trajectory_of(
            facts, width=400, height=200, name="trajectory-narrow", hrefs=addresses, title=TITLE, ends=True
        ),
        "metrics": metric_charts_of(facts, width=924, ends=True),
        "narrow_metrics": metric_charts_of(facts, width=400, name="metric-narrow", ends=True),
        "decisions": shared_decisions(run),
        "comments": shared_comments(run) if link.show_comments else [],
    }


def _round(request: HttpRequest, link: ShareLink, facts: RunFacts, opened: int | None) -> dict[str, Any]:
    """The open round in the requested format."""
    if opened is None:
        return {}
    found = shared_round(facts.run, facts.rubric, opened)
    if found is None:
        raise Http404
    view = _view(request, link, opened)
    page: dict[str, Any] = {"opened": opened, "round": found, "view": view}
    if link.show_comments:
        page["people"] = readings_of(facts.rubric, found.row)
    if view == "diff":
        diff = round_diff(facts.run, facts.rubric, opened - 1, opened, sides=False, named=False)
        return page | {"diff": diff, "a": opened - 1, "b": opened}
    if view == "calls":
        calls, more = shared_calls(facts.run, opened)
        return page | {"calls": calls, "more_calls": more}
    return page | {"text": candidate_text(found.row.candidate, raw=view == "raw", marks=marks_of(found))}


def _view(request: HttpRequest, link: ShareLink, opened: int) -> View:
    asked = request.GET.get("view", "")
    if asked == "raw":
        return "raw"
    if asked == "diff" and opened > 1:
        return "diff"
    if asked == "calls":
        if not link.show_prompts:
            raise Http404
        return "calls"
    return "text"


def _whole_text(facts: RunFacts, number: int) -> HttpResponse:
    found = shared_round(facts.run, facts.rubric, number)
    if found is None:
        raise Http404
    return HttpResponse(found.row.candidate, content_type="text/plain; charset=utf-8")
