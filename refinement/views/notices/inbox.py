"""The inbox and notification settings."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from refinement.access.projects import SignedInRequest
from refinement.models import Notice, NoticeKind
from refinement.selectors.experiments.addresses import experiment_path
from refinement.selectors.reviews.notices import choices_of, inbox_page, notices_of
from refinement.services.notices.reading import notice_choices_set, notice_read, notices_read_all

MOST_DIGITS = 18


@require_safe
def inbox(request: SignedInRequest) -> HttpResponse:
    """A page of notices, unread ones first."""
    unread_only = request.GET.get("show") == "unread"
    page = inbox_page(request.user, unread_only=unread_only, cursor=request.GET.get("after", ""))
    kept = {"show": "unread"} if unread_only else {}
    context = {
        "section": "inbox",
        "page": page,
        "unread_only": unread_only,
        "older": urlencode({**kept, "after": page.older}) if page.older else "",
    }
    return render(request, "refinement/notices/inbox.html", context)


@require_safe
def inbox_open(request: SignedInRequest, notice: int) -> HttpResponse:
    """Redirects to a notice's subject and marks the notice as read."""
    row = notice_or_404(request, notice)
    if request.method == "GET":
        notice_read(notice=row)
    if row.comment_id is not None:
        return redirect("comment_page", row.project.slug, row.run_id, row.comment_id)
    if row.experiment_id is not None:
        return redirect(experiment_path(row.project.slug, row.experiment_id))
    return redirect("run_page", row.project.slug, row.run_id)


@require_POST
def inbox_read(request: SignedInRequest, notice: int) -> HttpResponse:
    """Marks a notice as read or unread."""
    notice_read(notice=notice_or_404(request, notice), read=request.POST.get("read") != "0")
    return back(request)


@require_POST
def inbox_read_all(request: SignedInRequest) -> HttpResponse:
    """Marks all notices as read that existed when the page was rendered."""
    newest = request.POST.get("newest", "")
    if newest.isascii() and newest.isdigit() and len(newest) <= MOST_DIGITS:
        count = notices_read_all(user=request.user, newest=int(newest))
        messages.success(request, f"{count} marked as read." if count else "Everything was already read.")
    return back(request)


@require_http_methods(["GET", "HEAD", "POST"])
def notice_settings(request: SignedInRequest) -> HttpResponse:
    """For each kind of notice: in the inbox, and by email if email is set up."""
    if request.method == "POST":
        known = set(NoticeKind.values)
        notice_choices_set(
            user=request.user,
            inbox=known & set(request.POST.getlist("inbox")),
            mail=known & set(request.POST.getlist("mail")) if settings.MAIL_CONFIGURED else None,
        )
        messages.success(request, "Saved. Applies to new notifications.")
        return redirect("notice_settings")
    return render(request, "refinement/notices/settings.html", {"choices": choices_of(request.user)})


def notice_or_404(request: SignedInRequest, number: int) -> Notice:
    found = notices_of(request.user).select_related("project").filter(pk=number).first()
    if found is None:
        raise Http404("Notification not found in your inbox.")
    return found


def back(request: SignedInRequest) -> HttpResponse:
    """Redirects to the list the form was on."""
    answer = redirect("inbox")
    if request.POST.get("show") == "unread":
        answer["Location"] += "?show=unread"
    return answer
