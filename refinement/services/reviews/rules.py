"""Rules that request reviews when a run ends in a certain way."""

import hashlib
from collections.abc import Sequence
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from refinement.engine.types import Outcome
from refinement.execution.events import event_record
from refinement.models import EventKind, Project, ReviewRequest, ReviewRule, Rubric, RuleKind, Run, User
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.reviews.words import rule_label
from refinement.services.audit import AuditOf, audit_record
from refinement.services.notices.creating import notice_review
from refinement.services.reviews.requests import MOST_REVIEWERS, active_members
from refinement.services.webhooks.events import hook_review_asked

MOST_RULES = 50  # active rules in a project
MOST_DUE_DAYS = 365
RULE_ACTOR = "review rule"
SAMPLED = (Outcome.PASS, Outcome.FAIL, Outcome.DONE)  # an ERROR is not the judge's result
_record = AuditOf("review rule")


@transaction.atomic
def review_rule_create(
    *,
    project: Project,
    kind: str,
    reviewers: Sequence[User],
    user: User,
    rubric: Rubric | None = None,
    percent: int | None = None,
    due_days: int | None = None,
) -> ReviewRule:
    """Create a rule for runs that end from now on. Raises ValidationError."""
    _validate(project, kind, reviewers, rubric, percent, due_days)
    rule = ReviewRule(
        project=project,
        kind=RuleKind(kind),
        rubric=rubric,
        percent=percent if kind == RuleKind.SAMPLE else None,
        due_days=due_days,
        created_by=user,
    )
    rule.save()
    rule.reviewers.set(reviewers)
    after = {
        "rule": rule_label(rule),
        "reviewers": [person.email for person in reviewers],
        **({"due_days": due_days} if due_days is not None else {}),
    }
    _record("review_rule.create", rule, user, after=after)
    return rule


@transaction.atomic
def review_rule_end(*, project: Project, number: int, user: User) -> bool:
    """End the rule. Return False if it had already ended. Raises NotFound."""
    rows = ReviewRule.objects.filter(project=project, pk=number)
    rule = rows.select_related("rubric", "project").first()
    if rule is None:
        raise NotFound("This project has no such rule.")
    if not rows.filter(ended_at__isnull=True).update(ended_at=timezone.now()):
        return False
    _record("review_rule.end", rule, user, before={"rule": rule_label(rule)})
    return True


def reviews_by_rules(run: Run, outcome: str) -> int:
    """Request the reviews that the project's rules call for, and return how many.

    Each rule asks a person at most once for a run. Joins the caller's transaction.
    """
    rules = [rule for rule in _rules_for(run) if applies(rule, run, outcome)]
    if not rules:
        return 0
    asked = [request for rule in rules for request in _asked_by(rule, run)]
    if asked:
        event_record(run.pk, EventKind.REVIEWING, actor=RULE_ACTOR)
    return len(asked)


def applies(rule: ReviewRule, run: Run, outcome: str) -> bool:
    """Whether the rule covers a run that ended with this outcome."""
    if outcome == Outcome.CANCELLED:
        return False
    if rule.kind == RuleKind.FAILED:
        return outcome == Outcome.FAIL
    if rule.kind == RuleKind.SIGNAL:
        return run.signal_rounds > 0
    return outcome in SAMPLED and in_sample(rule.pk, run.pk, rule.percent or 0)


def in_sample(rule_id: int, run_id: int, percent: int) -> bool:
    """Whether the run is in the rule's sample: deterministic and evenly distributed."""
    digest = hashlib.sha256(f"{rule_id}:{run_id}".encode()).digest()
    return int.from_bytes(digest[:8]) % 100 < percent


def _rules_for(run: Run) -> QuerySet[ReviewRule]:
    of_rubric = Q(rubric__isnull=True) | Q(rubric_id=run.rubric_id)
    rules = ReviewRule.objects.filter(of_rubric, project_id=run.project_id, ended_at__isnull=True)
    return rules.order_by("pk")


def _asked_by(rule: ReviewRule, run: Run) -> list[ReviewRequest]:
    people = list(rule.reviewers.order_by("pk"))
    members = active_members(rule.project, [person.pk for person in people])
    # Skip people this rule has asked before, and people with any open request.
    before = ReviewRequest.objects.filter(Q(rule=rule) | Q(closed_at__isnull=True), run=run)
    already = set(before.values_list("reviewer_id", flat=True))
    due_on = None if rule.due_days is None else timezone.localdate() + timedelta(days=rule.due_days)
    asked = []
    for person in people:
        if person.pk not in members or person.pk in already:
            continue
        request = ReviewRequest.objects.create(
            project=rule.project, run=run, reviewer=person, rule=rule, due_on=due_on
        )
        after = {"reviewer": person.email, "run": run.pk, "rule": rule.pk}
        audit_record(
            action="review.ask",
            object_type="review",
            object_id=request.pk,
            project=rule.project,
            after=after,
            actor=RULE_ACTOR,
        )
        notice_review(request)
        hook_review_asked(request)
        asked.append(request)
    return asked


def _validate(
    project: Project,
    kind: str,
    reviewers: Sequence[User],
    rubric: Rubric | None,
    percent: int | None,
    due_days: int | None,
) -> None:
    if kind not in RuleKind.values:
        raise ValidationError({"kind": "Choose when the rule applies."})
    if not reviewers or len(reviewers) > MOST_REVIEWERS:
        raise ValidationError({"reviewers": f"Choose 1 to {MOST_REVIEWERS} reviewers."})
    if len(active_members(project, [person.pk for person in reviewers])) != len(set(reviewers)):
        raise ValidationError({"reviewers": "Reviewers must be members of the project."})
    if kind == RuleKind.FAILED and rubric is None:
        raise ValidationError({"rubric": "Choose the rubric whose FAIL runs should be reviewed."})
    if rubric is not None and rubric.project_id != project.pk:
        raise ValidationError({"rubric": "Choose a rubric of this project."})
    if kind == RuleKind.SAMPLE and not (percent is not None and 1 <= percent <= 100):
        raise ValidationError({"percent": "Enter a percentage from 1 to 100."})
    if due_days is not None and not 0 <= due_days <= MOST_DUE_DAYS:
        raise ValidationError(
            {"due_days": f"Enter 0 to {MOST_DUE_DAYS} days, or leave it empty for no due date."}
        )
    if ReviewRule.objects.filter(project=project, ended_at__isnull=True).count() >= MOST_RULES:
        raise ValidationError(f"A project can have {MOST_RULES} active rules. End one first.")
