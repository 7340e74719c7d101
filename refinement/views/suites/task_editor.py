"""The form of a whole task: edit one, or add one at the end of the suite."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from refinement.access.objects import suite_task_or_404, suite_version_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.suites.task import CHECK_EXAMPLE, TaskFields, fields_of, fields_sent, task_read
from refinement.interchange.suites.types import SuiteTaskText
from refinement.judging.checks import KINDS
from refinement.selectors.suites.tasks import task_text, tasks_of
from refinement.services.suites.editing import NOTE_CHARS, NewerVersion, version_save
from refinement.views.suites.context import suite_context, whole
from refinement.views.suites.merging import conflict_page


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_task_new(request: ProjectRequest, suite: str) -> HttpResponse:
    """A new task at the end."""
    return task_form(request, suite_context(request, suite), None)


@require_http_methods(["GET", "HEAD", "POST"])
@project_view(role="editor")
def suite_task_edit(request: ProjectRequest, suite: str, key: str) -> HttpResponse:
    """A task with all its texts, sources and checks."""
    context = suite_context(request, suite)
    if request.method == "POST":
        context["version"] = edited_version(request, context)
    return task_form(request, context, task_text(suite_task_or_404(context["version"], key)))


def edited_version(request: ProjectRequest, context: dict[str, Any]) -> Any:
    return suite_version_or_404(context["suite"], whole(request.POST.get("edited_from")) or 0)


def task_form(request: ProjectRequest, context: dict[str, Any], task: SuiteTaskText | None) -> HttpResponse:
    if request.method != "POST":
        return task_page(request, context, task, fields_of(task))
    base = edited_version(request, context)
    context["version"] = base
    fields = fields_sent(request.POST)
    if request.POST.get("act") == "show":
        return task_page(request, context, task, fields)
    tasks = tasks_of(base)
    changed = task_read(fields, [entry.key for entry in tasks if task is None or entry.key != task.key])
    if changed is None:
        return task_page(request, context, task, fields)
    replaced = [changed if task is not None and entry.key == task.key else entry for entry in tasks]
    mine = tuple(replaced) if task is not None else (*tasks, changed)
    note = request.POST.get("note", "").strip()[:NOTE_CHARS]
    try:
        version = version_save(
            suite=context["suite"], tasks=mine, edited_from=base.number, user=request.user, note=note
        )
    except NewerVersion:
        if mine == tasks:
            messages.info(request, "No changes to save. You see a newer version now.")
            return redirect("suite_page", request.project.slug, context["suite"].slug)
        return conflict_page(request, context, base.number, tasks, mine, note)
    except ValidationError as refused:
        fields.errors["task"] = list(refused.messages)
        return task_page(request, context, task, fields)
    messages.success(request, f"Saved as version {version.number}." if version else "No changes to save.")
    return redirect("suite_task", request.project.slug, context["suite"].slug, changed.key)


def task_page(
    request: ProjectRequest, context: dict[str, Any], task: SuiteTaskText | None, fields: TaskFields
) -> HttpResponse:
    values = context | {
        "task": task,
        "fields": fields,
        "kinds": KINDS.values(),
        "example": CHECK_EXAMPLE,
        "note": request.POST.get("note", ""),
    }
    return render(request, "refinement/suites/task_editor.html", values, status=422 if fields.errors else 200)
