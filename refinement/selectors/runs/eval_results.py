"""A finished run as an eval case result."""

from collections.abc import Mapping
from decimal import Decimal

from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import weighted_mean
from refinement.engine.types import ZERO, Outcome, Rubric, Severity
from refinement.evals.planning import NO_ASSERTIONS, Job
from refinement.evals.reports.results import FORMAT_VERSION, AssertResult, Iteration, Ralph, Result, SetResult
from refinement.evals.types import Case
from refinement.judging.checks import actual_words
from refinement.models import Round, Run
from refinement.providers.base import ErrorKind
from refinement.selectors.runs.reports import number
from refinement.selectors.trust.gate import Rule, run_standing

SEVERITIES = [severity.value for severity in Severity]


def eval_result(run: Run, job: Job, rule: Rule | None = None) -> Result:
    """The case's line in results.jsonl, based on the best iteration.

    A PASS counts only if its judge has what the project requires, or `rule` in its place.
    """
    standing = run_standing(run, rule)
    proven = standing is None or standing.proven
    passed = run.outcome == Outcome.PASS
    rubric = rubric_from_json(run.snapshot)
    rounds = list(run.rounds.prefetch_related("verdicts", "check_results").order_by("number"))
    best = next((row for row in rounds if row.number == run.best_round), None)
    asserts = assert_results(best, rubric, job.case) if best else []
    return {
        "wiggum_eval": FORMAT_VERSION,
        "key": job.key,
        "eval": job.file.name,
        "file": str(job.file.path),
        "line": job.case.line,
        "case": job.case.name,
        "trial": job.trial,
        "trials": job.trials,
        "target": job.target.name,
        "model": run.producer_model,
        "run": run.pk,
        "passed": passed and proven,
        "outcome": run.outcome,
        "score": number(run.best),
        "threshold": number(rubric.policy.pass_threshold),
        "output": best.candidate if best else "",
        "asserts": asserts,
        "sets": set_results(asserts, job.case),
        "metrics": metrics_of(asserts),
        "issues": [issue for verdict in best.verdicts.all() for issue in verdict.issues] if best else [],
        "ralph": ralph_of(run),
        "iterations": [iteration_of(row, rubric, job.case) for row in rounds if row.composite is not None],
        "tags": list(job.case.tags),
        "metadata": dict(job.case.metadata),
        "tokens": run.tokens,
        "cost": number(run.cost),
        "seconds": float(run.model_seconds),
        "why": standing.sentence if standing and passed and not proven else run.why,
        "judge_proven": standing.proven if standing else None,
        "unproven_reason": standing.reason if standing else "",
        "unreachable": is_unreachable(run),
    }


def ralph_of(run: Run) -> Ralph:
    return {
        "iterations": run.rounds_judged,
        "scores": [float(score) for score in run.trajectory],
        "stop_reason": run.stop_reason,
        "improvement": number(run.improvement),
        "passed_iteration": run.passed_in_round,
        "best_iteration": run.best_round,
    }


def iteration_of(row: Round, rubric: Rubric, case: Case) -> Iteration:
    """One answer: its score, its assertions, and what the next prompt says about those that failed."""
    asserts = assert_results(row, rubric, case)
    failed = [entry for entry in asserts if entry["passed"] is False]
    return {
        "iteration": row.number,
        "score": number(row.composite),
        "asserts": asserts,
        "feedback": sorted(
            (
                {
                    "severity": entry["severity"],
                    "id": entry["id"],
                    "reason": entry["message"],
                    "expected": entry["expected"],
                    "actual": entry["actual"],
                    "suggestion": entry["suggestion"],
                }
                for entry in failed
            ),
            key=lambda entry: SEVERITIES.index(entry["severity"]),
        ),
    }


def assert_results(row: Round, rubric: Rubric, case: Case) -> list[AssertResult]:
    """Check results, then the judge's scores."""
    sets = {key: name for name, keys in case.sets.items() for key in keys}
    found: list[AssertResult] = [
        {
            "id": result.key,
            "type": case.types.get(result.key, ""),
            "passed": result.passed,
            "score": float(result.passed if result.score is None else result.score),
            "weight": float(result.weight),
            "severity": result.severity,
            "message": result.message,
            "expected": result.expected,
            "actual": result.actual,
            "suggestion": result.suggestion,
            "metric": case.metrics.get(result.key, ""),
            "set": sets.get(result.key, ""),
        }
        for result in row.check_results.all()
        if result.key != NO_ASSERTIONS
    ]
    return [*found, *criterion_results(row, rubric, case, sets)]


def criterion_results(row: Round, rubric: Rubric, case: Case, sets: Mapping[str, str]) -> list[AssertResult]:
    said = {entry["key"]: entry for verdict in row.verdicts.all() for entry in verdict.scores}
    needed = {key for gate in rubric.gates or () for key in gate.keys}
    found: list[AssertResult] = []
    for criterion in rubric.criteria:
        score = (row.scores or {}).get(criterion.key)
        mark = rubric.mark_of(criterion.key)
        passed = None if score is None else Decimal(score) >= mark
        words = said.get(criterion.key, {})
        found.append(
            {
                "id": criterion.key,
                "type": case.types.get(criterion.key, ""),
                "passed": passed,
                "score": None if score is None else float(Decimal(score)),
                "weight": float(criterion.weight),
                "severity": Severity.ERROR.value if criterion.key in needed else Severity.WARNING.value,
                "message": str(words.get("reasoning", "")),
                "expected": "" if passed else f"{criterion.name} (at least {mark.normalize():f})",
                "actual": "" if passed else actual_words(row.candidate, None),
                "suggestion": str(words.get("improvement", "")),
                "metric": case.metrics.get(criterion.key, ""),
                "set": sets.get(criterion.key, ""),
            }
        )
    return found


def set_results(asserts: list[AssertResult], case: Case) -> list[SetResult]:
    """Each assert-set: its score, and whether it held."""
    found: list[SetResult] = []
    for name, keys in case.sets.items():
        parts = [entry for entry in asserts if entry["id"] in keys]
        score = mean_of(parts)
        threshold = next((rule.threshold for rule in case.rules if rule.keys == keys and len(keys) > 1), None)
        held = all(entry["passed"] for entry in parts) if threshold is None else score >= threshold
        found.append({"id": name, "passed": held, "score": float(score), "asserts": list(keys)})
    return found


def metrics_of(asserts: list[AssertResult]) -> dict[str, float]:
    """The weighted mean of each metric that the file names."""
    names = dict.fromkeys(entry["metric"] for entry in asserts if entry["metric"])
    return {name: float(mean_of([entry for entry in asserts if entry["metric"] == name])) for name in names}


def mean_of(parts: list[AssertResult]) -> Decimal:
    pairs = [(Decimal(str(entry["weight"])), Decimal(str(entry["score"] or 0))) for entry in parts]
    return weighted_mean(pairs) if pairs else ZERO


def is_unreachable(run: Run) -> bool:
    """Whether the run ended because a model server could not be reached."""
    if run.outcome != Outcome.ERROR:
        return False
    last = run.calls.order_by("-id").values_list("error_kind", flat=True).first()
    return last == ErrorKind.UNREACHABLE
