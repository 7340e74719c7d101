"""A run's rows as the engine's history and brief."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.db.models import Case, F, Q, QuerySet, TextField, Value, When

from refinement.engine.boards import may_have_board
from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import assess
from refinement.engine.types import (
    BoardVerdict,
    CheckResult,
    CriterionScore,
    CriterionStance,
    EvaluatorOutput,
    Failure,
    History,
    PanelJudge,
    PanelSummary,
    Penalty,
    Place,
    Role,
    Round,
    Rubric,
    Severity,
    Stance,
    Usage,
    Verdict,
)
from refinement.judging.context import Brief, Calibration
from refinement.judging.demo_limits import limited_for_demo
from refinement.judging.sources import SourceText
from refinement.models import BoardVerdict as BoardVerdictRow
from refinement.models import CheckResult as CheckResultRow
from refinement.models import EvaluatorRepeat, EvaluatorResult, RoundOrigin, Run, ValidationResult
from refinement.models import PanelJudge as PanelJudgeRow
from refinement.models import Round as RoundRow
from refinement.models import Verdict as VerdictRow
from refinement.providers.embedded import is_demo
from refinement.selectors.runs.evaluators.metrics import metrics_of


def brief_of(run: Run) -> Brief:
    """Everything known at the run's start. The demo model works with lower limits than the rubric's."""
    writes, judges = (
        is_demo(run.producer_endpoint, run.producer_model),
        is_demo(run.judge_endpoint, run.judge_model),
    )
    calibration = None
    if run.calibration:
        scores = {key: Decimal(score) for key, score in run.calibration["scores"].items()}
        calibration = Calibration(run.calibration["text"], scores)
    return Brief(
        task=run.task,
        rubric=limited_for_demo(rubric_from_json(run.snapshot), writes=writes, judges=judges),
        nonce=run.nonce,
        seed=run.seed,
        calibration=calibration,
        sources=sources_of(run),
        task_type=run.task_type,
    )


def sources_of(run: Run) -> tuple[SourceText, ...]:
    """The run's sources in order."""
    rows = run.sources.order_by("position").values_list("name", "text")
    return tuple(SourceText(name, text) for name, text in rows)


def definition_of_run(run: Run) -> Rubric:
    """The rubric the run was created with, including its calibration example."""
    rubric, kept = rubric_from_json(run.snapshot), run.calibration
    if not kept:
        return rubric
    scores = {key: Decimal(score) for key, score in kept["scores"].items()}
    return replace(rubric, calibration_text=kept["text"], calibration_scores=scores)


def history_of(run: Run, rubric: Rubric, *, whole: bool = False) -> History:
    """The run's history. Unless `whole`, only the texts that the next step may need are loaded."""
    rows = _whole_rounds(run.pk) if whole else _needed_rounds(run.pk, run.best_round or 0, run.rounds_judged)
    verdicts = by_round(_verdicts(run.pk)) if rows else {}
    boards = by_round(_boards(run.pk)) if rows and may_have_board(rubric) else {}
    checks = by_round(_check_results(run.pk)) if rows and rubric.checks else {}
    outputs = by_round(_evaluator_results(run.pk)) if rows and rubric.runs_a_command else {}
    validations = by_round(_validations(run.pk)) if rows and rubric.validates else {}
    rounds = (
        round_of(
            row,
            rubric,
            verdicts=verdicts.get(row.pk, []),
            checks=checks.get(row.pk, []),
            output=next(iter(outputs.get(row.pk, [])), None),
            validations=validations.get(row.pk, []),
            board=boards.get(row.pk, []),
        )
        for row in rows
    )
    panel = panel_of(run.pk) if may_have_board(rubric) else ()
    return History(rounds=tuple(rounds), panel=panel, **account_of(run))


def panel_of(run: int) -> tuple[PanelJudge, ...]:
    """The run's panel by seat; empty if it is not composed yet."""
    rows = PanelJudgeRow.objects.filter(run=run).order_by("seat")
    return tuple(PanelJudge(row.name, row.lens) for row in rows)


def by_round(rows: Iterable[Any]) -> dict[int, list[Any]]:
    """Rows grouped by round key, in order."""
    found: dict[int, list[Any]] = {}
    for row in rows:
        found.setdefault(row.round_id, []).append(row)
    return found


# A worker that takes over a run from another loads this before every step.
def _whole_rounds(run: int) -> list[RoundRow]:
    return list(whole_rounds(run))


def _needed_rounds(run: int, best: int, judged: int) -> list[RoundRow]:
    # The first is the seed and the best a possible base. The two judged last are compared, and one is judged.
    needed = Q(number=1) | Q(number=best) | Q(number__gte=judged - 1)
    text = Case(When(needed, then=F("candidate")), default=Value(""), output_field=TextField())
    return list(_rounds(run).annotate(text=text))


def _verdicts(run: int) -> list[VerdictRow]:
    return list(VerdictRow.objects.filter(round__run=run).order_by("position"))


def _boards(run: int) -> list[BoardVerdictRow]:
    return list(BoardVerdictRow.objects.filter(round__run=run).order_by("seat"))


