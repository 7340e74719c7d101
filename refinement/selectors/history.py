"""A run's rows as the engine's history, and as the brief its prompts are made from."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.db.models import Case, F, Q, QuerySet, TextField, Value, When

from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import assess
from refinement.engine.types import (
    CheckResult,
    CriterionScore,
    EvaluatorOutput,
    Failure,
    History,
    Penalty,
    Place,
    Role,
    Round,
    Rubric,
    Severity,
    Usage,
    Verdict,
)
from refinement.judging.context import Brief, Calibration
from refinement.models import EvaluatorResult, RoundOrigin, Run
from refinement.models import Round as RoundRow


def brief_of(run: Run) -> Brief:
    """All that the run knew at its start."""
    calibration = None
    if run.calibration:
        scores = {key: Decimal(score) for key, score in run.calibration["scores"].items()}
        calibration = Calibration(run.calibration["text"], scores)
    return Brief(
        task=run.task,
        rubric=rubric_from_json(run.snapshot),
        nonce=run.nonce,
        seed=run.seed,
        calibration=calibration,
    )


def definition_of_run(run: Run) -> Rubric:
    """The rubric that the run was made with, its seed calibration included."""
    rubric, kept = rubric_from_json(run.snapshot), run.calibration
    if not kept:
        return rubric
    scores = {key: Decimal(score) for key, score in kept["scores"].items()}
    return replace(rubric, seed_text=kept["text"], seed_scores=scores)


def history_of(run: Run, rubric: Rubric, *, whole: bool = False) -> History:
    """What has happened so far. Unless `whole`, only the texts a next step can need are read."""
    rows = rows_of(run, whole=whole).prefetch_related("verdicts", "check_results")
    if rubric.runs_a_command:
        rows = rows.select_related("evaluator_result").defer(
            "candidate", "feedback", "evaluator_result__stdout", "evaluator_result__stderr"
        )
    return History(rounds=tuple(round_of(row, rubric) for row in rows), **account_of(run))


def account_of(run: Run) -> dict[str, Any]:
    """The parts of a history that stand in the run's own row."""
    failure = None
    if run.failure_role:
        failure = Failure(Role(run.failure_role), run.failure_message)
    return {
        "usage": Usage(run.tokens, Decimal(run.model_seconds), run.calls_made),
        "failure": failure,
        "extended_after": run.extended_after,
    }


def rows_of(run: Run, *, whole: bool) -> QuerySet[RoundRow]:
    rows = RoundRow.objects.filter(run=run).order_by("number").defer("candidate", "feedback")
    if whole:
        return rows.annotate(text=F("candidate"))
    # The first is the seed, the best a base to go back to, the last two are compared and judged.
    needed = Q(number=1) | Q(number=run.best_round) | Q(number__gte=run.rounds_judged)
    return rows.annotate(
        text=Case(When(needed, then=F("candidate")), default=Value(""), output_field=TextField())
    )


def round_of(row: Any, rubric: Rubric) -> Round:
    """The round as the engine knows it; its composite is computed anew from the exact scores."""
    by_hand = row.origin == RoundOrigin.HAND
    if row.judged_at is None:
        return Round(row.number, row.text, None, row.base_round, by_hand)
    verdicts = [verdict_of(verdict) for verdict in row.verdicts.all()]
    assessment = assess(
        rubric,
        verdicts[0] if verdicts else None,
        tuple(check_result_of(result) for result in row.check_results.all()),
        tuple(penalty_of(penalty) for penalty in row.penalties),
        evaluator_in_brief(row) if rubric.runs_a_command else None,
    )
    return Round(row.number, row.text, assessment, row.base_round, by_hand)


def verdict_of(row: Any) -> Verdict:
    return Verdict(
        scores=tuple(
            CriterionScore(
                entry["key"],
                Decimal(entry["score"]),
                entry.get("reasoning", ""),
                entry.get("improvement", ""),
            )
            for entry in row.scores
        ),
        issues=tuple(row.issues),
        asi=row.asi,
        judge=row.judge,
    )


def check_result_of(row: Any) -> CheckResult:
    return CheckResult(
        key=row.key,
        passed=row.passed,
        message=row.message,
        severity=Severity(row.severity),
        weight=row.weight,
        suggestion=row.suggestion,
        place=None if row.start is None else Place(row.start, row.end),
    )


def evaluator_of(row: EvaluatorResult) -> EvaluatorOutput:
    """What the command said, as the judge of its round is given it."""
    return EvaluatorOutput(row.stdout, row.stderr, row.exit_code, row.stopped, row.failure)


def evaluator_in_brief(row: Any) -> EvaluatorOutput | None:
    """How it ended, without its words: those of past rounds go into no prompt."""
    kept: EvaluatorResult | None = getattr(row, "evaluator_result", None)
    return EvaluatorOutput("", "", kept.exit_code, kept.stopped, kept.failure) if kept else None


def penalty_of(values: dict[str, Any]) -> Penalty:
    return Penalty(values["criterion"], Decimal(values["points"]), tuple(values["names"]))
