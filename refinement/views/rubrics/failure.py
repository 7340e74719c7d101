"""A failure category that the rubric editor makes into a check, so that code finds it without a judge."""

from textwrap import shorten
from typing import Any

from django.db.models import Max
from django.http import Http404

from refinement.access.projects import ProjectRequest
from refinement.engine.types import Severity
from refinement.forms.rubrics.initial import Fields
from refinement.forms.rubrics.page import with_check
from refinement.forms.rubrics.reading import NOTE_LIMIT
from refinement.forms.rubrics.rows import KEY_LIMIT, SUGGESTION_LIMIT, next_number
from refinement.judging.checks import KINDS
from refinement.models import FailureCategory
from refinement.selectors.failures.issues import issues_in
from refinement.views.failures.categories import category_or_404

OFFERED = ("contains-any", "not-contains", "regex", "length")
MOST_EXAMPLES = 3


def failure_asked(request: ProjectRequest) -> dict[str, Any]:
    """The category that `?failure=NUMBER` names, with examples and the kinds of checks; often nothing."""
    given = request.GET.get("failure", "")
    if not given:
        return {}
    if not (given.isascii() and given.isdigit() and len(given) < 19):
        raise Http404("There is no such category in this project.")
    category = category_or_404(request, int(given))
    kind = request.GET.get("kind", "")
    worded = issues_in(request.project, category).order_by().values_list("excerpt")
    typical = worded.annotate(best=Max("closeness"), newest=Max("pk")).order_by("-best", "-newest")
    return {
        "failure": category,
        "failure_kind": kind if kind in OFFERED else OFFERED[0],
        "failure_kinds": [(name, KINDS[name].label) for name in OFFERED],
        "failure_examples": [excerpt for excerpt, *_ in typical[:MOST_EXAMPLES]],
    }


def with_failure(fields: Fields, page: dict[str, Any]) -> Fields:
    """The editor's fields with a check that is prepared for the category; its parameters are still empty."""
    category: FailureCategory | None = page.get("failure")
    if category is None:
        return fields
    start = f"check-{next_number(fields, 'check')}-"
    name = category.shown_name
    prepared = {
        "key": shorten(name, KEY_LIMIT, placeholder="") or name[:KEY_LIMIT],
        "severity": Severity.WARNING.value,
        "suggestion": (category.note or name)[:SUGGESTION_LIMIT],
    }
    note = f"Adds a check for “{name}”."[:NOTE_LIMIT]
    added = with_check(fields, page["failure_kind"])
    return added | {start + part: text for part, text in prepared.items()} | {"note": note}
