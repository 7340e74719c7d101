"""What people do to runs that are there: cancel, pause, resume, retry, run again, add rounds."""

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
from refinement.models import EventKind, Instruction, LiveText, Round, RoundOrigin, Run, RunStatus, User
from refinement.providers.registry import Target, scripted_specs
from refinement.selectors.rubrics.commands import command_refusal
from refinement.selectors.runs.history import definition_of_run
from refinement.selectors.runs.imports import lacking, listed
from refinement.services.audit import audit_record
from refinement.services.notices.creating import notice_run_ended
from refinement.services.runs.creating import run_create
from refinement.services.webhooks.events import hook_run_finished

GOING = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)
LET_GO: dict[str, object] = {
    "lease_owner": "",
    "lease_until": None,
    "calling_endpoint": "",
    "next_try_at": None,
    "waiting_for": "",
    "waiting_endpoint": "",
}
NOT_FINISHED: dict[str, object] = {"outcome": "", "stop_reason": "", "why": "", "finished_at": None}
STEP_ANEW: dict[str, object] = {"step_failures": 0, "step_unreadable": 0, "crashes": 0}
REFUSALS = {
    "cancel": "it cannot be cancelled.",
    "pause": "it cannot be paused.",
    "resume": "only a paused run can be resumed.",
    "retry": "only a run that ended in ERROR can be retried.",
    "continue": "only a finished run can be given more rounds.",
    "edit": "pause it before you edit a round.",
}
MOST_MORE_ROUNDS = 50
ON_RECORD = frozenset({"retry", "continue", "edit"})  # what an imported run is not open to


class WrongState(Exception):
    """The run is not in a state in which this can be done; the message says in which it is."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of state that takes effect once, whoever else is changing the run."""

    run: Run
    user: User | None
    verb: str  # as the audit log has it, and the key of the refusal

    def apply(self, allowed: Collection[str], **fields: object) -> None:
        """The conditional update: it finds the run in one of the allowed states, or nothing happens."""
        if self.run.is_imported and self.verb in ON_RECORD:
            self.refuse("was imported: it is a record and does not go on. Run it again instead.")
        before = state_of(self.run)
        changed = Run.objects.filter(pk=self.run.pk, status__in=list(allowed)).update(
            attempt=F("attempt") + 1, **fields
        )
        if not changed:
            self.refuse()
        self.run.refresh_from_db()
        audit_record(
            action=f"run.{self.verb}",
            object_type="run",
            object_id=self.run.pk,
            project=self.run.project,
            user=self.user,
            before=before,
            after=state_of(self.run),
        )

    def refuse(self, words: str = "") -> NoReturn:
        """Says in which state the run is, and what would be needed; or the words given."""
        run = self.run
        state = RunStatus(run.status).label.lower()
        if run.status == RunStatus.PAUSED and self.verb == "pause":
            words = "is already paused."
        if run.outcome and self.verb == "retry":
            state = f"finished with {run.outcome}"
        raise WrongState(f"Run {run.pk} {words or f'is {state}; {REFUSALS[self.verb]}'}")

    def event(self, kind: str, **data: object) -> None:
        event_record(self.run.pk, kind, actor=actor_name(self.user), user=self.user, data=data)


@transaction.atomic
def run_cancel(*, run: Run, user: User | None = None) -> Run:
    """Ends the run for good; whoever is at work on it stops within a second."""
    run = locked(run)
    change = Change(run, user, "cancel")
    judged = f" after round {run.rounds_judged}" if run.rounds_judged else " before any round was judged"
    why = f"Cancelled by {actor_name(user)}{judged}."
    change.apply(
        (*GOING, RunStatus.PAUSED),
        status=RunStatus.FINISHED,
        outcome=Outcome.CANCELLED,
        stop_reason=StopReason.CANCELLED,
        why=why,
        finished_at=timezone.now(),
        **LET_GO,
    )
    LiveText.objects.filter(run=run).delete()
    change.event(EventKind.STOPPED, outcome=Outcome.CANCELLED, reason=StopReason.CANCELLED, why=why)
    notice_run_ended(run, outcome=Outcome.CANCELLED, by=user)
    hook_run_finished(run)
    return run


@transaction.atomic
def run_pause(*, run: Run, user: User | None = None) -> Run:
    """Holds the run where it is; a reply under way is dropped and asked for again later."""
    run = locked(run)
    change = Change(run, user, "pause")
    change.apply(GOING, status=RunStatus.PAUSED, **LET_GO)
    LiveText.objects.filter(run=run).delete()
    change.event(EventKind.PAUSED)
    return run


