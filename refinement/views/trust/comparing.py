"""Two judges compared on the same texts."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from refinement.access.judges import figures_or_blind, hidden_rubrics, judge_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import JudgeRecord
from refinement.selectors.trust.comparing import pair_headline, pair_table, weak_words
from refinement.selectors.trust.lists import MOST_OFFERED, judges_of
from refinement.services.trust.reports import judges_wanted
from refinement.views.trust.polling import polling
from refinement.views.trust.ways import place


@require_safe
@project_view()
def trust_compare(request: ProjectRequest) -> HttpResponse:
    """`a` and `b` are judges of one rubric; without them, the two with the most labels are chosen."""
    first, second = chosen(request, "a"), chosen(request, "b")
    if second is None and (likely := likely_pair(request, first)):
        query = {"a": str(likely[0].pk), "b": str(likely[1].pk)}
        return redirect(place("trust_compare", request.project.slug, **query))
    context: dict[str, Any] = {"section": "trust", "a": first, "b": second}
    context["offered"] = offered(request, first)
    if first is not None and second is not None and first != second:
        figures_or_blind(request, first, second)
        context["same_rubric"] = first.rubric_version.rubric_id == second.rubric_version.rubric_id
        if context["same_rubric"]:
            context |= compared(request, first, second)
    is_partial = request.htmx and not request.htmx.boosted
    name = "_comparison" if is_partial else "compare"
    return render(request, f"refinement/trust/{name}.html", context)


def chosen(request: ProjectRequest, name: str) -> JudgeRecord | None:
    text = request.GET.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 18):
        raise Http404("There is no such judge in this project.")
    return judge_or_404(request, int(text))


def offered(request: ProjectRequest, first: JudgeRecord | None) -> list[JudgeRecord]:
    """The judges to choose from; once one is chosen, those of its rubric come first."""
    hidden = hidden_rubrics(request)
    newest = judges_of(request.project)[:MOST_OFFERED]
    rows = [row for row in newest if row.rubric_version.rubric_id not in hidden]
    if first is not None:
        rubric = first.rubric_version.rubric_id
        rows.sort(key=lambda row: row.rubric_version.rubric_id != rubric)
        if first not in rows:
            rows.insert(0, first)
    return rows


def likely_pair(request: ProjectRequest, first: JudgeRecord | None) -> tuple[JudgeRecord, JudgeRecord] | None:
    """The two judges of one rubric with the most labelled texts, one of them the judge that is given."""
    known = [row for row in offered(request, first) if row.labels]
    for row in known if first is None else [first]:
        rubric = row.rubric_version.rubric_id
        for other in known:
            if other != row and other.rubric_version.rubric_id == rubric:
                return row, other
    return None


def compared(request: ProjectRequest, first: JudgeRecord, second: JudgeRecord) -> dict[str, Any]:
    """The stored comparison; a worker is asked for it if there is none, or if newer figures exist."""
    stored = judges_wanted(first, second)
    context: dict[str, Any] = {"stored": stored, "poll": polling(request, stored)}
    if stored.result:
        names = named(first, second)
        context |= {
            "result": stored.result,
            "headline": pair_headline(stored.result, names),
            "table": pair_table(stored.result),
            "weak": weak_words(stored.result["items"]),
        }
    return context


def named(first: JudgeRecord, second: JudgeRecord) -> tuple[str, str]:
    """What tells them apart: the model, the version, or both."""
    if first.rubric_version_id == second.rubric_version_id:
        return first.name, second.name
    versions = first.rubric_version.number, second.rubric_version.number
    if first.key == second.key:
        return f"Version {versions[0]}", f"version {versions[1]}"
    return f"v{versions[0]} × {first.name}", f"v{versions[1]} × {second.name}"
