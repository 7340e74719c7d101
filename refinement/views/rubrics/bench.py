"""Rubric tests: start, follow, cancel, compare."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from refinement.access.objects import version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.types import JudgeMode
from refinement.forms.rubrics.trying.bench import BenchForm, HumanScoresForm
from refinement.models import Bench, BenchTrial, CandidateOrigin, Rubric, RubricVersion, TrialStatus
from refinement.selectors.launch.available_models import models_offered
from refinement.selectors.rubrics.bench import (
    bench_or_404,
    benches_of,
    comparable,
    origin_label,
    outcomes_of,
    people_scores,
    recent_rounds,
    round_in,
    same_text,
    trial_or_404,
    trials_of,
)
from refinement.selectors.rubrics.bench_boards import (
    board_outcomes,
    board_report,
    report_for,
    report_of,
)
from refinement.selectors.rubrics.bench_report import (
    Report,
    bench_comparison,
    readings_of,
    what_differs,
)
from refinement.selectors.rubrics.bench_words import (
    comparison_sentence,
    finding_of,
    pair_label,
    people_sentences,
)
from refinement.selectors.trust.measurements.definitions import definition_for
from refinement.services.rubrics.bench import Candidate, bench_cancel, bench_create, bench_scores_set
from refinement.views.rubrics.context import rubric_context

A_PAGE = 20
MOST_VERSIONS = 100
STOP_POLLING = 286  # htmx swaps the response and stops polling


@require_http_methods(["GET", "HEAD", "POST"])
def rubric_bench(request: HttpRequest, slug: str, rubric: str) -> HttpResponse:
    """The tests of a rubric and the form for a new one."""
    shown_or_started = bench_start if request.method == "POST" else bench_overview
    return shown_or_started(request, slug, rubric)


@project_view()
def bench_overview(request: ProjectRequest, rubric: str) -> HttpResponse:
    number = whole_number(request.GET.get("version"))
    page = rubric_context(request, rubric, number)
    form = None
    if page["can_edit"] and not page["rubric"].archived_at and page["version"].criteria.all():
        form = bench_form(request, page, initial=initial_values(request, page["rubric"], page["version"]))
    return overview_shown(request, page, form)


@project_view(role="editor")
def bench_start(request: ProjectRequest, rubric: str) -> HttpResponse:
    page = rubric_context(request, rubric)
    form = bench_form(request, page, data=request.POST)
    if form.is_valid() and page["rubric"].archived_at:
        form.add_error(None, "This rubric is archived. Unarchive it to test its judge.")
    if form.is_valid():
        version = version_or_404(page["rubric"], form.cleaned_data["version"])
        candidate, task = candidate_of(request, form, version)
        try:
            bench = bench_create(
                version=version,
                candidate=candidate,
                judge=form.cleaned_data["target"],
                repeats=form.cleaned_data["repeats"],
                task=task,
                temperature=form.cleaned_data["temperature"],
                anchored=form.cleaned_data.get("anchored", False),
                judges=form.cleaned_data["judges"],
                user=request.user,
            )
        except ValidationError as refusal:
            add_refusal(form, refusal)
        else:
            return redirect("rubric_bench_trial", request.project.slug, rubric, bench.pk)
    return overview_shown(request, page, form, status=422)


def bench_form(request: ProjectRequest, page: dict[str, Any], **given: Any) -> BenchForm:
    versions = page["rubric"].versions
    page["offers"] = models_offered()
    return BenchForm(
        versions=list(versions.only("rubric", "number", "note")[:MOST_VERSIONS]),
        rounds=recent_rounds(request.project),
        offers=page["offers"],
        has_calibration=versions.exclude(calibration_text="").exists(),
        **given,
    )


def initial_values(request: ProjectRequest, rubric: Rubric, version: RubricVersion) -> dict[str, Any]:
    """Initial form values: those of an earlier test, and the last used judge."""
    initial: dict[str, Any] = {"version": version.number}
    again = whole_number(request.GET.get("from"))
    earlier = bench_or_404(rubric, again) if again else benches_of(rubric).first()
    if earlier is not None:
        initial["judge"] = f"{earlier.endpoint}/{earlier.model}"
    if earlier is not None and again:
        for name in ("candidate", "task", "repeats", "temperature", "anchored"):
            initial[name] = getattr(earlier, name)
        initial["judges"] = (JudgeMode.BOARD if earlier.panel else JudgeMode.SINGLE).value
    elif version.calibration_text:
        initial["source"] = CandidateOrigin.CALIBRATION
    return initial


def candidate_of(request: ProjectRequest, form: BenchForm, version: RubricVersion) -> tuple[Candidate, str]:
    """The chosen text and its task."""
    values = form.cleaned_data
    if values["source"] == CandidateOrigin.CALIBRATION:
        return Candidate(version.calibration_text, CandidateOrigin.CALIBRATION), values["task"]
    if values["source"] == CandidateOrigin.ROUND:
        found = round_in(request.project, int(values["round"]))
        if found is not None:
            text = Candidate(found.candidate, CandidateOrigin.ROUND, found)
            return text, values["task"] or found.run.task
    return Candidate(values["candidate"]), values["task"]


def add_refusal(form: BenchForm, refusal: ValidationError) -> None:
    """Adds the service's error to the field it refers to."""
    for name, words in refusal.message_dict.items():
        example_missing = name == "candidate" and form.cleaned_data["source"] == CandidateOrigin.CALIBRATION
        if example_missing:
            form.add_error(
                "source", "This version has no calibration example. Choose another version or paste the text."
            )
        else:
            form.add_error(name if name in form.fields else None, words)


