"""State changes of existing runs: cancel, pause, resume, retry, rerun and add rounds."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NoReturn

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.stopping import spent_budget
from refinement.engine.types import History, Outcome, Rubric, StopReason, Usage
from refinement.execution.events import actor_name, event_record
from refinement.execution.waking import wake
from refinement.models import (
    BoardVerdict,
    Event,
    EventKind,
    Instruction,
    LiveText,
    Round,
    RoundOrigin,
    Run,
    RunStatus,
    User,
)
from refinement.providers.registry import Target, scripted_specs
from refinement.selectors.projects.budgets import budget_of
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.runs.history import definition_of_run, sources_of
from refinement.selectors.runs.imports import lacking, listed
from refinement.services.audit import audit_record
from refinement.services.experiments.cells import cell_follow
from refinement.services.notices.creating import notice_run_ended
from refinement.services.runs.creating import run_create
from refinement.services.runs.log import log_run_ended
from refinement.services.webhooks.events import hook_run_finished

GOING = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)
RELEASED: dict[str, object] = {
    "lease_owner": "",
    "lease_until": None,
    "calling": {},
    "next_try_at": None,
    "waiting_for": "",
    "waiting_endpoint": "",
    "pause_after_round": False,
}
NOT_FINISHED: dict[str, object] = {
    "outcome": "",
    "stop_reason": "",
    "why": "",
    "passed_in_round": None,
    "finished_at": None,
}
STEP_RESET: dict[str, object] = {
    "step_failures": 0,
    "step_unreadable": 0,
    "board_unreadable": {},
    "crashes": 0,
}
REFUSALS = {
    "cancel": "it cannot be stopped.",
    "pause": "it cannot be paused.",
    "pause_later": "it cannot be paused.",
    "go_on": "it cannot be paused.",
    "resume": "only a paused run can be resumed.",
    "retry": "only a run that ended in ERROR can be retried.",
    "continue": "only a finished run can get more rounds.",
    "edit": "pause it before editing a round.",
}
ASKS = "waits for a decision: stop it, or continue with two more rounds judged by a board."
READ_ONLY = "is the prepared example. No model wrote it, so it is read-only and cannot run."
MOST_MORE_ROUNDS = 50
NOT_FOR_IMPORTED = frozenset({"retry", "continue", "edit"})


class WrongState(Exception):
    """The run's state does not allow the action. The message names the state."""


@dataclass(frozen=True, slots=True)
class Change:
    """A state change that takes effect exactly once, even if others change the run at the same time."""

    run: Run
    user: User | None
    verb: str  # in the audit log, and the key in REFUSALS

    def apply(self, allowed: Collection[str], **fields: object) -> None:
        """Update the run if it is in one of the allowed states. Raises WrongState otherwise."""
        if self.run.is_example:
            self.refuse(READ_ONLY)
        if self.run.is_imported and self.verb in NOT_FOR_IMPORTED:
            self.refuse("was imported and cannot continue. Rerun it instead.")
        before = state_of(self.run)
        changed = Run.objects.filter(pk=self.run.pk, status__in=list(allowed)).update(
            attempt=F("attempt") + 1, **fields
        )
        if not changed:
            self.refuse()
        self.run.refresh_from_db()
        cell_follow(self.run)
        self.audit(before, state_of(self.run))

    def audit(self, before: dict[str, object], after: dict[str, object]) -> None:
        audit_record(
            action=f"run.{self.verb}",
            object_type="run",
            object_id=self.run.pk,
            project=self.run.project,
            user=self.user,
            before=before,
            after=after,
        )

    def refuse(self, message: str = "") -> NoReturn:
        """Raise WrongState with `message`, or with the run's state and what the action requires."""
        run = self.run
        state = RunStatus(run.status).label.lower()
        if run.status == RunStatus.PAUSED and self.verb in ("pause", "pause_later"):
            message = "is already paused."
        if run.outcome and self.verb == "retry":
            state = f"finished with {run.outcome}"
        raise WrongState(f"Run {run.pk} {message or f'is {state}; {REFUSALS[self.verb]}'}")

    def event(self, kind: str, **data: object) -> None:
        event_record(self.run.pk, kind, actor=actor_name(self.user), user=self.user, data=data)


