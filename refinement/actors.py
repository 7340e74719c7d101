"""Dramatiq actors. Each loads a row and calls a service."""

from typing import Any

import dramatiq

from refinement.models import BenchTrial, Run, WebhookDelivery
from refinement.models.leased import Leased
from wiggum_site.broker import broker

__all__ = ["actor_of", "advance_run", "broker", "deliver_webhook", "judge_trial"]

DELIVERY_SECONDS = 60  # a delivery's own timeout is ten seconds
# Calls have a deadline of ten minutes; these limits are for anything else that hangs.
TRIAL_MINUTES = 11
TURN_MINUTES = 25  # ten minutes of steps and one more call, below RabbitMQ's timeout of 30 minutes


@dramatiq.actor(
    queue_name="runs",
    priority=0,  # first come, first served, so that no run starves
    time_limit=TURN_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def advance_run(run_id: int) -> None:
    """Execute steps of a run until it ends or should yield. Skips it if it is leased or not due."""
    from refinement.execution.advancing import run_advance

    run_advance(run_id)


@dramatiq.actor(
    queue_name="runs",  # shared: a bench is a few calls like a run's
    priority=0,
    time_limit=TRIAL_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def judge_trial(trial_id: int) -> None:
    """Make one call of a bench trial. Skips it if it is leased or not due."""
    from refinement.execution.trials.advancing import trial_advance

    trial_advance(trial_id)


@dramatiq.actor(
    queue_name="runs",  # shared: polling another queue is not worth it for a few messages
    priority=1,  # after steps of runs, which people may be watching
    time_limit=DELIVERY_SECONDS * 1_000,
    max_retries=0,  # its row has the time of the next attempt
)
def deliver_webhook(delivery_id: int) -> None:
    """Send a webhook delivery. Skips it if it is leased or not due."""
    from refinement.execution.deliveries import delivery_send

    delivery_send(delivery_id)


def actor_of(model: type[Leased]) -> "dramatiq.Actor[Any, Any]":
    """The actor that executes this kind of work."""
    actors: dict[type[Leased], dramatiq.Actor[Any, Any]] = {
        Run: advance_run,
        BenchTrial: judge_trial,
        WebhookDelivery: deliver_webhook,
    }
    return actors[model]
