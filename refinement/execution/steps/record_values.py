"""Field values for the rows that record a step's results."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from refinement.engine.metrics import RunMetrics
from refinement.engine.noise import SameTextMove
from refinement.engine.safeguards import RalphSignal
from refinement.engine.types import Assessment, Feedback, PanelSummary, Penalty, Verdict
from refinement.models import Call, CheckResult, Run


@dataclass(frozen=True, slots=True)
class BoardResult:
    """What a board's round has besides its assessment."""

    spread: Mapping[str, Decimal]
    summary: PanelSummary | None
    problem: str = ""  # why the clerk's merge is missing


@dataclass(frozen=True, slots=True)
class JudgedRound:
    """A round's assessment and the other results of judging it."""

    number: int
    assessment: Assessment
    metrics: RunMetrics
    signal: RalphSignal | None
    seen_chars: int | None
    cut: bool  # whether the judge saw only a part of the candidate
    attempts: int
    board: BoardResult | None = None
    move: SameTextMove | None = None  # of the score, on the same text


def usage_values(run: Run, call: Call) -> dict[str, Any]:
    """The run's usage totals with this call added, for the holder of its lease to write.

    Includes the models' families and context windows, which the run's first call to each of them sets.
    """
    return {
        "judge_context": run.judge_context,
        "judge_family": run.judge_family,
        "producer_context": run.producer_context,
        "producer_family": run.producer_family,
        "other_contexts": run.other_contexts,
        "prompt_tokens": run.prompt_tokens + call.prompt_tokens,
        "completion_tokens": run.completion_tokens + call.completion_tokens,
        "calls_made": run.calls_made + 1,
        "model_seconds": Decimal(run.model_seconds) + Decimal(str(call.seconds)),
        "cost": run.cost if call.cost is None else (run.cost or 0) + call.cost,
    }


def metric_values(metrics: RunMetrics) -> dict[str, Any]:
    return {
        "r1": metrics.r1,
        "best": metrics.best,
        "last": metrics.last,
        "improvement": metrics.improvement,
        "best_round": metrics.best_round,
        "rounds_judged": metrics.rounds,
    }


def run_score_values(run: Run, judged: JudgedRound) -> dict[str, Any]:
    """The run's score fields, for lists and filters, with this round added."""
    return {
        **metric_values(judged.metrics),
        "trajectory": [*run.trajectory, str(round(judged.assessment.composite, 6))],
        "signal_rounds": run.signal_rounds + (judged.signal is not None),
        "penalty_rounds": run.penalty_rounds + bool(judged.assessment.penalties),
        "cut_rounds": run.cut_rounds + judged.cut,
        "same_text_moved": largest_move(run, judged.move),
    }


def largest_move(run: Run, move: SameTextMove | None) -> Decimal | None:
    """How far the score moved at most on the same text, with this round; None if it never did."""
    moves = [abs(move.moved)] if move else []
    return max([*moves, *([run.same_text_moved] if run.same_text_moved is not None else [])], default=None)


def judged_values(judged: JudgedRound, call: Call | None) -> dict[str, Any]:
    assessment = judged.assessment
    return {
        "judged_at": timezone.now(),
        "parse_rung": call.rung if call else "",
        "composite": assessment.composite,
        "scores": {key: str(score) for key, score in assessment.scores.items()},
        "penalties": [penalty_values(penalty) for penalty in assessment.penalties],
        "contract_violation": assessment.contract_violation,
        "signals": [
            *([signal_values(judged.signal)] if judged.signal else []),
            *([move_values(judged.move)] if judged.move else []),
        ],
        "seen_chars": judged.seen_chars,
        "judge_attempts": judged.attempts,
        **(board_result_values(judged.board) if judged.board else {}),
    }


def board_result_values(result: BoardResult) -> dict[str, Any]:
    summary = result.summary or PanelSummary()
    return {
        "spread": {key: str(spread) for key, spread in result.spread.items()},
        "summary": {
            "working": list(summary.working),
            "not_working": list(summary.not_working),
            "direction": summary.direction,
            "problem": result.problem,
        },
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
            score=result.score,
            expected=result.expected,
            actual=result.actual,
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


def move_values(move: SameTextMove) -> dict[str, Any]:
    return {
        "kind": "same_text",
        "from_round": move.from_round,
        "moved": str(round(move.moved, 6)),
        "candidate_change": str(round(move.candidate_change, 4)),
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
        "failure_texts": [f"{result.message} {result.suggestion}".strip() for result in feedback.failures],
        "note": feedback.note,
        **instruction_values(feedback),
    }


def instruction_values(feedback: Feedback) -> dict[str, Any]:
    """The instructions given to the producer; empty if there were none."""
    instructions = [
        {"id": entry.number, "author": entry.author, "text": entry.text} for entry in feedback.instructions
    ]
    return {"instructions": instructions} if instructions else {}
