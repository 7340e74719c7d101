"""The Dramatiq actors: each calls one function of `execution` with a row's id."""

from typing import Any

import dramatiq

from refinement.models import BenchTrial, Run, WebhookDelivery
from refinement.models.leased import Leased
from wiggum_site.broker import broker

__all__ = ["actor_of", "advance_run", "broker", "deliver_webhook", "judge_trial"]

DELIVERY_SECONDS = 60  # sending itself times out after ten
# Model calls have a timeout of ten minutes; these limits are for code that hangs outside of one.
TRIAL_MINUTES = 11
TURN_MINUTES = 25  # ten minutes of steps, one more call, and less than RabbitMQ's half hour


@dramatiq.actor(
    queue_name="runs",
    priority=0,  # the same for all runs: first come, first served
    time_limit=TURN_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def advance_run(run_id: int) -> None:
    """Carries out steps of a run, if it is due and no worker holds it, for one turn."""
    from refinement.execution.advancing import run_advance

    run_advance(run_id)


@dramatiq.actor(
    queue_name="runs",  # shared with runs: a bench is a handful of similar calls
    priority=0,
    time_limit=TRIAL_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def judge_trial(trial_id: int) -> None:
    """Makes one call of a bench trial, if it is due and no worker holds it."""
    from refinement.execution.trials.advancing import trial_advance

    trial_advance(trial_id)


@dramatiq.actor(
    queue_name="runs",  # shared: another queue would be polled all day for a few messages
    priority=1,  # after runs: no user is waiting for it
    time_limit=DELIVERY_SECONDS * 1_000,
    max_retries=0,  # the delivery's row schedules its retries
)
def deliver_webhook(delivery_id: int) -> None:
    """Sends a webhook delivery, if it is due and no worker holds it."""
    from refinement.execution.deliveries import delivery_send

    delivery_send(delivery_id)


def actor_of(model: type[Leased]) -> "dramatiq.Actor[Any, Any]":
    """The actor for this kind of row."""
    actors: dict[type[Leased], dramatiq.Actor[Any, Any]] = {
        Run: advance_run,
        BenchTrial: judge_trial,
        WebhookDelivery: deliver_webhook,
    }
    return actors[model]
