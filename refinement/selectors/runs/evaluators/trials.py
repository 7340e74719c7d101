"""Evaluator trials for pages and the API."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import Http404

from refinement.engine.repeating import is_noise
from refinement.engine.scoring import shown_metric
from refinement.models import EvaluatorResult, EvaluatorTrial, Project, Round
from refinement.selectors.runs.evaluators.metrics import metric_names, metrics_of
from refinement.selectors.runs.evaluators.results import EvaluatorFacts, facts_of
from refinement.selectors.runs.live.steps import waiting_words

SHOWN_TRIALS = 20  # the newest of a round


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """A trial as shown. `result` is None until it has run; `differences` compare it with its round."""

    trial: EvaluatorTrial
    words: str
    result: EvaluatorFacts | None
    contract_violation: str
    differences: tuple[str, ...] = ()


def evaluator_trial_or_404(project: Project, pk: int) -> EvaluatorTrial:
    trial = EvaluatorTrial.objects.select_related("round", "result").filter(project=project, pk=pk).first()
    if trial is None:
        raise Http404("There is no such evaluator trial in this project.")
    return trial


def trials_of_round(entry: Round) -> list[TrialFacts]:
    """The newest trials of a round, oldest first. Two queries."""
    rows = EvaluatorTrial.objects.filter(round=entry).select_related("result", "created_by")
    newest = list(rows.defer("text").order_by("-pk")[:SHOWN_TRIALS])
    first = EvaluatorResult.objects.filter(round=entry).defer("stdout", "stderr").first() if newest else None
    return [trial_facts(trial, first) for trial in reversed(newest)]


def trial_facts(trial: EvaluatorTrial, first: EvaluatorResult | None = None) -> TrialFacts:
    """The trial's state and result; `first` is the result of its round, to compare with."""
    result = getattr(trial, "result", None)
    names = metric_names(trial.definition)
    return TrialFacts(
        trial=trial,
        words=status_words(trial),
        result=facts_of(result, names) if result else None,
        contract_violation=result.contract_violation if result else "",
        differences=tuple(differences(names, first.metrics, result.metrics)) if first and result else (),
    )


def status_words(trial: EvaluatorTrial) -> str:
    return {
        EvaluatorTrial.Status.QUEUED: "Queued. Starts when a worker is free.",
        EvaluatorTrial.Status.RUNNING: "The command is running.",
        EvaluatorTrial.Status.WAITING: waiting_words(trial.waiting_for),
        EvaluatorTrial.Status.FAILED: f"Not run: {trial.error}",
        EvaluatorTrial.Status.CANCELLED: "Cancelled.",
    }.get(EvaluatorTrial.Status(trial.status), "")


def differences(names: Sequence[str], first: dict[str, list[str]], again: dict[str, list[str]]) -> list[str]:
    """How each metric differs from the round's first result, and whether that is noise."""
    before, now = metrics_of(names, first), metrics_of(names, again)
    lines = []
    for name in names:
        old, new = before[name], now[name]
        if old is None or new is None:
            continue
        change = new.value - old.value
        noise = " (within noise)" if is_noise(new, old) else ""
        lines.append(f"{name}: {'+' if change > 0 else ''}{shown_metric(change)}{noise}")
    return lines
