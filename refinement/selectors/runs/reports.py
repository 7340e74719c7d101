"""A run as one JSON object: figures, rounds and the best candidate."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from refinement.engine.types import JudgeMode
from refinement.models import BoardVerdict, Round, Run
from refinement.selectors.runs.boards.answers import answers_by_round, judge_report, model_name, numbers
from refinement.selectors.runs.evaluators.metrics import RoundMetrics, counted, metric_names, metrics_by_round
from refinement.selectors.runs.noise import is_noise
from refinement.selectors.trust.gate import run_standing


def run_report(run: Run) -> dict[str, Any]:
    """The full run for scripts; scores are numbers, texts are complete."""
    rows = list(
        run.rounds.order_by("number").prefetch_related("verdicts", "check_results").defer("candidate")
    )
    metrics = metrics_by_round(rows, metric_names(run.snapshot))
    boards, standing = answers_by_round(rows), run_standing(run)
    best = run.rounds.filter(number=run.best_round or 0).values_list("candidate", flat=True).first()
    return {
        "run": run.pk,
        "task_type": run.task_type,
        "status": run.status,
        "asking": run.is_asking,
        "outcome": run.outcome,
        "stop_reason": run.stop_reason,
        "why": run.why,
        **judging_report(run),
        "rounds": [round_report(row, metrics.get(row.pk, {}), boards.get(row.pk, [])) for row in rows],
        "best_round": run.best_round,
        "passed_in_round": run.passed_in_round,
        "r1": number(run.r1),
        "best": number(run.best),
        "last": number(run.last),
        "improvement": number(run.improvement),
        "judge_proven": standing.proven if standing else None,
        "unproven_reason": standing.reason if standing else "",
        "within_noise": is_noise(run),
        "smallest_difference": number(run.smallest_difference),
        "tokens": run.tokens,
        "seconds": float(run.model_seconds),
        "best_candidate": best,
    }


def judging_report(run: Run) -> dict[str, Any]:
    """Who judges the run."""
    return {
        "judge_mode": run.snapshot.get("judges", {}).get("mode", JudgeMode.SINGLE),
        "panel": [
            {"name": row.name, "lens": row.lens, "model": model_name(row), "by_clerk": row.by_clerk}
            for row in run.panel.all()
        ],
        "clerk": f"{run.clerk_endpoint}/{run.clerk_model}" if run.clerk_model else "",
        "escalated_after": run.escalated_after,
    }


def round_report(row: Round, metrics: RoundMetrics, board: Sequence[BoardVerdict] = ()) -> dict[str, Any]:
    verdict = next(iter(row.verdicts.all()), None)
    return {
        "round": row.number,
        "composite": number(row.composite),
        "scores": {key: number(Decimal(score)) for key, score in (row.scores or {}).items()},
        "metrics": {name: number(value) for name, value in counted(metrics).items()},
        "contract_violated": row.contract_violated,
        "contract_violation": row.contract_violation,
        "penalties": row.penalties,
        "checks": [
            {
                "key": result.key,
                "passed": result.passed,
                "severity": result.severity,
                "message": result.message,
                "suggestion": result.suggestion,
            }
            for result in row.check_results.all()
        ],
        "issues": verdict.issues if verdict else [],
        "asi": verdict.asi if verdict else "",
        "judges": [judge_report(answer) for answer in board],
        "spread": None if row.spread is None else numbers(row.spread),
        "summary": row.summary,
        "key_change": row.key_change,
        "seen_chars": row.seen_chars,
        "candidate_chars": row.candidate_chars,
        "judge_attempts": row.judge_attempts,
        "parse_rung": row.parse_rung or None,
        "signals": row.signals,
    }


def number(value: Decimal | None) -> float | None:
    """For display and scripts; never used for decisions."""
    return None if value is None else float(value)
