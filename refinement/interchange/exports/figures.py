"""Computes composites and metrics of a run document, regardless of the totals in its file."""

from dataclasses import replace
from decimal import Decimal

from refinement.engine.evaluating import with_failure
from refinement.engine.metrics import RunMetrics, run_metrics
from refinement.engine.scoring import assess, shown
from refinement.engine.sentences import round_name
from refinement.engine.stopping import passed_in_round
from refinement.engine.types import (
    CheckResult,
    CriterionScore,
    EvaluatorOutput,
    History,
    MetricValue,
    Outcome,
    Penalty,
    Round,
    Rubric,
    Verdict,
)
from refinement.interchange.imports.document import RoundPart, RunDocument, VerdictPart

SIX = Decimal("0.000001")
FIGURES = ("r1", "best", "last", "improvement", "best_round")


def history_of(document: RunDocument, rubric: Rubric) -> History:
    """The document's rounds as engine rounds. Raises ValueError for a round that cannot be assessed."""
    return History(rounds=tuple(engine_round(entry, rubric) for entry in document.rounds))


def engine_round(entry: RoundPart, rubric: Rubric) -> Round:
    if entry.judged_at is None:
        return Round(entry.number, entry.candidate, None, entry.base_round)
    try:
        assessment = assess(
            rubric,
            engine_verdict(entry.verdicts[0]) if entry.verdicts else None,
            tuple(
                CheckResult(
                    check.key,
                    check.passed,
                    severity=check.severity,
                    weight=check.weight,
                    score=check.score,
                )
                for check in entry.checks
            ),
            tuple(
                Penalty(penalty.criterion, penalty.points, tuple(penalty.names))
                for penalty in entry.penalties
            ),
            engine_evaluator(entry, rubric) if rubric.runs_a_command else None,
            entry.contract_violation,
        )
    except (ValueError, KeyError, ArithmeticError) as error:
        raise ValueError(
            f"round {entry.number} is judged, but its composite cannot be computed: {error}"
        ) from None
    return Round(entry.number, entry.candidate, assessment, entry.base_round)


def engine_evaluator(entry: RoundPart, rubric: Rubric) -> EvaluatorOutput | None:
    """The command's output. Whether it failed completely is computed, regardless of the file.

    Only a rubric with failure patterns or a validation command keeps the file's word, because neither is run
    on import.
    """
    evaluator = entry.evaluator
    if evaluator is None:
        return None
    metrics = {
        name: MetricValue(tuple(Decimal(number) for number in numbers))
        for name, numbers in evaluator.metrics.items()
        if numbers
    }
    output = with_failure(
        EvaluatorOutput(
            evaluator.stdout, evaluator.stderr, evaluator.exit_code, evaluator.stopped, metrics=metrics
        )
    )
    # Of a failure, the file's sentence is kept: it knows of all repeats.
    if evaluator.failure and (output.failure or rubric.evaluator.failure_patterns or rubric.validates):
        output = replace(output, failure=evaluator.failure)
    evaluator.failure = output.failure
    return output


def engine_verdict(verdict: VerdictPart) -> Verdict:
    return Verdict(
        scores=tuple(
            CriterionScore(entry.key, entry.score, entry.reasoning, entry.improvement)
            for entry in verdict.scores
        ),
        issues=tuple(verdict.issues),
        asi=verdict.asi,
        judge=verdict.judge,
    )


def compute(document: RunDocument, rubric: Rubric) -> list[str]:
    """Writes the computed composites and metrics into the document. Returns where the file differs."""
    history = history_of(document, rubric)
    differences = [*_rounds(document, rubric, history), *_run(document, rubric, run_metrics(rubric, history))]
    composites = [entry.assessment.composite for entry in history.assessed if entry.assessment]
    stated = document.run.trajectory
    if [_number(text) for text in stated] != [value.quantize(SIX) for value in composites]:
        document.run.trajectory = [str(value.quantize(SIX)) for value in composites]
    document.run.rounds_judged = len(composites)
    passed = document.run.outcome is Outcome.PASS
    document.run.passed_in_round = passed_in_round(rubric, history) if passed else None
    document.run.signal_rounds = sum(
        any(signal.get("kind") != "same_text" for signal in entry.signals) for entry in document.rounds
    )
    document.run.penalty_rounds = sum(bool(entry.penalties) for entry in document.rounds)
    document.run.cut_rounds = sum(
        entry.seen_chars is not None and entry.seen_chars < len(entry.candidate) for entry in document.rounds
    )
    return differences


def _rounds(document: RunDocument, rubric: Rubric, history: History) -> list[str]:
    differences = []
    for entry, made in zip(document.rounds, history.rounds, strict=True):
        if made.assessment is None:
            continue
        computed = made.assessment.composite
        if entry.composite is not None and entry.composite.quantize(SIX) != computed.quantize(SIX):
            differences.append(
                f"For {round_name(entry.number)} the file states {entry.composite:f}; "
                f"its scores give {shown(computed, rubric.policy)}."
            )
        entry.composite = computed
        if entry.scores is None or dict(entry.scores) != dict(made.assessment.scores):
            entry.scores = dict(made.assessment.scores)
    return differences


def _run(document: RunDocument, rubric: Rubric, metrics: RunMetrics) -> list[str]:
    run, differences = document.run, []
    for name in FIGURES:
        stated, computed = getattr(run, name), getattr(metrics, name)
        if stated is not None and (computed is None or abs(Decimal(stated) - Decimal(computed)) > SIX):
            value = "nothing" if computed is None else f"{Decimal(computed).quantize(SIX).normalize():f}"
            differences.append(f"For {name} the file states {Decimal(stated):f}; its scores give {value}.")
        setattr(run, name, computed)
    return differences


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text).quantize(SIX)
    except ArithmeticError:
        return None
