"""Where a judge and people disagree: the list, and one text with what both said."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.judges import figures_or_blind, judge_or_404
from refinement.access.objects import can_edit
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import JudgeRecord
from refinement.selectors.trust.disagreements import Case, case_of, cases_of, item_named
from refinement.selectors.trust.figures import most_disagreed
from refinement.selectors.trust.page import names_of, number_words, patterns
from refinement.selectors.trust.words import Report
from refinement.services.trust.reports import trust_wanted
from refinement.views.trust.polling import polling

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
        "patterns": patterns(cases, counts, apart["count"]) if page.number == 1 and not wanted else [],
    }


@require_safe
@project_view()
def trust_case(request: ProjectRequest, judge: int, item: str, criterion: str) -> HttpResponse:
    """A text with the judge's and people's scores of one criterion, and why they gave them."""
    record = judge_or_404(request, judge)
    figures_or_blind(request, record)
    case, report = case_or_404(record, item, criterion)
    context = {
        "section": "trust",
        "judge": record,
        "rubric": record.rubric_version.rubric,
        "case": case,
        "scale": report["scale"] if report else scale_of(record),
        "can_edit": can_edit(request),
    }
    return render(request, "refinement/trust/case.html", context)


def case_or_404(record: JudgeRecord, item: str, criterion: str) -> tuple[Case, Report | None]:
    """The text if it is one of this rubric's, in a set or a run of the project."""
    report = trust_wanted(record).result
    names = names_of(report) if report else dict(criteria_names(record))
    named = item_named(item)
    entries = report["disagreements"]["top"] if report else []
    case = case_of(record, named, criterion, names, entries) if named and criterion in names else None
    if case is None:
        raise Http404("There is no such text among this judge's labels.")
    return case, report


def criteria_names(record: JudgeRecord) -> list[tuple[str, str]]:
    return [*record.rubric_version.criteria.values_list("key", "name"), ("composite", "Composite")]


def scale_of(record: JudgeRecord) -> dict[str, float]:
    version = record.rubric_version
    return {"least": float(version.scale_minimum), "most": float(version.scale_maximum)}
