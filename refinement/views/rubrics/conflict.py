"""Edit conflicts: the second person to save sees the first one's changes and chooses."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from refinement.access.projects import ProjectRequest
from refinement.engine.types import Rubric
from refinement.forms.rubrics.initial import Fields, form_fields
from refinement.forms.rubrics.merging import Change, differences, merged
from refinement.forms.rubrics.reading import Reading
from refinement.forms.rubrics.telling import ShownDifference, shown_difference
from refinement.forms.rubrics.weights import unit_of
from refinement.selectors.rubrics.definitions import definition_of
from refinement.views.rubrics.context import rubric_context

NOT_CARRIED = ("csrfmiddlewaretoken", "act", "theirs")


def conflict_page(
    request: ProjectRequest, page: dict[str, Any], base: Rubric, fields: Fields, mine: Reading
) -> HttpResponse:
    """Both sides' changes since the edited version; nothing is saved yet."""
    assert mine.definition is not None
    newest = rubric_context(request, page["rubric"].slug)
    theirs = definition_of(newest["version"])
    entries = [
        shown_difference(entry, mine.definition, theirs)
        for entry in differences(base, mine.definition, theirs)
    ]
    values = newest | {
        "tab": "edit",
        "edited_from": page["version"].number,
        "carried": _carried(fields),
        "chosen_theirs": {name for name, value in fields.items() if value == "theirs"},
        **_sorted(entries),
    }
    partial = request.htmx and not request.htmx.boosted
    name = "editor/_conflict.html" if partial else "editor_conflict.html"
    return render(request, f"refinement/rubrics/{name}", values, status=409)


def _sorted(entries: list[ShownDifference]) -> dict[str, list[ShownDifference]]:
    return {
        "choices": [entry for entry in entries if entry.change is Change.BOTH],
        "their_changes": [entry for entry in entries if entry.change is Change.THEIRS],
        "my_changes": [entry for entry in entries if entry.change is Change.MINE],
        "same_changes": [entry for entry in entries if entry.change is Change.SAME],
    }


def _carried(fields: Fields) -> list[tuple[str, str]]:
    return [
        (name, value)
        for name, value in fields.items()
        if name not in NOT_CARRIED and not name.startswith("choose.")
    ]


def merged_fields(base: Rubric, mine: Reading, theirs: Rubric, fields: Fields) -> Fields:
    """The form fields with both sides' changes, and the form's own fields."""
    assert mine.definition is not None
    values = merged(base, mine.definition, theirs, fields)
    unit = unit_of(criterion.weight for criterion in theirs.criteria)
    joined = form_fields(values, mine.renamed, unit)
    return joined | {name: fields[name] for name in ("note", "draft", "try-text") if name in fields}
