"""The table editor of a suite: a window of its tasks at a time."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from refinement.access.objects import suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.suites.table import (
    NEW_ROWS,
    WINDOW,
    Row,
    TableRead,
    blank_row,
    renumbered,
    row_copied,
    rows_of,
    rows_sent,
    table_read,
)
from refinement.interchange.suites.types import SuiteTaskText
from refinement.models import SuiteVersion
from refinement.selectors.suites.tasks import task_text, tasks_of
from refinement.services.suites.editing import NOTE_CHARS, NewerVersion, version_save
from refinement.views.suites.context import suite_context, whole
from refinement.views.suites.merging import conflict_page


@dataclass(frozen=True, slots=True)
class Window:
    """The tasks of a version that the form has, and how many there are. Others are read for saving only."""

    inside: tuple[SuiteTaskText, ...]
    start: int
    count: int
    others: tuple[SuiteTaskText, ...] = ()

    @property
    def tasks(self) -> tuple[SuiteTaskText, ...]:
        return self.whole(self.inside)

    def whole(self, inside: tuple[SuiteTaskText, ...]) -> tuple[SuiteTaskText, ...]:
        return (*self.others[: self.start], *inside, *self.others[self.start :])

    @property
    def pages(self) -> range:
        return range(1, max(1, -(-self.count // WINDOW)) + 1)

    @property
    def page(self) -> int:
        return self.start // WINDOW + 1


def start_of(page: str | None, count: int) -> int:
    """How many tasks come before the page with this number."""
    number = min(max(whole(page) or 1, 1), max(1, -(-count // WINDOW)))
    return (number - 1) * WINDOW


def window_shown(version: SuiteVersion, page: str | None) -> Window:
    """The page's tasks alone."""
    start = start_of(page, version.task_count)
    rows = version.tasks.order_by("position")[start : start + WINDOW]
    return Window(tuple(task_text(row) for row in rows), start, version.task_count)


def window_edited(version: SuiteVersion, page: str | None) -> Window:
    """The page's tasks and all others."""
    tasks = tasks_of(version)
    start = start_of(page, len(tasks))
    stop = start + WINDOW
    return Window(tasks[start:stop], start, len(tasks), (*tasks[:start], *tasks[stop:]))


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_edit(request: ProjectRequest, suite: str) -> HttpResponse:
    """The table. Its buttons work without script: each sends the whole form."""
    context = suite_context(request, suite)
    if request.method != "POST":
        window = window_shown(context["version"], request.GET.get("page"))
        rows = rows_of(window.inside)
        while len(rows) < NEW_ROWS and not window.count:
            rows.append(blank_row(rows))
        return table_page(request, context, window, rows)
    edited_from = whole(request.POST.get("edited_from")) or 0
    base = suite_version_or_404(context["suite"], edited_from)
    window = window_edited(base, request.POST.get("page"))
    known = {task.key: task for task in window.inside}
    rows = rows_sent(request.POST, known)
    context["edited_from"] = base.number
    act = request.POST.get("act", "save")
    if act != "save":
        return table_page(request, context, window, rows_after(act, rows))
    read = table_read(rows, known, [task.key for task in window.others], window.start)
    if read.tasks is None:
        return table_page(request, context, window, rows, read)
    return saved(request, context, window, rows, window.whole(read.tasks))


def rows_after(act: str, rows: list[Row]) -> list[Row]:
    """The rows after a button was pressed that does not save."""
    name, _, number = act.partition("-")
    if name == "copy" and (chosen := whole(number)) is not None:
        return row_copied(rows, chosen)
    kept = renumbered(rows)
    return [*kept, blank_row(kept)] if name == "add" else kept


def saved(
    request: ProjectRequest,
    context: dict[str, Any],
    window: Window,
    rows: list[Row],
    tasks: tuple[SuiteTaskText, ...],
) -> HttpResponse:
    note = request.POST.get("note", "").strip()[:NOTE_CHARS]
    edited_from = context["edited_from"]
    try:
        version = version_save(
            suite=context["suite"], tasks=tasks, edited_from=edited_from, user=request.user, note=note
        )
    except NewerVersion:
        if tasks == window.tasks:
            messages.info(request, "No changes to save. You see a newer version now.")
            return redirect("suite_edit", request.project.slug, context["suite"].slug)
        return conflict_page(request, context, edited_from, window.tasks, tasks, note)
    except ValidationError as refused:
        return table_page(request, context, window, rows, problem=" ".join(refused.messages))
    messages.success(request, f"Saved as version {version.number}." if version else "No changes to save.")
    if window.page == 1:
        return redirect("suite_edit", request.project.slug, context["suite"].slug)
    address = reverse("suite_edit", args=[request.project.slug, context["suite"].slug])
    return redirect(f"{address}?page={window.page}")


def table_page(
    request: ProjectRequest,
    context: dict[str, Any],
    window: Window,
    rows: list[Row],
    read: TableRead | None = None,
    problem: str = "",
) -> HttpResponse:
    """The form with these rows, and every problem at its field."""
    context.setdefault("edited_from", context["version"].number)
    values = context | {
        "tab": "edit",
        "window": window,
        "rows": rows,
        "blank": Row(0, "", values={}),
        "problems": list(read.problems) if read else [],
        "problem": problem,
        "note": request.POST.get("note", ""),
        "fresh": request.method != "POST",
    }
    status = 422 if values["problems"] or problem else 200
    return render(request, "refinement/suites/editor.html", values, status=status)