def overview_shown(
    request: ProjectRequest, page: dict[str, Any], form: BenchForm | None, status: int = 200
) -> HttpResponse:
    shown = Paginator(benches_of(page["rubric"]), A_PAGE).get_page(request.GET.get("page"))
    outcomes, boards = outcomes_of(list(shown)), board_outcomes(list(shown))
    rows = [(bench, outcome_of(bench, outcomes, boards)) for bench in shown]
    page |= {"form": form, "benches": rows, "page": shown, "pairs": comparable(page["rubric"])}
    return render(request, "refinement/rubrics/bench.html", page, status=status)


def outcome_of(
    bench: Bench, outcomes: Mapping[int, Mapping[str, Any]], boards: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    """A line of the list: counts over all trials, and the composite of the judge or of the board."""
    counted = dict(outcomes.get(bench.pk, {}))
    if bench.panel:
        counted |= boards.get(bench.pk, {"mean": None})
    return counted


# --- one test -------------------------------------------------------------------------------------
@require_safe
@project_view()
def rubric_bench_trial(request: ProjectRequest, rubric: str, bench: int) -> HttpResponse:
    """One test with its current results."""
    if request.htmx and not request.htmx.boosted:
        return bench_polled(request, rubric, bench)
    page, report = bench_page(request, rubric, bench)
    page["scores_form"] = scores_form(page["bench"], report)
    return render(request, "refinement/rubrics/bench_results.html", page)


def bench_polled(request: ProjectRequest, rubric: str, bench: int) -> HttpResponse:
    """The results as a partial: 204 without changes, and a stop of polling at the end."""
    page, _ = bench_page(request, rubric, bench)
    running = page["bench"].is_running
    if running and request.GET.get("seen") == page["state"]:
        return HttpResponse(status=204)
    return render(
        request, "refinement/rubrics/_bench_results.html", page, status=200 if running else STOP_POLLING
    )


def bench_page(request: ProjectRequest, rubric: str, pk: int) -> tuple[dict[str, Any], Report]:
    page = rubric_context(request, rubric)
    bench = bench_or_404(page["rubric"], pk)
    definition, trials = definition_for(bench), trials_of(bench)
    scores, whose = people_scores(bench)
    report = report_for(definition, bench, trials, scores)
    page |= {
        "bench": bench,
        "version": bench.rubric_version,
        "report": report,
        "board": board_report(bench, definition, trials, report, scores) if bench.panel else None,
        "ended": sum(trial.finished_at is not None for trial in trials),
        "state": state_of(trials),
        "finding": finding_of(bench, report),
        "people": people_sentences(report),
        "whose": whose,
        "origin": origin_label(bench),
        "cards": [(trial, readings_of(definition, trial)) for trial in trials],
        "alike": next((trial for trial in trials if trial.status == TrialStatus.DONE), None),
        "others": same_text(bench, page["rubric"]),
    }
    return page, report


def state_of(trials: Sequence[BenchTrial]) -> str:
    """A token for the state of the page; it changes with every row."""
    seen = [(trial.status, trial.calls_made, trial.waiting_for) for trial in trials]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]


