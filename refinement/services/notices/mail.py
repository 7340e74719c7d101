"""Sends notices by email, from the workers. Each is sent at most once; failures are retried."""

import logging
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import F, Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from refinement.models import Membership, Notice
from refinement.selectors.experiments.addresses import experiment_path
from refinement.selectors.reviews.blindness import reads_blind
from refinement.texts import one_line

log = logging.getLogger("wiggum.notices")
AT_ONCE = 20
MOST_TRIES = 6
FIRST_PAUSE = timedelta(minutes=1)  # doubles with each failure
SUBJECT_CHARS = 140
MOST_LINES, LINE_CHARS = 20, 400  # of a comment


def mail_is_due() -> bool:
    """Whether any email is due."""
    return settings.MAIL_CONFIGURED and notices_due().exists()


def notices_due() -> QuerySet[Notice]:
    """The notices to send now, oldest first."""
    now = timezone.now()
    return Notice.objects.filter(Q(mail_after=None) | Q(mail_after__lte=now), mail_due=True).order_by("pk")


def notices_mail() -> int:
    """Send due notices until one fails, and return how many. Safe in any number of processes."""
    if not settings.MAIL_CONFIGURED:
        return 0
    connection, sent = get_connection(), 0
    for number in list(notices_due().values_list("pk", flat=True)[:AT_ONCE]):
        notice = _claimed(number)
        if notice is None:
            continue
        try:
            sent += _mailed(notice, connection)
        except (SMTPException, OSError):
            _failed(notice)
            # The others would fail for the same reason.
            break
    connection.close()
    return sent


def _claimed(number: int) -> Notice | None:
    """The notice, if this process has claimed it.

    It is marked as sent first: a process that dies here loses one email, and none is sent twice.
    """
    taken = Notice.objects.filter(pk=number, mail_due=True).update(
        mail_due=False, mail_tries=F("mail_tries") + 1
    )
    if not taken:
        return None
    return Notice.objects.select_related("user", "project", "run", "comment").filter(pk=number).first()


def _mailed(notice: Notice, connection: BaseEmailBackend) -> int:
    """Send the notice unless its user has left, and delete it if it is not in the inbox."""
    user = notice.user
    is_member = user.is_active and Membership.objects.filter(user=user, project=notice.project_id).exists()
    if is_member:
        _message(notice, connection).send()
    if not notice.inbox:
        notice.delete()
    return int(is_member)


def _failed(notice: Notice) -> None:
    if notice.mail_tries >= MOST_TRIES:
        log.warning("notice %s could not be sent by email; giving up", notice.pk)
        return
    pause = FIRST_PAUSE * 2 ** (notice.mail_tries - 1)
    Notice.objects.filter(pk=notice.pk, read_at=None).update(mail_due=True, mail_after=timezone.now() + pause)
    log.warning("notice %s could not be sent by email; retrying in %s", notice.pk, pause)


def _message(notice: Notice, connection: BaseEmailBackend) -> EmailMessage:
    context = {
        "notice": notice,
        "project": one_line(notice.project.name, SUBJECT_CHARS),
        "lines": _quoted(notice),
        "address": _absolute(_address(notice)),
        "settings_address": _absolute(reverse("notice_settings")),
    }
    return EmailMessage(
        subject=f"[Wiggum] {one_line(notice.text, SUBJECT_CHARS)}",
        body=render_to_string("refinement/notices/mail.txt", context),
        to=[notice.user.email],
        headers={"Auto-Submitted": "auto-generated"},
        connection=connection,
    )


def _quoted(notice: Notice) -> list[str]:
    """The comment's first lines, or none if the user is scoring the run blind."""
    comment = notice.comment
    if comment is None or comment.deleted_at is not None:
        return []
    if notice.run_id and reads_blind(notice.user_id, notice.run_id):
        return []
    return [one_line(line, LINE_CHARS) for line in comment.body.splitlines()[:MOST_LINES]]


def _address(notice: Notice) -> str:
    if notice.comment_id is not None:
        return reverse("comment_page", args=[notice.project.slug, notice.run_id, notice.comment_id])
    if notice.experiment_id is not None:
        return experiment_path(notice.project.slug, notice.experiment_id)
    return reverse("run_page", args=[notice.project.slug, notice.run_id])


def _absolute(path: str) -> str:
    """The absolute URL. Empty without WIGGUM_SITE_URL: a worker has no request to derive it from."""
    return f"{settings.SITE_URL}{path}" if settings.SITE_URL else ""
