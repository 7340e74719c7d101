"""Periodic maintenance in every worker: lost messages, recovered endpoints, emails, old rows."""

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
from refinement.services.experiments.dealing import experiments_sweep
from refinement.services.experiments.reporting import reports_clean
from refinement.services.idempotency import keys_clean
from refinement.services.notices.mail import mail_is_due, notices_mail
from refinement.services.notices.reading import notices_clean
from refinement.services.people.sessions import sessions_clean
from refinement.services.rubrics.proposals import proposals_clean
from refinement.services.runs.evaluator_trials import evaluator_trials_clean
from refinement.services.runs.held_out import held_outs_sweep
from refinement.services.runs.ledger import ledgers_sweep
from refinement.services.trust.measurements.dealing import measurements_sweep

log = logging.getLogger("wiggum.upkeep")
HOUR = 3_600
ENDPOINTS_AT_ONCE = 20
LEDGERS_EVERY = 60.0  # seconds between two looks for runs that ended without a ledger
EXPERIMENTS_EVERY = 5.0  # seconds between two looks for experiments whose message was lost


class Upkeep:
    """Safe to run in any number of processes at once."""

    def __init__(self) -> None:
        self.away: set[str] = set()  # endpoints whose last health check failed
        self.mailing: Thread | None = None
        self.clean_at = 0.0
        self.experiments_at = 0.0
        self.ledgers_at = 0.0

    def once(self, *, patient: bool = True) -> None:
        """Run all tasks once. Call it every second or two."""
        self.wake_recovered()
        swept = sweep(patient=patient)
        if swept.sent:
            count("swept", amount=swept.sent)
            count("lease_expiries", amount=swept.expired)
            log.info("swept runs=%s expired_leases=%s", swept.sent, swept.expired)
        self.sweep_experiments()
        self.sweep_ledgers()
        totals_flush()
        self.send_mail()
        self.delete_old()

    def sweep_experiments(self) -> None:
        """Resend the messages of experiments and measurements. A message too many changes nothing."""
        if monotonic() >= self.experiments_at:
            experiments_sweep()
            measurements_sweep()
            self.experiments_at = monotonic() + EXPERIMENTS_EVERY

    def sweep_ledgers(self) -> None:
        """Keep the ledgers of runs whose worker was killed right after their end, and ask held-out judges."""
        if monotonic() >= self.ledgers_at:
            more = ledgers_sweep() + held_outs_sweep()
            self.ledgers_at = 0.0 if more else monotonic() + LEDGERS_EVERY

    def send_mail(self) -> None:
        """Send due emails in a thread, since mail servers can be slow."""
        if (self.mailing is None or not self.mailing.is_alive()) and mail_is_due():
            self.mailing = Thread(target=mail_and_close, name="mail", daemon=True)
            self.mailing.start()

    def delete_old(self) -> None:
        """Delete old rows hourly in bounded steps, and continue at once while there are more."""
        if monotonic() >= self.clean_at:
            keys_clean()
            left = deliveries_clean() + notices_clean() + sessions_clean()
            left += evaluator_trials_clean() + proposals_clean() + reports_clean()
            self.clean_at = 0.0 if left else monotonic() + HOUR

    def wake_recovered(self) -> None:
        """Continue runs that wait for an endpoint as soon as it responds again."""
        waiting = Run.objects.filter(status=RunStatus.WAITING)
        endpoints = waiting.exclude(waiting_endpoint="").order_by().values_list("waiting_endpoint", flat=True)
        waited_for = set(endpoints.distinct()[:ENDPOINTS_AT_ONCE])
        for endpoint in waited_for:
            if not answers(endpoint):
                self.away.add(endpoint)
            elif endpoint in self.away:
                # Only after a failed check: a healthy server may have asked the run to wait.
                self.away.discard(endpoint)
                now = timezone.now()
                waiting.filter(waiting_endpoint=endpoint, next_try_at__gt=now).update(
                    next_try_at=now, woken_at=None, wakes=0
                )
                log.info("endpoint %s is available again", endpoint)
        self.away &= waited_for


def mail_and_close() -> None:
    """Send one batch of emails, on the thread's own database connection."""
    try:
        notices_mail()
    except Exception:
        log.exception("emails could not be sent")
    finally:
        connection.close()


def answers(endpoint: str) -> bool:
    try:
        return provider_for(endpoint).health().ok
    except (ValueError, LookupError):
        return False
