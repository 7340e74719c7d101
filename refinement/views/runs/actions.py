"""Actions on a run from its page."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRedirect

from refinement.access.objects import run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.models import Run, User
from refinement.services.runs.archiving import run_archive
from refinement.services.runs.creating import tags_set
from refinement.services.runs.lifecycle import (
    WrongState,
    run_cancel,
    run_continue,
    run_pause,
    run_pause_later,
    run_rerun,
    run_resume,
    run_retry,
)
from refinement.services.runs.renaming import run_rename
from refinement.views.runs.page import partial, shown_run


def cancel(request: ProjectRequest, run: Run, user: User) -> str:
    run_cancel(run=run, user=user)
    return "Run stopped. Judged rounds are kept."


def pause(request: ProjectRequest, run: Run, user: User) -> str:
    run_pause(run=run, user=user)
    return "Run paused. Resume it to continue."


def pause_later(request: ProjectRequest, run: Run, user: User) -> str:
    run_pause_later(run=run, user=user)
    return "The run pauses after this round."


def go_on(request: ProjectRequest, run: Run, user: User) -> str:
    run_pause_later(run=run, wanted=False, user=user)
    return "The run does not pause."


def resume(request: ProjectRequest, run: Run, user: User) -> str:
    run_resume(run=run, user=user)
    return "Run resumed."


def retry(request: ProjectRequest, run: Run, user: User) -> str:
    run_retry(run=run, user=user)
    return "Run retried from its last completed step."


def more(request: ProjectRequest, run: Run, user: User) -> str:
    rounds = request.POST.get("rounds", "").strip()
    if not (rounds.isascii() and rounds.isdigit() and len(rounds) < 6):
        raise ValidationError({"rounds": "Enter the number of rounds as a whole number."})
    run_continue(run=run, rounds=int(rounds), user=user)
    count = int(rounds)
    return f"Running {count} more round{'' if count == 1 else 's'} from the best one."


def archive(request: ProjectRequest, run: Run, user: User) -> str:
    run_archive(run=run, user=user)
    return "Run archived."


def unarchive(request: ProjectRequest, run: Run, user: User) -> str:
    run_archive(run=run, user=user, archived=False)
    return "Run unarchived."


def rename(request: ProjectRequest, run: Run, user: User) -> str:
    run_rename(run=run, title=request.POST.get("title", ""), user=user)
    return "Run renamed."


def tags(request: ProjectRequest, run: Run, user: User) -> str:
    kept = tags_set(run=run, names=[request.POST.get("tags", "")])
    return f"Tags saved: {', '.join(kept)}." if kept else "Tags removed."


ACTIONS: dict[str, Callable[[ProjectRequest, Run, User], str]] = {
    "cancel": cancel,
    "pause": pause,
    "pause-later": pause_later,
    "go-on": go_on,
    "resume": resume,
    "retry": retry,
    "continue": more,
    "archive": archive,
    "unarchive": unarchive,
    "rename": rename,
    "tags": tags,
}


@require_POST
@project_view(role="editor")
def run_action(request: ProjectRequest, run: int, action: str) -> HttpResponse:
    """Performs the action and shows the run; an error names the run's state and what is possible."""
    found = run_or_404(request, run)
    if action != "rerun" and action not in ACTIONS:
        raise Http404("Unknown action.")
    try:
        if action == "rerun":
            return rerun(request, found)
        messages.success(request, ACTIONS[action](request, found, request.user))
    except WrongState as refused:
        messages.error(request, str(refused))
        return shown_run(request, run_or_404(request, run), status=422)
    except ValidationError as invalid:
        return shown_run(request, run_or_404(request, run), status=422, **typed(request, invalid))
    return answer(request, run)


def answer(request: ProjectRequest, run: int) -> HttpResponse:
    """The current run: as a partial for htmx, else a redirect to its page."""
    if partial(request):
        return shown_run(request, run_or_404(request, run))
    return redirect("run_page", request.project.slug, run)


def typed(request: ProjectRequest, invalid: ValidationError) -> dict[str, Any]:
    """The submitted values with their errors."""
    kept: dict[str, Any] = {"wrong": invalid.message_dict}
    if "tags" in request.POST:
        kept["typed_tags"] = request.POST["tags"]
    if "title" in request.POST:
        kept["typed_title"] = request.POST["title"]
    if "rounds" in request.POST:
        kept["more_rounds"] = request.POST["rounds"]
    return kept


def rerun(request: ProjectRequest, run: Run) -> HttpResponse:
    """Starts a copy as a new run and redirects to it."""
    again = run_rerun(run=run, user=request.user)
    messages.success(
        request, f"This is run {again.pk}, with the same task, rubric and models as run {run.pk}."
    )
    address = reverse("run_page", args=[request.project.slug, again.pk])
    return HttpResponseClientRedirect(address) if partial(request) else redirect(address)
