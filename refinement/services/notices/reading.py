"""Mark notices as read, choose which kinds to get, and delete old ones."""

from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from refinement.models import Notice, NoticeChoice, NoticeKind, User
from refinement.services.audit import audit_record

KEPT = timedelta(days=90)  # after a notice was read
CLEAN_AT_ONCE = 1_000


def notice_read(*, notice: Notice, read: bool = True) -> None:
    """Mark a notice as read or unread. A read notice is no longer sent by email."""
    if read:
        rows = Notice.objects.filter(pk=notice.pk, read_at=None)
        rows.update(read_at=timezone.now(), mail_due=False)
    else:
        Notice.objects.filter(pk=notice.pk).update(read_at=None)


def notices_read_all(*, user: User, newest: int) -> int:
    """Mark all notices up to `newest` as read, and return how many."""
    rows = Notice.objects.filter(user=user, read_at=None, id__lte=newest)
    return rows.update(read_at=timezone.now(), mail_due=False)


@transaction.atomic
def notice_choices_set(*, user: User, inbox: Collection[str], mail: Collection[str] | None) -> None:
    """Set which kinds the user gets in the inbox and by email. `mail=None` keeps the email choices."""
    kept = {choice.kind: choice.mail for choice in NoticeChoice.objects.filter(user=user)}
    rows = [
        NoticeChoice(
            user=user,
            kind=kind,
            inbox=kind in inbox,
            mail=kept.get(kind, True) if mail is None else kind in mail,
        )
        for kind in NoticeKind.values
    ]
    NoticeChoice.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["user", "kind"], update_fields=["inbox", "mail"]
    )
    audit_record(
        action="person.notices",
        object_type="person",
        object_id=user.pk,
        user=user,
        after={row.kind: ", ".join(name for name in ("inbox", "mail") if getattr(row, name)) for row in rows},
    )


def notices_clean() -> int:
    """Delete a bounded number of notices that were read long ago, and return how many."""
    old = Notice.objects.filter(read_at__lt=timezone.now() - KEPT).order_by("id")
    numbers = list(old.values_list("pk", flat=True)[:CLEAN_AT_ONCE])
    if numbers:
        Notice.objects.filter(pk__in=numbers, read_at__isnull=False).delete()
    return len(numbers)
