"""A source of a run, to read. It contains no scores, so it is also shown to those who score blind."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.engine.codec import rubric_from_json
from refinement.selectors.runs.texts.sources import source_lines, source_open
from refinement.views.runs.page import partial


@require_safe
@project_view()
def run_source(request: ProjectRequest, run: int, position: int) -> HttpResponse:
    """The source as escaped plain text, with the passage from `start` to `end` marked.

    For htmx the text alone; with `form=text` the source itself.
    """
    found = run_or_404(request, run, blind=True)
    rubric = rubric_from_json(found.snapshot)
    start, end = (_number(request.GET.get(name, "")) for name in ("start", "end"))
    source = source_open(found, rubric, position, start, end)
    if source is None:
        raise Http404("Source not found in this run.")
    if request.GET.get("form") == "text":
        whole = f"{source.before}{source.marked}{source.after}"
        return HttpResponse(whole, content_type="text/plain; charset=utf-8")
    context = {"section": "runs", "run": found, "source": source, "sources": source_lines(found, rubric)}
    name = "_source" if partial(request) else "source"
    return render(request, f"refinement/runs/{name}.html", context)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
