"""Where a judge's page leads: to labels, to measurements, to its rubric."""

from functools import cache
from typing import Any

from django.http import QueryDict
from django.template import TemplateDoesNotExist
from django.template.loader import get_template
from django.urls import NoReverseMatch, reverse

from refinement.access.projects import ProjectRequest
from refinement.models import JudgeRecord
from refinement.selectors.trust.lists import label_set_of


def ways_to_measure(request: ProjectRequest, record: JudgeRecord) -> dict[str, Any]:
    """Addresses of what can be done next; one query."""
    slug, rubric = request.project.slug, record.rubric_version.rubric
    labels = label_set_of(rubric)
    own = {"judge": str(record.pk)}
    return {
        "rubric": rubric,
        "label_set": labels,
        "label_address": place("label_queue", slug, labels.pk) if labels else "",
        "label_set_address": place("label_set_page", slug, labels.pk) if labels else "",
        "label_new_address": place("label_set_new", slug, rubric=rubric.slug),
        "label_import_address": place("label_set_import", slug, rubric=rubric.slug),
        "retest_address": place("retest_new", slug, **own),
        "planted_address": place("planted_new", slug, **own),
        "replay_address": place("replay_new", slug, **own),
    }


def place(name: str, *args: object, **query: str) -> str:
    """The address of a page with its query."""
    try:
        address = reverse(name, args=args)
    except NoReverseMatch:
        return ""
    if not query:
        return address
    data = QueryDict(mutable=True)
    data.update(query)
    return f"{address}?{data.urlencode()}"


@cache
def partial_or_none(name: str) -> str:
    """The path of a partial of these pages, or nothing if it does not exist."""
    path = f"refinement/trust/{name}.html"
    try:
        get_template(path)
    except TemplateDoesNotExist:
        return ""
    return path
