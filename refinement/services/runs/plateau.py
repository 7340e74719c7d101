"""A person's answer to a run that has stopped improving and asks whether to go on."""

from django.db import transaction
from django.utils import timezone

from refinement.engine.codec import rubric_from_json
from refinement.execution.waking import wake
from refinement.models import EventKind, Run, RunStatus, User
from refinement.services.runs.lifecycle import (
    RELEASED,
    Change,
    WrongState,
    idle_seconds,
    locked,
    require_budget,
)

STOP, CONTINUE = "stop", "continue"
ANSWERS = (STOP, CONTINUE)


@transaction.atomic
def plateau_answer(*, run: Run, answer: str, user: User | None = None, status: str = RunStatus.QUEUED) -> Run:
    """End a run on its plateau (`stop`), or have a board judge two more rounds (`continue`).

    With the status RUNNING, no worker is woken: the caller carries out the run itself. Raises ValueError
    for another answer, and WrongState if the run does not ask: if two people answer at once, one of them is
    refused.
    """
    if answer not in ANSWERS:
        raise ValueError(f"The answer is stop or continue, not {answer!r}.")
    run = locked(run)
    change = Change(run, user, f"plateau_{answer}")
    if not run.is_asking:
        raise WrongState(f"Run {run.pk} does not wait for a decision. It may have been made already.")
    fields: dict[str, object] = {"plateau_accepted": True}
    if answer == CONTINUE:
        require_budget(change, rubric_from_json(run.snapshot))
        fields = {"escalated_after": run.rounds_judged}
    change.apply(
        [RunStatus.PAUSED],
        status=status,
        plateau_asked=False,
        woken_at=timezone.now(),
        crashes=0,
        idle_seconds=idle_seconds(run),
        **fields,
        **RELEASED,
    )
    change.event(EventKind.RESUMED, answer=answer)
    if answer == CONTINUE:
        change.event(EventKind.ESCALATED, round=run.rounds_judged)
    if status == RunStatus.QUEUED:
        wake(Run, run.pk)
    return run
