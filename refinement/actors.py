"""The Dramatiq actors: each calls one function of `execution` with a row's id."""

from typing import Any

import dramatiq

from refinement.engine.rubrics import LONGEST_EVALUATION
from refinement.models import BenchTrial, EvaluatorTrial, Report, RubricProposal, Run, WebhookDelivery
from refinement.models.leased import Leased
from wiggum_site.broker import broker

__all__ = [
    "actor_of",
    "advance_experiment",
    "advance_measurement",
    "advance_run",
    "broker",
    "compute_report",
    "deliver_webhook",
    "judge_trial",
    "propose_rubric",
    "try_evaluator",
]

DEALING_SECONDS = 120
REPORT_SECONDS = 300
DELIVERY_SECONDS = 60  # sending itself times out after ten
# Model calls have a timeout of ten minutes and evaluators one of an hour; these limits are for code that
# hangs outside of them. RabbitMQ delivers a message again that is not acknowledged for half an hour: its
# second receiver finds the lease held and does nothing.
TRIAL_MINUTES = 11
EVALUATION_MINUTES = LONGEST_EVALUATION // 60 + 5
TURN_MINUTES = EVALUATION_MINUTES + 20  # ten minutes of steps, then an evaluator and one more call


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
    queue_name="runs",
    priority=0,
    time_limit=EVALUATION_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def try_evaluator(trial_id: int) -> None:
    """Runs the command of an evaluator trial, if it is due and no worker holds it."""
    from refinement.execution.commands.trials import evaluator_trial_advance

    evaluator_trial_advance(trial_id)


@dramatiq.actor(
    queue_name="runs",
    priority=0,
    time_limit=TRIAL_MINUTES * 60_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def propose_rubric(proposal_id: int) -> None:
    """Makes one call of a rubric proposal, if it is due and no worker holds it."""
    from refinement.execution.proposals import proposal_advance

    proposal_advance(proposal_id)


@dramatiq.actor(
    queue_name="runs",
    priority=-1,  # before runs: it takes a moment, and has the runs that free threads wait for
    time_limit=DEALING_SECONDS * 1_000,
    notify_shutdown=False,  # an interrupted BEGIN would keep the database locked until the worker exits
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def advance_experiment(experiment_id: int) -> None:
    """Starts the next runs of an experiment, or ends it; any number of workers may do so at once."""
    from refinement.services.experiments.dealing import experiment_advance

    experiment_advance(experiment_id)


@dramatiq.actor(
    queue_name="runs",
    priority=-1,  # before runs, as for experiments
    time_limit=DEALING_SECONDS * 1_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def advance_measurement(measurement_id: int) -> None:
    """Starts the next judgements of a measurement, or ends it; any number of workers may do so at once."""
    from refinement.services.trust.measurements.dealing import measurement_advance

    measurement_advance(measurement_id)


@dramatiq.actor(
    queue_name="runs",
    priority=0,  # after runs, it would wait for the end of an experiment that keeps all threads busy
    time_limit=REPORT_SECONDS * 1_000,
    max_retries=3,
    min_backoff=1_000,
    max_backoff=30_000,
)
def compute_report(report_id: int) -> None:
    """Computes the figures of a report, if it is due and no worker holds it."""
    from refinement.execution.reports import report_advance

    report_advance(report_id)


@dramatiq.actor(
    queue_name="runs",  # shared: another queue would be polled all day for a few messages
    priority=0,  # as for reports
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
        EvaluatorTrial: try_evaluator,
        RubricProposal: propose_rubric,
        Report: compute_report,
        WebhookDelivery: deliver_webhook,
    }
    return actors[model]