@transaction.atomic
def run_resume(*, run: Run, user: User | None = None) -> Run:
    """Lets a paused run go on."""
    run = locked(run)
    change = Change(run, user, "resume")
    # Somebody has looked at it: workers that were lost before do not count any more.
    change.apply([RunStatus.PAUSED], status=RunStatus.QUEUED, woken_at=timezone.now(), crashes=0, **LET_GO)
    change.event(EventKind.RESUMED)
    wake(Run, run.pk)
    return run


@transaction.atomic
def run_retry(*, run: Run, user: User | None = None) -> Run:
    """Takes a run that ended in an error up again, from its last good step."""
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
        **STEP_ANEW,
        **NOT_FINISHED,
        **LET_GO,
    )
    change.event(EventKind.RETRIED)
    wake(Run, run.pk)
    return run


@transaction.atomic
def run_continue(*, run: Run, rounds: int, user: User | None = None) -> Run:
    """Gives a finished run so many more rounds; the first of them starts from its best."""
    if not 1 <= rounds <= MOST_MORE_ROUNDS:
        raise ValidationError({"rounds": f"Ask for 1 to {MOST_MORE_ROUNDS} more rounds."})
    run = locked(run)
    change = Change(run, user, "continue")
    definition = rubric_from_json(run.snapshot)
    refuse_hopeless(change, definition)
    longer = replace(definition.policy, max_rounds=run.rounds_judged + rounds)
    change.apply(
        [RunStatus.FINISHED],
        status=RunStatus.QUEUED,
        snapshot=rubric_to_json(replace(definition, policy=longer)),
        extended_after=run.rounds_judged,
        woken_at=timezone.now(),
        **STEP_ANEW,
        **NOT_FINISHED,
        **LET_GO,
    )
    forget_unjudged(run)
    change.event(EventKind.EXTENDED, rounds=rounds)
    wake(Run, run.pk)
    return run


def unjudged_drafts(run: Run) -> QuerySet[Round]:
    """Candidates of a model that nobody judged; what people edited by hand is not among them."""
    unjudged = run.rounds.filter(number__gt=run.rounds_judged, judged_at__isnull=True)
    return unjudged.exclude(origin=RoundOrigin.HAND)


def forget_unjudged(run: Run) -> None:
    """A candidate that nobody judged before the run was cancelled is not built upon; people's work stays."""
    dropped = list(unjudged_drafts(run).values_list("number", flat=True))
    run.rounds.filter(number__in=dropped).delete()
    # What people had asked of it waits for the next revision again.
    Instruction.objects.filter(run=run, used_in_round__in=dropped).update(used_in_round=None)


def refuse_hopeless(change: Change, definition: Rubric) -> None:
    """What more rounds cannot help is said at once, not by a run that ends as soon as it is woken."""
    run = change.run
    if not run.outcome:
        change.refuse()
    if run.outcome == Outcome.ERROR:
        change.refuse("ended in ERROR; retry it before asking for more rounds.")
    if not run.rounds_judged:
        change.refuse("has no judged round to go on from; run it again instead.")
    dropped = unjudged_drafts(run)
    if run.human_scores.filter(round__in=dropped).exists():
        change.refuse("has a round that was scored by people and never judged; run it again instead.")
    refuse_spent(change, definition)


def refuse_spent(change: Change, definition: Rubric) -> None:
    """A run that has used up a budget would end as soon as it is woken."""
    run = change.run
    used = Usage(run.tokens, Decimal(run.model_seconds), run.calls_made)
    spent = spent_budget(definition, History(rounds=(), usage=used))
    if spent is not None:
        budget = spent.removeprefix("budget_")
        change.refuse(f"has spent its budget of {budget}; run it again with a larger one.")


@transaction.atomic
def run_rerun(*, run: Run, user: User | None = None) -> Run:
    """The same task, seed, rubric and models as a new run; WrongState where an imported one lacks some."""
    if missing := lacking(run):
        raise WrongState(
            f"Run {run.pk} was imported without {listed(missing)}. Choose “Edit and rerun” to fill that in."
        )
    definition = definition_of_run(run)
    if refusal := command_refusal(definition):
        raise WrongState(refusal)
    if scripted_specs(run.producer_endpoint, run.judge_endpoint):
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
        definition=definition,
        user=user,
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
    """The run as it is now, held against other changes until the transaction ends."""
    return Run.objects.select_for_update(of=("self",)).select_related("project").get(pk=run.pk)
