"""Run a round's evaluator again, next to its first result."""

from datetime import datetime
from typing import Any

from ninja import Field, Router, Schema

from refinement.access.objects import run_or_404
from refinement.api.core.auth import ApiRequest
from refinement.api.core.idempotency import creates
from refinement.api.core.permissions import member
from refinement.api.core.problems import Refused
from refinement.api.runs.rounds import round_or_404
from refinement.models import EvaluatorTrial
from refinement.selectors.runs.evaluators.trials import TrialFacts, trials_of_round
from refinement.services.runs.evaluator_trials import TooManyTrials, evaluator_again

router = Router(tags=["Rounds"])
RESULT_FIELDS = ("exit_code", "stopped", "failure", "stdout", "stderr", "metrics")


class EvaluatorTrialShape(Schema):
    """A further run of a round's evaluator. It does not change the round's scores."""

    id: int
    status: str = Field(description=f"One of {', '.join(EvaluatorTrial.Status.values)}.", examples=["done"])
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    last_line: str = Field(description="The last line of its output while it runs.")
    error: str = Field(description="Why the command was not run; else empty.")
    exit_code: int | None = Field(description="Null if it was stopped or has not ended.")
    stopped: str
    failure: str
    stdout: str
    stderr: str
    metrics: dict[str, list[str]]
    differences: list[str] = Field(
        description="Each metric compared with the round's first result.",
        examples=[["accuracy: +0.01 (within noise)"]],
    )


@router.get("/{int:run}/rounds/{int:number}/evaluator-trials", response=list[EvaluatorTrialShape])
@member()
def evaluator_trial_list(request: ApiRequest, run: int, number: int) -> list[EvaluatorTrialShape]:
    """List the newest 20 repeats of a round's evaluator, oldest first."""
    entry = round_or_404(run_or_404(request, run, whole=False), number)
    return [trial_shape(facts) for facts in trials_of_round(entry)]


@router.post("/{int:run}/rounds/{int:number}/evaluator-trials", response={201: EvaluatorTrialShape})
@member("editor")
@creates()
def evaluator_trial_new(request: ApiRequest, run: int, number: int) -> EvaluatorTrialShape:
    """Run the round's evaluator again. The scores do not change."""
    found = run_or_404(request, run)
    entry = round_or_404(found, number)
    entry.run = found
    try:
        trial = evaluator_again(entry=entry, user=request.user)
    except TooManyTrials as limit:
        raise Refused(429, str(limit), "too_many_trials") from limit
    return next(trial_shape(facts) for facts in trials_of_round(entry) if facts.trial.pk == trial.pk)


def trial_shape(facts: TrialFacts) -> EvaluatorTrialShape:
    trial, result = facts.trial, getattr(facts.trial, "result", None)
    own = ("status", "created_at", "started_at", "finished_at", "last_line", "error")
    empty: dict[str, Any] = dict.fromkeys(RESULT_FIELDS, "") | {"exit_code": None, "metrics": {}}
    return EvaluatorTrialShape(
        id=trial.pk,
        **{name: getattr(trial, name) for name in own},
        **({name: getattr(result, name) for name in RESULT_FIELDS} if result else empty),
        differences=list(facts.differences),
    )
