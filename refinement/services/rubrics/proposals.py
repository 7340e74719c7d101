"""Rubrics proposed from a sample: asked for here, written by a worker, saved by a person in the editor."""

import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.execution.leases import released
from refinement.execution.waking import wake
from refinement.judging.same_text import plain_lines
from refinement.models import Project, ProposalStatus, RubricProposal, User
from refinement.models.leased import WorkStatus
from refinement.providers.registry import Target
from refinement.selectors.projects.budgets import month_start
from refinement.services.audit import audit_record
from refinement.texts import storable

MOST_SAMPLE_CHARS = 200_000
MOST_GOAL_CHARS = 500
MOST_AT_ONCE = 3  # of one person
MOST_AN_HOUR = 60
KEPT = timedelta(days=1)
CLEANED_AT_ONCE = 100


class TooManyProposals(Exception):
    """The person has reached the limit. The message says what to do."""


@transaction.atomic
def proposal_create(
    *, project: Project, sample: str, goal: str, target: Target, user: User
) -> RubricProposal:
    """Queue a proposal. Nothing is saved but the proposal.

    Raises ValidationError and TooManyProposals.
    """
    sample, goal = plain_lines(storable(sample)), " ".join(storable(goal).split())
    if not sample.strip():
        raise ValidationError({"sample": "Paste a sample of the work."})
    if not goal:
        raise ValidationError({"goal": "Say in a sentence what the work should achieve."})
    for name, text, limit in (("sample", sample, MOST_SAMPLE_CHARS), ("goal", goal, MOST_GOAL_CHARS)):
        if len(text) > limit:
            raise ValidationError({name: f"At most {limit:,} characters. Shorten the text."})
    refuse_too_many(user)
    proposal = RubricProposal.objects.create(
        project=project,
        created_by=user,
        endpoint=target.endpoint,
        model=target.model,
        nonce=secrets.token_hex(6),
        goal=goal,
        sample=sample,
        woken_at=timezone.now(),
    )
    audit_record(
        action="rubric.propose",
        object_type="rubric proposal",
        object_id=proposal.pk,
        project=project,
        user=user,
        after={"model": target.model, "chars": len(sample)},
    )
    wake(RubricProposal, proposal.pk)
    return proposal


def refuse_too_many(user: User) -> None:
    mine = RubricProposal.objects.filter(created_by=user)
    if mine.filter(status__in=WorkStatus.values).count() >= MOST_AT_ONCE:
        raise TooManyProposals(f"You have {MOST_AT_ONCE} proposals in progress. Wait for one, or cancel it.")
    if mine.filter(created_at__gt=timezone.now() - timedelta(hours=1)).count() >= MOST_AN_HOUR:
        raise TooManyProposals(f"You have asked for {MOST_AN_HOUR} proposals in an hour. Try again later.")


@transaction.atomic
def proposal_cancel(*, proposal: RubricProposal) -> bool:
    """Cancel the proposal unless it has ended; its model call stops within a second."""
    unfinished = RubricProposal.objects.filter(pk=proposal.pk, status__in=WorkStatus.values)
    return bool(
        unfinished.update(
            **released(status=ProposalStatus.CANCELLED, finished_at=timezone.now(), attempt=F("attempt") + 1)
        )
    )


def proposals_clean() -> int:
    """Delete old proposals, some at a time; how many there were. Those of this month count in the budget."""
    old = RubricProposal.objects.filter(created_at__lt=min(timezone.now() - KEPT, month_start()))
    keys = list(old.order_by("pk").values_list("pk", flat=True)[:CLEANED_AT_ONCE])
    if keys:
        RubricProposal.objects.filter(pk__in=keys).delete()
    return len(keys)
