"""Evaluator trials: run a command on a text in the rubric editor, or again on a judged round."""

from dataclasses import replace
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.types import EvaluationMode, Rubric
from refinement.execution.leases import released
from refinement.execution.waking import wake
from refinement.judging.same_text import plain_lines
from refinement.models import EvaluatorResult, EvaluatorTrial, EvaluatorTrialStatus, Project, Round, User
from refinement.models.leased import WorkStatus
from refinement.selectors.rubrics.commands import command_refusal
from refinement.services.audit import audit_record
from refinement.texts import storable

MOST_TEXT = 1_000_000
MOST_AT_ONCE = 3  # of one person
MOST_AN_HOUR = 60
CLEANED_AT_ONCE = 100
KEPT = timedelta(days=1)  # trials of the editor; those of a round stay with it


class TooManyTrials(Exception):
    """The person has reached the limit of trials. The message says what to do."""


def evaluator_try(*, project: Project, rubric: Rubric, text: str, user: User) -> EvaluatorTrial:
    """Queues a run of the rubric's command on a text. Nothing is saved but the trial, for a day.

    Raises ValidationError if there is no command or text, or if the command is not allowed, and
    TooManyTrials.
    """
    text = plain_lines(storable(text))
    if not text.strip():
        raise ValidationError("Paste a text to try the evaluator on.")
    if len(text) > MOST_TEXT:
        raise ValidationError(f"The text has {len(text):,} characters; {MOST_TEXT:,} are allowed.")
    return trial_create(project, rubric, text, user)


def evaluator_again(*, entry: Round, user: User) -> EvaluatorTrial:
    """Queues another run of the evaluator on a judged round. The judge's scores do not change.

    Raises ValidationError and TooManyTrials.
    """
    if entry.judged_at is None or not EvaluatorResult.objects.filter(round=entry).exists():
        raise ValidationError("The evaluator runs again only on a judged round that it has run on.")
    rubric = rubric_from_json(entry.run.snapshot)
    return trial_create(entry.run.project, rubric, entry.candidate, user, entry)


@transaction.atomic
def trial_create(
    project: Project, rubric: Rubric, text: str, user: User, entry: Round | None = None
) -> EvaluatorTrial:
    if not rubric.evaluator.command:
        raise ValidationError("Enter a command first.")
    # One plain run of the command: a rubric that is not set to run it can still be tried.
    evaluator = replace(rubric.evaluator, validation=(), repeat=1)
    rubric = replace(rubric, evaluator=evaluator, evaluation_mode=EvaluationMode.RUNNABLE)
    if refusal := command_refusal(rubric):
        raise ValidationError(refusal)
    refuse_too_many(user)
    trial = EvaluatorTrial.objects.create(
        project=project,
        created_by=user,
        round=entry,
        definition=rubric_to_json(rubric),
        text=text,
        woken_at=timezone.now(),
    )
    audit_record(
        action="evaluator.try",
        object_type="evaluator trial",
        object_id=trial.pk,
        project=project,
        user=user,
        after={"command": list(evaluator.command), "run": entry.run_id if entry else None},
    )
    wake(EvaluatorTrial, trial.pk)
    return trial


def evaluator_trials_clean() -> int:
    """Deletes old trials of the editor, some at a time; how many there were."""
    old = EvaluatorTrial.objects.filter(round=None, created_at__lt=timezone.now() - KEPT)
    keys = list(old.order_by("pk").values_list("pk", flat=True)[:CLEANED_AT_ONCE])
    if keys:
        EvaluatorTrial.objects.filter(pk__in=keys).delete()
    return len(keys)


def refuse_too_many(user: User) -> None:
    mine = EvaluatorTrial.objects.filter(created_by=user)
    if mine.filter(status__in=WorkStatus.values).count() >= MOST_AT_ONCE:
        raise TooManyTrials(f"You have {MOST_AT_ONCE} commands running. Wait for one, or cancel it.")
    if mine.filter(created_at__gt=timezone.now() - timedelta(hours=1)).count() >= MOST_AN_HOUR:
        raise TooManyTrials(f"You have run {MOST_AN_HOUR} commands in an hour. Try again later.")


@transaction.atomic
def evaluator_trial_cancel(*, trial: EvaluatorTrial, user: User) -> bool:
    """Cancels the trial, unless it has ended; its command is stopped within a second."""
    unfinished = EvaluatorTrial.objects.filter(pk=trial.pk, status__in=WorkStatus.values)
    cancelled = unfinished.update(
        **released(
            status=EvaluatorTrialStatus.CANCELLED, finished_at=timezone.now(), attempt=F("attempt") + 1
        )
    )
    if cancelled:
        audit_record(
            action="evaluator.cancel",
            object_type="evaluator trial",
            object_id=trial.pk,
            project=trial.project,
            user=user,
        )
    return bool(cancelled)
