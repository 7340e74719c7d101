"""Edit conflicts: the second person to save sees the first one's changes and chooses."""

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from refinement.access.objects import suite_or_404, suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.interchange.rubrics.yaml_reading import BadFile
from refinement.interchange.suites.merging import merged
from refinement.interchange.suites.reading import tasks_from_values
from refinement.interchange.suites.tables import as_json
from refinement.interchange.suites.types import SuiteTaskText
from refinement.interchange.suites.yaml import task_fields
from refinement.selectors.suites.comparisons import LABELS, field_text, tasks_compared
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.suites.editing import NOTE_CHARS, NewerVersion, version_save
from refinement.views.suites.context import suite_context, whole

Tasks = tuple[SuiteTaskText, ...]
SHOWN_CHARS = 1_500


def conflict_page(
    request: ProjectRequest, context: dict[str, Any], edited_from: int, base: Tasks, mine: Tasks, note: str
) -> HttpResponse:
    """Both sides' changes since the edited version; nothing is saved yet."""
    newest = suite_context(request, context["suite"].slug)
    theirs = tasks_of(newest["version"])
    joined = merged(base, mine, theirs)
    values = newest | {
        "tab": "edit",
        "edited_from": edited_from,
        "mine": mine_packed(base, mine),
        "note": note,
        "conflicts": [
            {
                "key": entry.key,
                "mine": sides(entry.mine, entry.theirs),
                "theirs": sides(entry.theirs, entry.mine),
            }
            for entry in joined.conflicts
        ],
        "their_changes": tasks_compared(base, theirs),
        "my_changes": tasks_compared(base, mine),
    }
    return render(request, "refinement/suites/conflict.html", values, status=409)


def sides(task: SuiteTaskText | None, other: SuiteTaskText | None) -> list[tuple[str, str]] | None:
    """A task's fields that the other side has differently; None if the task was removed."""
    if task is None:
        return None
    texts = [(name, label, field_text(task, name)) for name, label in LABELS.items()]
    return [
        (label, text[:SHOWN_CHARS])
        for name, label, text in texts
        if (other is None and text) or (other is not None and text != field_text(other, name))
    ]


def mine_packed(base: Tasks, mine: Tasks) -> str:
    """My edit as JSON: the order of all tasks, and the changed ones whole."""
    old = {task.key: task for task in base}
    changed = [task_fields(task) for task in mine if old.get(task.key) != task]
    return as_json({"order": [task.key for task in mine], "changed": changed})


def mine_unpacked(base: Tasks, text: str) -> Tasks:
    """The edit from its JSON, validated. Raises Http404 if it is not one."""
    try:
        packed = json.loads(text)
        order, values = packed["order"], packed["changed"]
        changed = {task.key: task for task in tasks_from_values(values)} if values else {}
    except (BadFile, AttributeError, KeyError, RecursionError, TypeError, ValueError):
        raise Http404("This edit cannot be read. Go back and save again.") from None
    known = {task.key: task for task in base} | changed
    keys: Sequence[object] = order if isinstance(order, list) else []
    return tuple(known[key] for key in dict.fromkeys(keys) if isinstance(key, str) and key in known)


@require_POST
@project_view(role="editor")
def suite_merge(request: ProjectRequest, suite: str) -> HttpResponse:
    """Saves both edits as the next version, with a choice for each task that both changed."""
    row = suite_or_404(request, suite)
    edited_from, seen = (whole(request.POST.get(name)) for name in ("edited_from", "theirs"))
    if edited_from is None or seen is None:
        messages.error(request, "Nothing was saved. Edit the suite and save again.")
        return redirect("suite_edit", request.project.slug, suite)
    base = tasks_of(suite_version_or_404(row, edited_from))
    theirs = tasks_of(suite_version_or_404(row, seen))
    mine = mine_unpacked(base, request.POST.get("mine", ""))
    note = request.POST.get("note", "").strip()[:NOTE_CHARS]
    keep = {name.removeprefix("keep.") for name, value in request.POST.items() if value == "theirs"}
    joined = merged(base, mine, theirs, keep)
    try:
        version = version_save(suite=row, tasks=joined.tasks, edited_from=seen, user=request.user, note=note)
    except NewerVersion:
        return conflict_page(request, suite_context(request, suite), edited_from, base, mine, note)
    except ValidationError as refused:
        messages.error(request, f"Nothing was saved. {' '.join(refused.messages)}")
        return redirect("suite_edit", request.project.slug, suite)
    if version is None:
        messages.info(request, "No changes to save.")
    else:
        messages.success(request, f"Saved both edits as version {version.number}.")
    return redirect("suite_page", request.project.slug, suite)
