"""What people say about a run: threads opened, answered, resolved; comments changed and deleted."""

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


class Overtaken(Exception):
    """Somebody else was first; the message says what they did."""


@transaction.atomic
def thread_open(*, run: Run, spot: Spot, body: str, user: User) -> Comment:
    """A new thread on a place of the run, with its first comment; raises ValidationError."""
    body = body_checked(body)
    kept = spot_checked(run, spot)
    quotation = kept.quotation
    thread = Thread.objects.create(
        project_id=run.project_id,
        run=run,
        place=kept.place,
        round_number=kept.round_number,
        key=kept.key,
        position=kept.position,
        quote=quotation.text if quotation else "",
        quote_before=quotation.before if quotation else "",
        quote_after=quotation.after if quotation else "",
        quote_start=quotation.start if quotation else None,
    )
    return comment_add(thread=thread, body=body, user=user)


@transaction.atomic
def comment_add(*, thread: Thread, body: str, user: User) -> Comment:
    """One more comment in the thread; tells those it mentions and those who talked there before."""
    comment = Comment.objects.create(
        thread=thread,
        run=thread.run,
        author=user,
        author_name=user.display_name[:120],
        body=body_checked(body),
    )
    called = _mentioned(comment)
    comment.mentioned.set(called)
    _record("comment.create", comment, user, after={"run": thread.run_id, "thread": thread.pk})
    _announce(thread, user, comment)
    notice_comment(comment, mentioned=called)
    hook_comment_created(comment)
    return comment


@transaction.atomic
def comment_edit(*, comment: Comment, body: str, version: int, user: User) -> Comment:
    """Other words for one's own comment; what it said before is kept. Raises Overtaken, ValidationError."""
    body = body_checked(body)
    row = _locked(comment)
    if row.author_id != user.pk:
        raise PermissionDenied("Only who wrote a comment can change it.")
    if row.version != version:
        raise Overtaken("You have changed this comment elsewhere in the meantime; see both, and choose.")
    if row.body == body:
        return row
    CommentEdit.objects.create(comment=row, version=row.version, body=row.body)
    row.body, row.version, row.edited_at = body, row.version + 1, timezone.now()
    row.save(update_fields=["body", "version", "edited_at"])
    called = _mentioned(row)
    row.mentioned.set(called)
    _record("comment.edit", row, user, before={"version": version}, after={"version": row.version})
    _announce(row.thread, user, row)
    notice_comment(row, mentioned=called, replied=False)
    return row


@transaction.atomic
def comment_delete(*, comment: Comment, user: User, is_owner: bool = False) -> Comment:
    """Takes a comment away, one's own or as the project's owner; raises Overtaken, PermissionDenied."""
    row = _locked(comment)
    if row.author_id != user.pk and not is_owner:
        raise PermissionDenied("Only who wrote a comment, or an owner of the project, can delete it.")
    CommentEdit.objects.create(comment=row, version=row.version, body=row.body)
    row.body, row.version, row.deleted_at = "", row.version + 1, timezone.now()
    row.save(update_fields=["body", "version", "deleted_at"])
    row.mentioned.clear()
    _record("comment.delete", row, user, before={"author": row.author_name})
    _announce(row.thread, user, row)
    return row


@transaction.atomic
def thread_resolve(*, thread: Thread, user: User, resolved: bool = True) -> Thread:
    """Marks the thread as settled, or as open again; raises Overtaken where somebody did so before."""
    row = (
        Thread.objects.select_for_update(of=("self",)).select_related("run", "resolved_by").get(pk=thread.pk)
    )
    if row.is_resolved == resolved:
        raise Overtaken(_already(row))
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
    """The words as they are kept; raises ValidationError where there are none, or too many."""
    kept = storable(body).replace("\r\n", "\n").strip()
    if not kept:
        raise ValidationError({"body": "Write something first."})
    if len(kept) > MOST_CHARS:
        raise ValidationError(
            {"body": f"A comment can have {MOST_CHARS:,} characters; this one has {len(kept):,}."}
        )
    return kept


def _already(thread: Thread) -> str:
    if not thread.is_resolved:
        return "The thread was opened again before you did so."
    name = thread.resolved_by.display_name if thread.resolved_by else "Somebody"
    return f"{name} resolved this thread before you did."


def _locked(comment: Comment) -> Comment:
    """The comment as it is now, held until the transaction ends; raises Overtaken where it is deleted."""
    rows = Comment.objects.select_for_update(of=("self",)).select_related("thread", "run__project", "author")
    row = rows.get(pk=comment.pk)
    if row.deleted_at is not None:
        raise Overtaken("The comment was deleted in the meantime.")
    return row


def _mentioned(comment: Comment) -> list[int]:
    """The members whom the comment calls by name."""
    if "@" not in comment.body:
        return []
    rows = Membership.objects.filter(project=comment.run.project_id, user__is_active=True)
    people = [
        Person(number, name, email.partition("@")[0])
        for number, name, email in rows.values_list("user_id", "user__name", "user__email")
    ]
    return mentioned_in(comment.body, people)


def _announce(thread: Thread, user: User, comment: Comment | None = None) -> None:
    """Tells the run's open pages where something changed, and nothing of what was said."""
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