def scores_form(bench: Bench, report: Report, data: Any = None) -> HumanScoresForm:
    return HumanScoresForm(data, rubric=report.rubric, given=bench.human_scores)


@require_POST
@project_view(role="editor")
def rubric_bench_cancel(request: ProjectRequest, rubric: str, bench: int) -> HttpResponse:
    """Cancels the remaining trials."""
    page = rubric_context(request, rubric)
    found = bench_or_404(page["rubric"], bench)
    if bench_cancel(bench=found, user=request.user):
        messages.success(request, "Test stopped. Finished trials are kept.")
    else:
        messages.info(request, "The test had already ended.")
    return redirect("rubric_bench_trial", request.project.slug, rubric, bench)


@require_POST
@project_view(role="editor")
def rubric_bench_scores(request: ProjectRequest, rubric: str, bench: int) -> HttpResponse:
    """Human scores to compare with the judge's."""
    page, report = bench_page(request, rubric, bench)
    form = scores_form(page["bench"], report, request.POST)
    if not form.is_valid():
        page |= {"scores_form": form, "scores_open": True}
        return render(request, "refinement/rubrics/bench_results.html", page, status=422)
    bench_scores_set(bench=page["bench"], scores=form.scores(), user=request.user)
    messages.success(request, "Scores saved.")
    return redirect("rubric_bench_trial", request.project.slug, rubric, bench)


@require_safe
@project_view()
def rubric_bench_said(request: ProjectRequest, rubric: str, bench: int, number: int) -> HttpResponse:
    """The messages and reply of one trial; on a board of the judge in `seat`."""
    page = rubric_context(request, rubric)
    found = bench_or_404(page["rubric"], bench)
    trial = trial_or_404(found, number, whole_number(request.GET.get("seat")) or 0)
    page |= {"bench": found, "version": found.rubric_version, "trial": trial}
    partial = request.htmx and not request.htmx.boosted
    template = "_bench_said.html" if partial else "bench_said.html"
    return render(request, f"refinement/rubrics/{template}", page)


# --- two tests ------------------------------------------------------------------------------------
@require_safe
@project_view()
def rubric_bench_compare(request: ProjectRequest, rubric: str) -> HttpResponse:
    """Two tests on the same text, side by side."""
    page = rubric_context(request, rubric)
    first, second = (whole_number(request.GET.get(name)) for name in ("a", "b"))
    if not first or not second:
        page["pairs"] = comparable(page["rubric"])
        return render(request, "refinement/rubrics/bench_compare.html", page)
    before, after = bench_or_404(page["rubric"], first), bench_or_404(page["rubric"], second)
    page |= {"before": before, "after": after, "differs": what_differs(before, after)}
    if before.candidate_sha256 == after.candidate_sha256:
        compared = bench_comparison(report_of(before), report_of(after))
        page |= {"compared": compared, "summary": comparison_sentence(compared)}
        page["rows"] = [(pair, pair_label(pair)) for pair in (*compared.pairs, compared.total)]
    else:
        page["pairs"] = comparable(page["rubric"])
    return render(request, "refinement/rubrics/bench_compare.html", page)


def whole_number(text: str | None) -> int | None:
    """An integer from a query string; None if not valid."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else None