def _check_results(run: int) -> list[CheckResultRow]:
    return list(CheckResultRow.objects.filter(round__run=run).order_by("position"))


def _evaluator_results(run: int) -> list[EvaluatorResult]:
    return list(EvaluatorResult.objects.filter(round__run=run).defer("stdout", "stderr"))


def _validations(run: int) -> list[Any]:
    rows = ValidationResult.objects.filter(round__run=run).order_by("number")
    replaced = Case(When(replaced="", then=Value(False)), default=Value(True))
    return list(rows.defer("stdout", "stderr", "replaced").annotate(was_replaced=replaced))


def whole_rounds(run: int) -> QuerySet[RoundRow]:
    """Rounds with their candidate as `text`."""
    return _rounds(run).annotate(text=F("candidate"))


def _rounds(run: int) -> QuerySet[RoundRow]:
    return RoundRow.objects.filter(run=run).order_by("number").defer("candidate", "feedback")


def account_of(run: Run) -> dict[str, Any]:
    """The parts of a history stored in the run's own row."""
    failure = None
    if run.failure_role:
        failure = Failure(Role(run.failure_role), run.failure_message)
    return {
        "usage": Usage(run.tokens, Decimal(run.model_seconds), run.calls_made),
        "failure": failure,
        "extended_after": run.extended_after,
        "escalated_after": run.escalated_after,
        "plateau_accepted": run.plateau_accepted,
        "smallest_difference": run.smallest_difference,
    }


def round_of(
    row: Any,
    rubric: Rubric,
    *,
    verdicts: Iterable[VerdictRow],
    checks: Iterable[CheckResultRow],
    output: EvaluatorResult | None,
    validations: Sequence[Any] = (),
    board: Sequence[BoardVerdictRow] = (),
) -> Round:
    """The round as the engine's type; its composite is computed from the exact scores."""
    by_hand = row.origin == RoundOrigin.HAND
    if row.judged_at is None:
        repaired = bool(validations and validations[0].was_replaced)
        # The newest result: that of the repair, once there is one.
        invalid = bool(validations) and not validations[-1].passed and (len(validations) > 1) is repaired
        return Round(
            row.number,
            row.text,
            None,
            row.base_round,
            by_hand,
            invalid,
            repaired,
            board=tuple(board_verdict_of(answer) for answer in board),
            key_change=row.key_change,
        )
    read = [verdict_of(verdict) for verdict in verdicts]
    assessment = assess(
        rubric,
        read[0] if read else None,
        tuple(check_result_of(result) for result in checks),
        tuple(penalty_of(penalty) for penalty in row.penalties),
        evaluator_in_brief(output) if output else None,
        row.contract_violation,
    )
    return Round(
        row.number,
        row.text,
        assessment,
        row.base_round,
        by_hand,
        board=tuple(board_verdict_of(answer) for answer in board),
        summary=summary_of(row.summary),
        key_change=row.key_change,
    )


def board_verdict_of(row: BoardVerdictRow) -> BoardVerdict:
    """A judge's answers as the engine's type."""
    verdict = None
    if not row.problem:
        found = replace(verdict_of(row, judge=""), contract_violation=row.contract_violation)
        verdict = found
    stances = None
    if row.stances is not None:
        stances = tuple(
            CriterionStance(
                entry["key"], Stance(entry["stance"]), Decimal(entry["score"]), entry.get("reasoning", "")
            )
            for entry in row.stances
        )
    return BoardVerdict(row.seat, verdict, row.problem, stances)


def summary_of(values: dict[str, Any] | None) -> PanelSummary | None:
    """The clerk's summary; None if there is none, or if it could not be read."""
    if not values or values.get("problem"):
        return None
    return PanelSummary(tuple(values["working"]), tuple(values["not_working"]), values["direction"])


def verdict_of(row: Any, judge: str | None = None) -> Verdict:
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
        judge=row.judge if judge is None else judge,
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
        score=row.score,
        expected=row.expected,
        actual=row.actual,
    )


def command_output_of(row: ValidationResult) -> EvaluatorOutput:
    """What a validation command wrote, for the producer's repair."""
    return EvaluatorOutput(row.stdout, row.stderr, row.exit_code, row.stopped)


def evaluator_of(row: EvaluatorResult | EvaluatorRepeat) -> EvaluatorOutput:
    """The command's output as the judge of its round sees it."""
    return replace(evaluator_in_brief(row), stdout=row.stdout, stderr=row.stderr)


def evaluator_in_brief(row: EvaluatorResult | EvaluatorRepeat) -> EvaluatorOutput:
    """How it ended, without output: prompts do not include that of past rounds."""
    metrics = {name: found for name, found in metrics_of(row.metrics, row.metrics).items() if found}
    output = EvaluatorOutput("", "", row.exit_code, row.stopped, row.failure, metrics)
    if isinstance(row, EvaluatorRepeat):
        return output
    return replace(output, runs=row.runs, failed_runs=row.failed_runs)


def penalty_of(values: dict[str, Any]) -> Penalty:
    return Penalty(values["criterion"], Decimal(values["points"]), tuple(values["names"]))