@transaction.atomic
def run_cancel(*, run: Run, user: User | None = None) -> Run:
    """Cancel the run. A worker that is executing it stops within a second."""
    run = locked(run)
    change = Change(run, user, "cancel")
    judged = f" after round {run.rounds_judged}" if run.rounds_judged else " before any round was judged"
    why = f"Stopped by {actor_name(user)}{judged}."
    change.apply(
        (*GOING, RunStatus.PAUSED),
        status=RunStatus.FINISHED,
        outcome=Outcome.CANCELLED,
        stop_reason=StopReason.CANCELLED,
        why=why,
        finished_at=timezone.now(),
        plateau_asked=False,
        **RELEASED,
    )
    LiveText.objects.filter(run=run).delete()
    change.event(EventKind.STOPPED, outcome=Outcome.CANCELLED, reason=StopReason.CANCELLED, why=why)
    notice_run_ended(run, outcome=Outcome.CANCELLED, by=user)
    if run.experiment_id is None:
        hook_run_finished(run)
    log_run_ended(run)
    return run


@transaction.atomic
def run_pause(*, run: Run, user: User | None = None) -> Run:
    """Pause the run. A model call in progress is aborted and repeated later."""
    run = locked(run)
    change = Change(run, user, "pause")
    change.apply(GOING, status=RunStatus.PAUSED, **RELEASED)
    LiveText.objects.filter(run=run).delete()
    change.event(EventKind.PAUSED)
    return run


@transaction.atomic
def run_pause_later(*, run: Run, wanted: bool = True, user: User | None = None) -> Run:
    """Pause the run once its round is judged, or cancel that. The worker is not interrupted."""
    run = locked(run)
    change = Change(run, user, "pause_later" if wanted else "go_on")
    if run.status not in GOING:
        change.refuse()
    if run.pause_after_round != wanted:
        run.pause_after_round = wanted
        run.save(update_fields=["pause_after_round"])
        change.audit({"pause_after_round": not wanted}, {"pause_after_round": wanted})
        change.event(EventKind.PAUSING)
    return run


@transaction.atomic
def run_resume(*, run: Run, user: User | None = None) -> Run:
    """Resume a paused run. A run that asks whether to go on needs `plateau_answer` instead."""
    run = locked(run)
    change = Change(run, user, "resume")
    if run.is_asking:
        change.refuse(ASKS)
    # A person intervened, so earlier worker crashes no longer count.
    change.apply(
        [RunStatus.PAUSED],
        status=RunStatus.QUEUED,
        woken_at=timezone.now(),
        crashes=0,
        idle_seconds=idle_seconds(run),
        **RELEASED,
    )
    change.event(EventKind.RESUMED)
    wake(Run, run.pk)
    return run


def idle_seconds(run: Run) -> int:
    """How long the run has been idle in all, if it continues now after a pause or its end."""
    since = run.finished_at
    if run.status == RunStatus.PAUSED:
        pauses = Event.objects.filter(run=run, kind__in=(EventKind.PAUSED, EventKind.ASKED)).order_by("-id")
        since = pauses.values_list("at", flat=True).first()
    # Never negative: the clock of the machine that ended the run may be ahead.
    idle = max(0, round((timezone.now() - since).total_seconds())) if since else 0
    return run.idle_seconds + idle


@transaction.atomic
def run_retry(*, run: Run, user: User | None = None) -> Run:
    """Retry a run that ended in ERROR from its last completed step."""
    run = locked(run)
    change = Change(run, user, "retry")
    if run.outcome != Outcome.ERROR:
        change.refuse()
    change.apply(
        [RunStatus.FINISHED],
        status=RunStatus.QUEUED,
        failure_role="",
        failure_message="",
        woken_at=timezone.now(),
        idle_seconds=idle_seconds(run),
        **STEP_RESET,
        **NOT_FINISHED,
        **RELEASED,
    )
    # Judges that could not be read are asked again; the verdicts of the others are kept.
    BoardVerdict.objects.filter(round__run=run, round__judged_at=None).exclude(problem="").delete()
    change.event(EventKind.RETRIED)
    wake(Run, run.pk)
    return run


@transaction.atomic
def run_continue(*, run: Run, rounds: int, user: User | None = None) -> Run:
    """Add rounds to a finished run, starting from its best round. Raises ValidationError, WrongState."""
    if not 1 <= rounds <= MOST_MORE_ROUNDS:
        raise ValidationError({"rounds": f"Enter 1 to {MOST_MORE_ROUNDS} more rounds."})
    run = locked(run)
    change = Change(run, user, "continue")
    definition = rubric_from_json(run.snapshot)
    require_continuable(change, definition)
    longer = replace(definition.policy, max_rounds=run.rounds_judged + rounds)
    change.apply(
        [RunStatus.FINISHED],
        status=RunStatus.QUEUED,
        snapshot=rubric_to_json(replace(definition, policy=longer)),
        extended_after=run.rounds_judged,
        plateau_accepted=False,
        woken_at=timezone.now(),
        idle_seconds=idle_seconds(run),
        **STEP_RESET,
        **NOT_FINISHED,
        **RELEASED,
    )
    drop_unjudged(run)
    change.event(EventKind.EXTENDED, rounds=rounds)
    wake(Run, run.pk)
    return run


