"""A finished run as an eval case result."""

from collections.abc import Mapping
from decimal import Decimal

from refinement.engine.codec import rubric_from_json
from refinement.engine.types import Outcome, Rubric
from refinement.evals.planning import Job
from refinement.evals.results import FORMAT_VERSION, AssertResult, Ralph, Result
from refinement.models import Round, Run
from refinement.providers.base import ErrorKind
from refinement.selectors.runs.reports import number


def eval_result(run: Run, job: Job) -> Result:
    """The case's line in results.jsonl, based on the best iteration."""
    rubric = rubric_from_json(run.snapshot)
    rounds = run.rounds.prefetch_related("verdicts", "check_results")
    best = rounds.filter(number=run.best_round or 0).first()
    threshold = rubric.policy.pass_threshold
    return {
        "wiggum_eval": FORMAT_VERSION,
        "key": job.key,
        "eval": job.file.name,
        "file": str(job.file.path),
        "case": job.case.name,
        "target": job.target.name,
        "model": run.producer_model,
        "run": run.pk,
        "passed": run.outcome == Outcome.PASS,
        "outcome": run.outcome,
        "score": number(run.best),
        "threshold": number(threshold),
        "output": best.candidate if best else "",
        "asserts": assert_results(best, rubric, job.case.types) if best else [],
        "issues": [issue for verdict in best.verdicts.all() for issue in verdict.issues] if best else [],
        "ralph": ralph_of(run),
        "tokens": run.tokens,
        "seconds": float(run.model_seconds),
        "why": run.why,
        "unreachable": is_unreachable(run),
    }


def ralph_of(run: Run) -> Ralph:
    return {
        "iterations": run.rounds_judged,
        "scores": [float(score) for score in run.trajectory],
        "stop_reason": run.stop_reason,
        "improvement": number(run.improvement),
        "passed_iteration": run.passed_in_round,
    }


def assert_results(best: Round, rubric: Rubric, types: Mapping[str, str]) -> list[AssertResult]:
    """Check results, then the judge's scores."""
    found: list[AssertResult] = [
        {
            "id": result.key,
            "type": types.get(result.key, ""),
            "passed": result.passed,
            "score": float(result.passed),
            "weight": float(result.weight),
            "severity": result.severity,
            "message": result.message,
            "suggestion": result.suggestion,
        }
        for result in best.check_results.all()
    ]
    reasons = {
        entry["key"]: entry["reasoning"] for verdict in best.verdicts.all() for entry in verdict.scores
    }
    for criterion in rubric.criteria:
        score = (best.scores or {}).get(criterion.key)
        found.append(
            {
                "id": criterion.key,
                "type": types.get(criterion.key, ""),
                "passed": None,
                "score": None if score is None else float(Decimal(score)),
                "weight": float(criterion.weight),
                "severity": "error",
                "message": reasons.get(criterion.key, ""),
                "suggestion": "",
            }
        )
    return found


def is_unreachable(run: Run) -> bool:
    """Whether the run ended because a model server could not be reached."""
    if run.outcome != Outcome.ERROR:
        return False
    last = run.calls.order_by("-id").values_list("error_kind", flat=True).first()
    return last == ErrorKind.UNREACHABLE
