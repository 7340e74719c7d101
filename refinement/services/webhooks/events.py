"""Webhook deliveries, created in the transaction of the event. Payloads contain no user-written text.

In projects with blind scoring, payloads contain no results: people who have not scored yet might read them.
"""

from collections.abc import Mapping

from django.conf import settings
from django.urls import reverse

from refinement.execution.deliveries import delivery_make
from refinement.models import Comment, Experiment, Project, ReviewRequest, Run, Webhook, WebhookEvent
from refinement.selectors.experiments.addresses import experiment_path
from refinement.selectors.experiments.progress import progress_of
from refinement.selectors.runs.noise import is_noise
from refinement.selectors.trust.gate import run_standing

FIGURES = ("r1", "best", "last", "improvement", "best_round", "passed_in_round")


def hook_run_finished(run: Run) -> None:
    """A run has finished or was stopped. Its row is already updated."""
    _deliver(run, WebhookEvent.RUN_FINISHED)


def hook_run_waiting(run: Run, *, endpoint: str) -> None:
    """A run is waiting for a model server."""
    _deliver(run, WebhookEvent.RUN_WAITING, {"waiting": {"endpoint": endpoint}})


def hook_run_asking(run: Run) -> None:
    """A run has stopped improving and waits for a person to stop or continue it."""
    _deliver(run, WebhookEvent.RUN_ASKING)


def hook_review_asked(request: ReviewRequest) -> None:
    """A review was requested, by a person or by a rule."""
    asked_by = request.asked_by.display_name if request.asked_by else None
    review = {
        "id": request.pk,
        "reviewer": request.reviewer.display_name,
        "asked_by": asked_by,
        "due_on": request.due_on.isoformat() if request.due_on else None,
    }
    _deliver(request.run, WebhookEvent.REVIEW_ASKED, {"review": review})


def hook_comment_created(comment: Comment) -> None:
    """A comment was added. The payload links to it without its text."""
    path = reverse("comment_page", args=[comment.run.project.slug, comment.run_id, comment.pk])
    values = {
        "id": comment.pk,
        "thread": comment.thread_id,
        "author": comment.author_name,
        "link": _absolute(path),
    }
    _deliver(comment.run, WebhookEvent.COMMENT_CREATED, {"comment": values})


def hook_experiment_finished(experiment: Experiment) -> None:
    """All runs of an experiment have ended, or a person stopped it. Its row is already updated."""
    event = WebhookEvent.EXPERIMENT_FINISHED
    for hook in _hooks_for(event, experiment.project_id):
        payload = {"experiment": _experiment_values(experiment, hook.project)}
        delivery_make(webhook=hook, event=event.value, about=payload)


def _experiment_values(experiment: Experiment, project: Project) -> dict[str, object]:
    """How it ended. Its figures are computed afterwards; the page and the API have them."""
    progress = progress_of(experiment)
    version = experiment.suite_version
    return {
        "id": experiment.pk,
        "name": experiment.name,
        "status": experiment.status,
        "suite": version.suite.name,
        "suite_version": version.number,
        "configurations": experiment.configurations.count(),
        "runs": progress.total,
        "done": progress.done,
        "missing": progress.total - progress.done,
        "tokens": progress.tokens,
        "link": _absolute(experiment_path(project.slug, experiment.pk)),
    }


def _hooks_for(event: WebhookEvent, project_id: int) -> list[Webhook]:
    """The project's active webhooks with this event."""
    hooks = Webhook.objects.filter(project=project_id, active=True)
    return [hook for hook in hooks if event.value in hook.events]


def _deliver(run: Run, event: WebhookEvent, about: Mapping[str, object] | None = None) -> None:
    """Create a delivery for each of the project's webhooks with this event."""
    wanted = _hooks_for(event, run.project_id)
    if not wanted:
        return
    # Reload: the caller's instance may be outdated.
    fresh = Run.objects.get(pk=run.pk)
    payload = {"run": _run_values(fresh, wanted[0].project), **(about or {})}
    for hook in wanted:
        delivery_make(webhook=hook, event=event.value, about=payload, run=fresh)


def _run_values(run: Run, project: Project) -> dict[str, object]:
    values: dict[str, object] = {
        "id": run.pk,
        "title": run.title,
        "task_type": run.task_type,
        "status": run.status,
        "link": _absolute(reverse("run_page", args=[project.slug, run.pk])),
    }
    if project.blind_scores:
        return values
    run.project = project
    standing = run_standing(run)
    return {
        **values,
        "outcome": run.outcome or None,
        "stop_reason": run.stop_reason or None,
        "rounds": run.rounds_judged,
        **{name: getattr(run, name) for name in FIGURES},
        "judge_proven": standing.proven if standing else None,
        "unproven_reason": standing.reason if standing else None,
        "within_noise": is_noise(run),
        "smallest_difference": run.smallest_difference,
    }


def _absolute(path: str) -> str:
    """The absolute URL, or the path alone without WIGGUM_SITE_URL."""
    return f"{settings.SITE_URL}{path}"
