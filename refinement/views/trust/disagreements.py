"""Where a judge and people disagree: the list, and one text with what both said."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from refinement.access.judges import figures_or_blind, judge_or_404
from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import JudgeRecord, Label, LabelSet
from refinement.selectors.trust.disagreements import Case, calibration_query, case_in_report, cases_of
from refinement.selectors.trust.figures import most_disagreed
from refinement.selectors.trust.page import names_of, number_words, patterns, task_patterns
from refinement.selectors.trust.words import Report
from refinement.services.trust.labelling import label_scores_seen_record, label_wrong_mark
from refinement.services.trust.reports import trust_wanted
from refinement.views.trust.polling import polling
from refinement.views.trust.ways import place

PAGE_SIZE = 20


@require_safe
@project_view()
def trust_disagreements(request: ProjectRequest, judge: int) -> HttpResponse:
    """The texts furthest apart first, by criterion."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    stored = trust_wanted(record)
    context: dict[str, Any] = {
        "section": "trust",
        "judge": record,
        "rubric": record.rubric_version.rubric,
        "stored": stored,
        "poll": polling(request, stored),
        "can_edit": can_edit(request),
    }
    if stored.result:
        context |= listed(request, record, stored.result)
    is_partial = request.htmx and not request.htmx.boosted
    name = "_list" if is_partial else "disagreements"
    return render(request, f"refinement/trust/{name}.html", context)


def listed(request: ProjectRequest, record: JudgeRecord, report: Report) -> dict[str, Any]:
    apart, names = report["disagreements"], names_of(report)
    counts = most_disagreed(report)
    wanted = request.GET.get("criterion", "")
    wanted = wanted if wanted in names else ""
    top = [entry for entry in apart["top"] if not wanted or entry["criterion"] == wanted]
    page = Paginator(top, PAGE_SIZE).get_page(request.GET.get("page"))
    total = apart["by_criterion"].get(wanted, 0) if wanted else apart["count"]
    cases = cases_of(record, list(page.object_list), names)
    scores_seen(request, cases)
    is_start = page.number == 1 and not wanted
    return {
        "report": report,
        "scale": report["scale"],
        "apart": number_words(apart["threshold"]),
        "counts": counts,
        "wanted": wanted,
        "wanted_name": names.get(wanted, ""),
        "total": total,
        "listed": len(top),
        "page": page,
        "cases": cases,
        "patterns": [*patterns(apart, counts), *task_patterns(cases)] if is_start else [],
    }


@require_safe
@project_view()
def trust_case(request: ProjectRequest, judge: int, item: str, criterion: str) -> HttpResponse:
    """A text with the judge's and people's scores of one criterion, and why they gave them."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    report = trust_wanted(record).result
    case = case_or_404(record, item, criterion, report)
    scores_seen(request, [case])
    rubric = record.rubric_version.rubric
    example = calibration_query(case)
    context = {
        "section": "trust",
        "judge": record,
        "rubric": rubric,
        "case": case,
        "scale": report["scale"] if report else scale_of(record),
        "can_edit": can_edit(request),
        "calibration_address": f"{place('rubric_calibration', request.project.slug, rubric.slug)}?{example}"
        if example
        else "",
    }
    return render(request, "refinement/trust/case.html", context)


@require_POST
@project_view("editor")
def trust_label_wrong(request: ProjectRequest, judge: int, item: str, criterion: str) -> HttpResponse:
    """Says that a score of this criterion was wrong, so that it no longer counts; or takes it back."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    case = case_or_404(record, item, criterion, None)
    given = request.POST.get("label", "")
    known = {str(opinion.label): opinion for opinion in case.opinions if opinion.label}
    back = redirect("trust_case", request.project.slug, record.pk, case.place, criterion)
    if given not in known:
        messages.error(request, "This label was changed or deleted meanwhile. Choose another one.")
        return back
    label = Label.objects.get(pk=known[given].label)
    wrong = request.POST.get("wrong") != "0"
    criteria = {*label.wrong, criterion} if wrong else {*label.wrong} - {criterion}
    label_wrong_mark(label=label, criteria=sorted(criteria), user=request.user)
    name = known[given].name
    messages.success(
        request,
        f"{name}'s score of {case.name} no longer counts. The figures are being computed again."
        if wrong
        else f"{name}'s score of {case.name} counts again.",
    )
    return back


def case_or_404(record: JudgeRecord, item: str, criterion: str, report: Report | None) -> Case:
    """The text, if it is one of this rubric's."""
    case = case_in_report(record, item, criterion, report)
    if case is None:
        raise Http404("There is no such text among this judge's labels.")
    return case


def scores_seen(request: ProjectRequest, cases: Sequence[Case]) -> None:
    """Later labels by this user of texts in the same sets are not blind."""
    numbers = {case.label_set_pk for case in cases if case.label_set_pk}
    label_sets = LabelSet.objects.filter(pk__in=numbers, archived_at__isnull=True)
    label_scores_seen_record(label_sets=label_sets, user=request.user)


def scale_of(record: JudgeRecord) -> dict[str, float]:
    version = record.rubric_version
    return {"least": float(version.scale_minimum), "most": float(version.scale_maximum)}
