"""Comments on runs: open, reply to and resolve threads; edit and delete comments."""

from collections.abc import Mapping

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.utils import timezone

from refinement.execution.events import event_record
from refinement.mentioning import Person, mentioned_in
from refinement.models import Comment, CommentEdit, EventKind, Membership, Run, Thread, User
from refinement.services.audit import audit_record
from refinement.services.notices.creating import notice_comment
from refinement.services.reviews.comment_spots import Spot, spot_checked
from refinement.services.webhooks.events import hook_comment_created
from refinement.texts import storable

MOST_CHARS = 20_000


class CommentConflict(Exception):
    """The comment or thread has changed in the meantime. The message says how."""


@transaction.atomic
def thread_open(*, run: Run, spot: Spot, body: str, user: User) -> Comment:
    """Open a thread at a place of the run with its first comment. Raises ValidationError."""
    body = body_checked(body)
    checked = spot_checked(run, spot)
    quotation = checked.quotation
    thread = Thread.objects.create(
        project_id=run.project_id,
        run=run,
        place=checked.place,
        round_number=checked.round_number,
        key=checked.key,
        position=checked.position,
        quote=quotation.text if quotation else "",
        quote_before=quotation.before if quotation else "",
        quote_after=quotation.after if quotation else "",
        quote_start=quotation.start if quotation else None,
    )
    return comment_add(thread=thread, body=body, user=user)


@transaction.atomic
def comment_add(*, thread: Thread, body: str, user: User) -> Comment:
    """Add a comment to the thread, and notify mentioned people and earlier participants."""
    comment = Comment.objects.create(
        thread=thread,
        run=thread.run,
        author=user,
        author_name=user.display_name[:120],
        body=body_checked(body),
    )
    mentioned = _mentioned(comment)
    comment.mentioned.set(mentioned)
    _record("comment.create", comment, user, after={"run": thread.run_id, "thread": thread.pk})
    _announce(thread, user, comment)
    notice_comment(comment, mentioned=mentioned)
    hook_comment_created(comment)
    return comment


@transaction.atomic
def comment_edit(*, comment: Comment, body: str, version: int, user: User) -> Comment:
    """Edit one's own comment; the previous text is kept.

    Raises CommentConflict if `version` is no longer the newest, PermissionDenied, ValidationError.
    """
    body = body_checked(body)
    row = _locked(comment)
    if row.author_id != user.pk:
        raise PermissionDenied("Only the author of a comment can edit it.")
    if row.version != version:
        raise CommentConflict("You edited this comment in another window. Compare both versions.")
    if row.body == body:
        return row
    CommentEdit.objects.create(comment=row, version=row.version, body=row.body)
    row.body, row.version, row.edited_at = body, row.version + 1, timezone.now()
    row.save(update_fields=["body", "version", "edited_at"])
    mentioned = _mentioned(row)
    row.mentioned.set(mentioned)
    _record("comment.edit", row, user, before={"version": version}, after={"version": row.version})
    _announce(row.thread, user, row)
    notice_comment(row, mentioned=mentioned, replied=False)
    return row


@transaction.atomic
def comment_delete(*, comment: Comment, user: User, is_owner: bool = False) -> Comment:
    """Delete a comment, as its author or a project owner. Raises CommentConflict, PermissionDenied."""
    row = _locked(comment)
    if row.author_id != user.pk and not is_owner:
        raise PermissionDenied("Only the author of a comment or a project owner can delete it.")
    CommentEdit.objects.create(comment=row, version=row.version, body=row.body)
    row.body, row.version, row.deleted_at = "", row.version + 1, timezone.now()
    row.save(update_fields=["body", "version", "deleted_at"])
    row.mentioned.clear()
    _record("comment.delete", row, user, before={"author": row.author_name})
    _announce(row.thread, user, row)
    return row


@transaction.atomic
def thread_resolve(*, thread: Thread, user: User, resolved: bool = True) -> Thread:
    """Resolve or reopen the thread. Raises CommentConflict if it is already in that state."""
    row = (
        Thread.objects.select_for_update(of=("self",)).select_related("run", "resolved_by").get(pk=thread.pk)
    )
    if row.is_resolved == resolved:
        raise CommentConflict(_conflict_message(row))
    row.resolved_at = timezone.now() if resolved else None
    row.resolved_by = user if resolved else None
    row.save(update_fields=["resolved_at", "resolved_by"])
    audit_record(
        action="thread.resolve" if resolved else "thread.reopen",
        object_type="thread",
        object_id=row.pk,
        project=row.run.project,
        user=user,
        after={"run": row.run_id},
    )
    _announce(row, user)
    return row


def body_checked(body: str) -> str:
    """The comment text as it is stored. Raises ValidationError if it is empty or too long."""
    text = storable(body).replace("\r\n", "\n").strip()
    if not text:
        raise ValidationError({"body": "Enter a comment."})
    if len(text) > MOST_CHARS:
        raise ValidationError(
            {"body": f"A comment can have {MOST_CHARS:,} characters; this one has {len(text):,}."}
        )
    return text


def _conflict_message(thread: Thread) -> str:
    if not thread.is_resolved:
        return "This thread has already been reopened."
    name = thread.resolved_by.display_name if thread.resolved_by else "Someone"
    return f"{name} has already resolved this thread."


def _locked(comment: Comment) -> Comment:
    """The current comment, locked. Raises CommentConflict if it was deleted."""
    rows = Comment.objects.select_for_update(of=("self",)).select_related("thread", "run__project", "author")
    row = rows.get(pk=comment.pk)
    if row.deleted_at is not None:
        raise CommentConflict("This comment was deleted in the meantime.")
    return row


def _mentioned(comment: Comment) -> list[int]:
    """Ids of the members that the comment mentions."""
    if "@" not in comment.body:
        return []
    rows = Membership.objects.filter(project=comment.run.project_id, user__is_active=True)
    people = [
        Person(number, name, email.partition("@")[0])
        for number, name, email in rows.values_list("user_id", "user__name", "user__email")
    ]
    return mentioned_in(comment.body, people)


def _announce(thread: Thread, user: User, comment: Comment | None = None) -> None:
    """Tell open pages of the run which thread changed, without its content."""
    where: dict[str, object] = {"thread": thread.pk}
    if comment is not None:
        where["comment"] = comment.pk
    event_record(thread.run_id, EventKind.COMMENTED, actor=user.display_name, user=user, data=where)


def _record(
    action: str,
    comment: Comment,
    user: User,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    audit_record(
        action=action,
        object_type="comment",
        object_id=comment.pk,
        project=comment.run.project,
        user=user,
        before=before,
        after=after,
    )