def unjudged_drafts(run: Run) -> QuerySet[Round]:
    """Unjudged rounds written by a model. Rounds edited by hand are not included."""
    unjudged = run.rounds.filter(number__gt=run.rounds_judged, judged_at__isnull=True)
    return unjudged.exclude(origin=RoundOrigin.HAND)


def drop_unjudged(run: Run) -> None:
    """Delete unjudged drafts, so that the next round starts from a judged one."""
    dropped = list(unjudged_drafts(run).values_list("number", flat=True))
    run.rounds.filter(number__in=dropped).delete()
    # Their instructions apply to the next revision.
    Instruction.objects.filter(run=run, used_in_round__in=dropped).update(used_in_round=None)


def require_continuable(change: Change, definition: Rubric) -> None:
    """Raises WrongState if more rounds are impossible, rather than queueing a run that ends at once."""
    run = change.run
    if not run.outcome:
        change.refuse()
    if run.outcome == Outcome.ERROR:
        change.refuse("ended in ERROR; retry it before adding rounds.")
    if not run.rounds_judged:
        change.refuse("has no judged round to continue from; rerun it instead.")
    dropped = unjudged_drafts(run)
    if run.human_scores.filter(round__in=dropped).exists():
        change.refuse("has a round that people scored but the judge did not; rerun it instead.")
    require_budget(change, definition)


def require_budget(change: Change, definition: Rubric) -> None:
    """Raises WrongState if a budget is used up: the run would end at once."""
    run = change.run
    used = Usage(run.tokens, Decimal(run.model_seconds), run.calls_made)
    spent = spent_budget(definition, History(rounds=(), usage=used))
    if spent is not None:
        budget = spent.removeprefix("budget_")
        change.refuse(f"has used up its budget of {budget}; rerun it with a larger one.")


@transaction.atomic
def run_rerun(*, run: Run, user: User | None = None) -> Run:
    """Create a new run with the same task, starting text, sources, rubric and models.

    A panel that the rubric names is used again; one that the clerk composed is composed again. Raises
    WrongState if an imported run lacks some of them, or if its endpoints cannot be used again.
    """
    if run.is_example:
        raise WrongState(f"Run {run.pk} {READ_ONLY}")
    if missing := lacking(run):
        raise WrongState(
            f"Run {run.pk} was imported without {listed(missing)}. Choose “Edit and rerun” to add it."
        )
    definition = definition_of_run(run)
    if refusal := command_refusal(definition):
        raise WrongState(refusal)
    if refusal := budget_of(run.project).refusal:
        raise WrongState(refusal)
    panel = run.panel.values_list("endpoint", flat=True)
    if scripted_specs(run.producer_endpoint, run.judge_endpoint, run.clerk_endpoint, *panel):
        raise WrongState(
            f"Run {run.pk} uses scripted replies, which only work with “wiggum refine” on the command line. "
            "Choose “Edit and rerun” to pick a model."
        )
    again = run_create(
        project=run.project,
        version=run.rubric_version,
        task=run.task,
        seed=run.seed,
        producer=Target(run.producer_endpoint, run.producer_model),
        judge=Target(run.judge_endpoint, run.judge_model),
        clerk=Target(run.clerk_endpoint, run.clerk_model) if run.clerk_model else None,
        held_out=Target(run.held_out_endpoint, run.held_out_model) if run.held_out_model else None,
        definition=definition,
        user=user,
        task_type=run.task_type,
        sources=sources_of(run),
    )
    Run.objects.filter(pk=again.pk).update(rerun_of=run)
    again.rerun_of = run
    audit_record(
        action="run.rerun",
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        after={"new_run": again.pk},
    )
    return again


def state_of(run: Run) -> dict[str, object]:
    return {"status": run.status, "outcome": run.outcome} if run.outcome else {"status": run.status}


def locked(run: Run) -> Run:
    """The current run, locked until the transaction ends."""
    return Run.objects.select_for_update(of=("self",)).select_related("project").get(pk=run.pk)
