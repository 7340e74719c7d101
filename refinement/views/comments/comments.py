"""A single comment: permalink, editing, deletion, history; and names for @mentions."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget

from refinement.access.objects import comment_or_404, reader_of, run_or_404
from refinement.access.projects import ProjectRequest, project_view
from refinement.forms.reviews.comments import EditForm
from refinement.models import Comment
from refinement.selectors.reviews.comments import comment_line, mention_suggestions
from refinement.services.reviews.comments import CommentConflict, comment_delete, comment_edit
from refinement.views.comments.context import threads_partial
from refinement.views.comments.threads import comment_response, run_address, shown_round
from refinement.views.runs.page import partial

MOST_VERSIONS = 100
MOST_TYPED = 120


@require_safe
@project_view()
def comment_page(request: ProjectRequest, run: int, comment: int) -> HttpResponse:
    """Redirects to the comment on its run page, with its whole thread."""
    found = comment_or_404(run_or_404(request, run), comment)
    thread = found.thread
    return redirect(f"{run_address(found.run, thread.round_number)}?thread={thread.pk}#comment-{found.pk}")


@require_http_methods(["GET", "HEAD", "POST"])
@project_view()
def comment_change(request: ProjectRequest, run: int, comment: int) -> HttpResponse:
    """The form for one's own comment. After a concurrent edit it shows both versions."""
    found = comment_or_404(run_or_404(request, run), comment)
    if found.author_id != request.user.pk:
        raise PermissionDenied("You can only edit your own comments.")
    if found.deleted_at is not None:
        raise Http404("This comment was deleted.")
    if request.method != "POST":
        initial = {"body": found.body, "version": found.version}
        return edit_form(request, found, EditForm(initial=initial, auto_id=f"edit-{found.pk}-%s"))
    form = EditForm(request.POST, auto_id=f"edit-{found.pk}-%s")
    if not form.is_valid():
        return edit_form(request, found, form, status=422)
    try:
        given = form.cleaned_data
        changed = comment_edit(comment=found, body=given["body"], version=given["version"], user=request.user)
    except CommentConflict as overtaken:
        found.refresh_from_db()
        return edit_form(request, found, form, status=409, overtaken=str(overtaken))
    changed.run = found.run
    return comment_response(request, changed)


@require_POST
@project_view()
def comment_deletion(request: ProjectRequest, run: int, comment: int) -> HttpResponse:
    """Deletes the comment; its thread stays."""
    found = comment_or_404(run_or_404(request, run), comment)
    note, status = "", 200
    try:
        comment_delete(comment=found, user=request.user, is_owner=request.membership.is_owner)
    except CommentConflict as overtaken:
        note, status = str(overtaken), 409
    if partial(request):
        return threads_partial(
            request, found.run, shown_round(request, found.thread), status=status, talk_note=note
        )
    messages.info(request, note or "Comment deleted.")
    return redirect(run_address(found.run, found.thread.round_number))


@require_safe
@project_view()
def comment_history(request: ProjectRequest, run: int, comment: int) -> HttpResponse:
    """Earlier versions of the comment; of a deleted one only for its author and owners."""
    found = comment_or_404(run_or_404(request, run), comment)
    line = comment_line(found, reader_of(request))
    if not line.may_see_history:
        raise Http404("This comment has no history you can see.")
    edits = list(found.edits.order_by("-version")[:MOST_VERSIONS])
    context = {"section": "runs", "run": found.run, "line": line, "edits": edits}
    return render(request, "refinement/comments/history.html", context)


@require_safe
@project_view()
def mention_names(request: ProjectRequest) -> JsonResponse:
    """Members whose name starts with the typed text, for @mentions."""
    typed = request.GET.get("q", "").replace("\x00", "")[:MOST_TYPED]
    return JsonResponse({"people": mention_suggestions(request.project.pk, typed)})


def edit_form(
    request: ProjectRequest, comment: Comment, form: EditForm, *, status: int = 200, overtaken: str = ""
) -> HttpResponse:
    """The edit form as a page, or in place of the comment."""
    context = {
        "section": "runs",
        "run": comment.run,
        "comment": comment,
        "form": form,
        "overtaken": overtaken,
        "round_asked": request.POST.get("round") or request.GET.get("round", ""),
    }
    if not partial(request):
        return render(request, "refinement/comments/edit.html", context, status=status)
    answer = render(request, "refinement/comments/_edit.html", context, status=status)
    if request.method == "POST":
        # The form targets the threads; a rejected form replaces only itself.
        return reswap(retarget(answer, f"#edit-{comment.pk}"), "outerHTML")
    return answer
