"""What a step brought, as the values of the rows that keep it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from refinement.engine.metrics import RunMetrics
from refinement.engine.safeguards import RalphSignal
from refinement.engine.types import Assessment, Feedback, Penalty, Verdict
from refinement.models import Call, CheckResult, Run


@dataclass(frozen=True, slots=True)
class Judged:
    """A round's assessment and what is kept beside it."""

    number: int
    assessment: Assessment
    metrics: RunMetrics
    signal: RalphSignal | None
    seen_chars: int | None
    cut: bool  # whether that is less than there is
    attempts: int


def usage_of(run: Run, call: Call) -> dict[str, Any]:
    """The run's account with this call added; only the holder of the lease ever writes it.

    And of the model that was called its family and window, which a run's first call of it has chosen.
    """
    window, family = f"{call.role}_context", f"{call.role}_family"
    return {
        window: getattr(run, window),
        family: getattr(run, family),
        "prompt_tokens": run.prompt_tokens + call.prompt_tokens,
        "completion_tokens": run.completion_tokens + call.completion_tokens,
        "calls_made": run.calls_made + 1,
        "model_seconds": Decimal(run.model_seconds) + Decimal(str(call.seconds)),
    }


def scores_of(metrics: RunMetrics) -> dict[str, Any]:
    return {
        "r1": metrics.r1,
        "best": metrics.best,
        "last": metrics.last,
        "improvement": metrics.improvement,
        "best_round": metrics.best_round,
        "rounds_judged": metrics.rounds,
    }


def figures_of(run: Run, judged: Judged) -> dict[str, Any]:
    """What the run's row says of its scores, for lists and filters, with this round added."""
    return {
        **scores_of(judged.metrics),
        "trajectory": [*run.trajectory, str(round(judged.assessment.composite, 6))],
        "signal_rounds": run.signal_rounds + (judged.signal is not None),
        "penalty_rounds": run.penalty_rounds + bool(judged.assessment.penalties),
        "cut_rounds": run.cut_rounds + judged.cut,
    }


def judged_values(judged: Judged, call: Call | None) -> dict[str, Any]:
    assessment = judged.assessment
    return {
        "judged_at": timezone.now(),
        "parse_rung": call.rung if call else "",
        "composite": assessment.composite,
        "scores": {key: str(score) for key, score in assessment.scores.items()},
        "penalties": [penalty_values(penalty) for penalty in assessment.penalties],
        "signals": [] if judged.signal is None else [signal_values(judged.signal)],
        "seen_chars": judged.seen_chars,
        "judge_attempts": judged.attempts,
    }


def check_rows(round_id: int, assessment: Assessment) -> list[CheckResult]:
    return [
        CheckResult(
            round_id=round_id,
            position=position,
            key=result.key,
            passed=result.passed,
            message=result.message,
            severity=result.severity,
            weight=result.weight,
            suggestion=result.suggestion,
            start=result.place.start if result.place else None,
            end=result.place.end if result.place else None,
        )
        for position, result in enumerate(assessment.checks)
    ]


def verdict_values(verdict: Verdict) -> dict[str, Any]:
    return {
        "judge": verdict.judge,
        "scores": [
            {
                "key": entry.key,
                "score": str(entry.score),
                "reasoning": entry.reasoning,
                "improvement": entry.improvement,
            }
            for entry in verdict.scores
        ],
        "issues": list(verdict.issues),
        "asi": verdict.asi,
    }


def penalty_values(penalty: Penalty) -> dict[str, Any]:
    return {"criterion": penalty.criterion, "points": str(penalty.points), "names": list(penalty.names)}


def signal_values(signal: RalphSignal) -> dict[str, str]:
    return {
        "kind": "ralph",
        "candidate_change": str(round(signal.candidate_change, 4)),
        "verdict_change": str(round(signal.verdict_change, 4)),
        "about": signal.about,
    }


def feedback_values(feedback: Feedback | None) -> dict[str, Any] | None:
    if feedback is None:
        return None
    return {
        "style": feedback.style.value,
        "from_round": feedback.from_round,
        "issues": list(feedback.issues),
        "asi": feedback.asi,
        "failures": [result.key for result in feedback.failures],
        "note": feedback.note,
        **instruction_values(feedback),
    }


def instruction_values(feedback: Feedback) -> dict[str, Any]:
    """Who told the producer what; without a key where nobody did."""
    said = [
        {"id": entry.number, "author": entry.author, "text": entry.text} for entry in feedback.instructions
    ]
    return {"instructions": said} if said else {}
