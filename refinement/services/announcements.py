"""Announces that a run ended, waits or asks: notices, webhooks, review rules and the runs log.

Runs of an experiment are not announced one by one: the experiment is, when it ends.
"""

from refinement.execution.failures.requesting import failures_request_later
from refinement.execution.signals import run_asking, run_ended, run_waiting
from refinement.models import HumanScore, Run
from refinement.services.experiments.cells import cell_follow, is_first_to_wait
from refinement.services.notices.creating import notice_run_asks, notice_run_ended, notice_run_waits
from refinement.services.reviews.people_gap import people_gap_store
from refinement.services.reviews.rules import reviews_by_rules
from refinement.services.runs.held_out import held_out_start
from refinement.services.runs.ledger import ledger_store_later
from refinement.services.runs.log import log_run_ended
from refinement.services.webhooks.events import hook_run_asking, hook_run_finished, hook_run_waiting


def connect() -> None:
    """Connect to the signals of execution. Called once, when Django is ready."""
    run_ended.connect(on_run_ended, dispatch_uid="refinement.announcements")
    run_waiting.connect(on_run_waiting, dispatch_uid="refinement.announcements")
    run_asking.connect(on_run_asking, dispatch_uid="refinement.announcements")


def on_run_ended(*, run: Run, outcome: str, **signal: object) -> None:
    log_run_ended(run)
    if HumanScore.objects.filter(run=run).exists():  # rare: before a retry, or before more rounds
        people_gap_store(run)
    ledger_store_later(run)
    held_out_start(run)
    failures_request_later(run.project_id)
    if run.experiment_id is not None:
        cell_follow(run)  # the experiment is announced as a whole
        return
    notice_run_ended(run, outcome=outcome)
    hook_run_finished(run)
    reviews_by_rules(run, outcome)


def on_run_waiting(*, run: Run, reason: str, endpoint: str, **signal: object) -> None:
    if is_first_to_wait(run):
        notice_run_waits(run, reason=reason)
        hook_run_waiting(run, endpoint=endpoint)


def on_run_asking(*, run: Run, round: int, **signal: object) -> None:  # noqa: A002  the signal's name
    notice_run_asks(run, round_number=round)
    hook_run_asking(run)
