"""Threads of a run: list, create, reply, resolve."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from refinement.access.objects import run_or_404, thread_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.reviews.comments import ReplyForm, ThreadForm, places_of
from refinement.models import Comment, Run, Thread
from refinement.selectors.runs.page import run_facts
from refinement.selectors.runs.rounds import round_facts
from refinement.services.reviews.comments import CommentConflict, comment_add, thread_open, thread_resolve
from refinement.services.reviews.telling import thread_tell
from refinement.views.comments.context import Refused, number_in, threads_partial
from refinement.views.runs.page import partial, shown_run


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def run_threads(request: ProjectRequest, run: int) -> HttpResponse:
    """The threads of a round as a partial; POST creates one."""
    found = run_or_404(request, run)
    if request.method == "POST":
        return opened(request, found)
    number = number_in(request.GET.get("round", ""))
    if partial(request):
        return threads_partial(request, found, number)
    return redirect(run_address(found, number))


@require_POST
@project_view()
def thread_reply(request: ProjectRequest, run: int, thread: int) -> HttpResponse:
    """Adds a comment to a thread."""
    found = run_or_404(request, run)
    row = thread_or_404(found, thread)
    form = ReplyForm(request.POST)
    if not form.is_valid():
        words = tuple(str(error) for error in form.errors.get("body", []))
        typed = request.POST.get("body", "")
        return refused(request, found, row.round_number, Refused(str(row.pk), words, typed))
    comment = comment_add(thread=row, body=form.cleaned_data["body"], user=request.user)
    return comment_response(request, comment)


@require_POST
@project_view()
def thread_resolution(request: ProjectRequest, run: int, thread: int) -> HttpResponse:
    """Resolves or reopens a thread; after a concurrent change it names who did it."""
    found = run_or_404(request, run)
    row = thread_or_404(found, thread)
    resolved = request.POST.get("resolved") != "0"
    note, status = "", 200
    try:
        thread_resolve(thread=row, user=request.user, resolved=resolved)
    except CommentConflict as overtaken:
        note, status = str(overtaken), 409
    if partial(request):
        return threads_partial(request, found, shown_round(request, row), status=status, talk_note=note)
    if note:
        messages.info(request, note)
    return redirect(f"{run_address(found, row.round_number)}?thread={row.pk}#thread-{row.pk}")


@require_POST
@project_view(role="editor")
def thread_instruct(request: ProjectRequest, run: int, thread: int) -> HttpResponse:
    """Adds the thread's first comment to the instructions for the next round."""
    found = run_or_404(request, run)
    row = thread_or_404(found, thread)
    try:
        thread_tell(thread=row, user=request.user)
    except ValidationError as invalid:
        note, status = " ".join(invalid.messages), 422
    else:
        note, status = "Added to the instructions for the next round.", 200
    if partial(request):
        return threads_partial(request, found, shown_round(request, row), status=status, talk_note=note)
    (messages.success if status == 200 else messages.error)(request, note)
    return redirect(f"{run_address(found, row.round_number)}?thread={row.pk}#thread-{row.pk}")


def opened(request: ProjectRequest, run: Run) -> HttpResponse:
    """Creates a thread. Errors are shown at their field, and the typed text is kept."""
    number = number_in(request.POST.get("round", ""))
    facts = run_facts(run)
    found = round_facts(run, facts.rubric, number) if number is not None else None
    if number is not None and found is None:
        raise Http404("Round not found in this run.")
    form = ThreadForm(request.POST, number=number, choices=places_of(found))
    if form.is_valid():
        try:
            comment = thread_open(run=run, spot=form.spot, body=form.cleaned_data["body"], user=request.user)
        except ValidationError as wrong:
            form.add_error(None, wrong)
        else:
            return comment_response(request, comment)
    words = tuple(str(error) for errors in form.errors.values() for error in errors)
    where = "passage" if request.POST.get("beside") and partial(request) else "new"
    return refused(request, run, number, Refused(where, words), thread_form=form)


def comment_response(request: ProjectRequest, comment: Comment) -> HttpResponse:
    """The threads with the new comment, or without script a redirect to it."""
    thread = comment.thread
    if partial(request):
        return threads_partial(request, comment.run, shown_round(request, thread))
    address = run_address(comment.run, thread.round_number)
    return redirect(f"{address}?thread={thread.pk}#comment-{comment.pk}")


def refused(
    request: ProjectRequest, run: Run, number: int | None, wrong: Refused, **more: object
) -> HttpResponse:
    if partial(request):
        shown = number_in(request.POST.get("round", "")) or number
        return threads_partial(request, run, shown, status=422, talk_wrong=wrong, **more)
    return shown_run(request, run, number, status=422, talk_wrong=wrong, **more)


def shown_round(request: ProjectRequest, thread: Thread) -> int | None:
    """The round the open page shows, else the thread's own."""
    return number_in(request.POST.get("round", "")) or thread.round_number


def run_address(run: Run, number: int | None) -> str:
    slug = run.project.slug
    if number is None:
        return reverse("run_page", args=[slug, run.pk])
    return reverse("run_round", args=[slug, run.pk, number])
