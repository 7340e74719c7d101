"""What workers do: fetch a row and call a service, nothing else."""

from typing import Any

import dramatiq

from refinement.models import BenchTrial, Run, WebhookDelivery
from refinement.models.leased import Leased
from wiggum_site.broker import broker

__all__ = ["actor_of", "advance_run", "broker", "deliver_webhook", "judge_trial"]

DELIVERY_SECONDS = 60  # a delivery's own limit is ten
# Calls have their own deadline of ten minutes; these limits are for what hangs outside of one.
TRIAL_MINUTES = 11
TURN_MINUTES = 25  # ten minutes of steps, one more call, and less than the half hour that RabbitMQ waits


@dramatiq.actor(
    queue_name="runs",
    priority=0,  # all runs alike, first come first served: no run starves another
    time_limit=TURN_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def advance_run(run_id: int) -> None:
    """Carries a run on until it ends, waits or others wait, if it is due and nobody holds it."""
    from refinement.execution.advancing import run_advance

    run_advance(run_id)


@dramatiq.actor(
    queue_name="runs",  # the same line as the runs': a bench is a handful of calls like theirs
    priority=0,
    time_limit=TRIAL_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def judge_trial(trial_id: int) -> None:
    """Makes one call of a test bench's trial, if it is due and nobody else is at it."""
    from refinement.execution.trials.advancing import trial_advance

    trial_advance(trial_id)


@dramatiq.actor(
    queue_name="runs",  # one line for all: another would be looked at all day for a few messages
    priority=1,  # after the steps of runs: nobody waits at a screen for it
    time_limit=DELIVERY_SECONDS * 1_000,
    max_retries=0,  # its row says when it is tried again
)
def deliver_webhook(delivery_id: int) -> None:
    """Sends a webhook's message, if it is due and nobody else is at it."""
    from refinement.execution.deliveries import delivery_send

    delivery_send(delivery_id)


def actor_of(model: type[Leased]) -> "dramatiq.Actor[Any, Any]":
    """The actor that carries out this kind of work."""
    actors: dict[type[Leased], dramatiq.Actor[Any, Any]] = {
        Run: advance_run,
        BenchTrial: judge_trial,
        WebhookDelivery: deliver_webhook,
    }
    return actors[model]
