"""What webhooks are told: written in the transaction of what happened, without anybody's words.

Where a project's people score blind, nothing here says how a run went: a message may end up in front of
those who have not scored yet.
"""

from collections.abc import Mapping

from django.conf import settings
from django.urls import reverse

from refinement.execution.deliveries import delivery_make
from refinement.models import Comment, Project, ReviewRequest, Run, Webhook, WebhookEvent

# Whether anybody is told; its place is the project's.
FIGURES = ("r1", "best", "last", "improvement", "best_round")


def hook_run_finished(run: Run) -> None:
    """A run has ended, by itself or by somebody's hand; its row says so already."""
    _written(run, WebhookEvent.RUN_FINISHED)


def hook_run_waiting(run: Run, *, endpoint: str) -> None:
    """A run begins to wait for a model server."""
    _written(run, WebhookEvent.RUN_WAITING, {"waiting": {"endpoint": endpoint}})


def hook_review_asked(request: ReviewRequest) -> None:
    """Somebody is asked for a review, by a person or by a rule."""
    asked_by = request.asked_by.display_name if request.asked_by else None
    review = {
        "id": request.pk,
        "reviewer": request.reviewer.display_name,
        "asked_by": asked_by,
        "due_on": request.due_on.isoformat() if request.due_on else None,
    }
    _written(request.run, WebhookEvent.REVIEW_ASKED, {"review": review})


def hook_comment_created(comment: Comment) -> None:
    """Somebody said something; what they said is read by those who may."""
    place = reverse("comment_page", args=[comment.run.project.slug, comment.run_id, comment.pk])
    said = {
        "id": comment.pk,
        "thread": comment.thread_id,
        "author": comment.author_name,
        "link": _absolute(place),
    }
    _written(comment.run, WebhookEvent.COMMENT_CREATED, {"comment": said})


def _written(run: Run, event: WebhookEvent, about: Mapping[str, object] | None = None) -> None:
    """A delivery for each of the project's webhooks that wants to hear of this."""
    hooks = Webhook.objects.filter(project=run.project_id, active=True).select_related("project")
    wanted = [hook for hook in hooks if event.value in hook.events]
    if not wanted:
        return
    # As the transaction leaves it: the caller may hold the run as it was before.
    fresh = Run.objects.get(pk=run.pk)
    payload = {"run": _run_values(fresh, wanted[0].project), **(about or {})}
    for hook in wanted:
        delivery_make(webhook=hook, event=event.value, about=payload, run=fresh)


def _run_values(run: Run, project: Project) -> dict[str, object]:
    values: dict[str, object] = {
        "id": run.pk,
        "title": run.title,
        "status": run.status,
        "link": _absolute(reverse("run_page", args=[project.slug, run.pk])),
    }
    if project.blind_scores:
        return values
    return {
        **values,
        "outcome": run.outcome or None,
        "stop_reason": run.stop_reason or None,
        "rounds": run.rounds_judged,
        **{name: getattr(run, name) for name in FIGURES},
    }


def _absolute(path: str) -> str:
    """The whole address where the instance knows its own, and the path alone where it does not."""
    return f"{settings.SITE_URL}{path}"
