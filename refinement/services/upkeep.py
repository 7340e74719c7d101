"""What every worker does now and then: sends again what was lost, notices servers that came back."""

import logging
from threading import Thread
from time import monotonic

from django.db import connection
from django.utils import timezone

from refinement.execution.deliveries import deliveries_clean
from refinement.execution.metrics import count, totals_flush
from refinement.execution.waking import sweep
from refinement.models import Run, RunStatus
from refinement.selectors.endpoints import provider_for
from refinement.services.idempotency import keys_forget
from refinement.services.notices.mail import mail_is_due, notices_mail
from refinement.services.notices.reading import notices_clean
from refinement.services.people.sessions import sessions_clean

log = logging.getLogger("wiggum.upkeep")
HOUR = 3_600
ENDPOINTS_AT_ONCE = 20


class Upkeep:
    """Safe to do in any number of processes at once."""

    def __init__(self) -> None:
        self.away: set[str] = set()  # endpoints that did not answer when last looked at
        self.mailing: Thread | None = None
        self.forget_at = 0.0

    def once(self, *, patient: bool = True) -> None:
        """One look at everything; a second or two apart is enough."""
        self.notice_returns()
        swept = sweep(patient=patient)
        if swept.sent:
            count("swept", amount=swept.sent)
            count("lease_expiries", amount=swept.expired)
            log.info("swept runs=%s expired_leases=%s", swept.sent, swept.expired)
        totals_flush()
        self.send_mail()
        self.forget_old()

    def send_mail(self) -> None:
        """Mails what is due beside everything else: a mail server may take its time."""
        if (self.mailing is None or not self.mailing.is_alive()) and mail_is_due():
            self.mailing = Thread(target=mail_and_close, name="mail", daemon=True)
            self.mailing.start()

    def forget_old(self) -> None:
        """Hourly, and again at once while there is more: each step deletes a bounded number of rows."""
        if monotonic() >= self.forget_at:
            keys_forget()
            left = deliveries_clean() + notices_clean() + sessions_clean()
            self.forget_at = 0.0 if left else monotonic() + HOUR

    def notice_returns(self) -> None:
        """Runs that wait for a server go on as soon as it answers again, not when their time is up."""
        waiting = Run.objects.filter(status=RunStatus.WAITING)
        endpoints = waiting.exclude(waiting_endpoint="").order_by().values_list("waiting_endpoint", flat=True)
        waited_for = set(endpoints.distinct()[:ENDPOINTS_AT_ONCE])
        for endpoint in waited_for:
            if not answers(endpoint):
                self.away.add(endpoint)
            elif endpoint in self.away:
                # Only a server that was seen to be away: one that asks for patience is given it.
                self.away.discard(endpoint)
                now = timezone.now()
                waiting.filter(waiting_endpoint=endpoint, next_try_at__gt=now).update(
                    next_try_at=now, woken_at=None, wakes=0
                )
                log.info("endpoint %s answers again", endpoint)
        self.away &= waited_for


def mail_and_close() -> None:
    """One batch of mails, on a connection to the database of its own."""
    try:
        notices_mail()
    except Exception:
        log.exception("mails could not be sent")
    finally:
        connection.close()


def answers(endpoint: str) -> bool:
    try:
        return provider_for(endpoint).health().ok
    except (ValueError, LookupError):
        return False
