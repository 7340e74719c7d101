"""In which circumstances a measured text is judged.

A judge's verdict depends on what it sees beside the text. A retest and a replay show a stored round as its
run showed it: with the task, the sources, the evaluator's output and, where the context rules let the judge
see them, the rounds before it with their stored scores. Planted copies and held-out judges see the text as a
first round, with its task and sources, but never another judge's scores. A text without a round has its task.
"""

from dataclasses import dataclass, replace

from refinement.engine.types import EvaluatorOutput, History, PanelJudge, Round, Rubric
from refinement.judging.context import Brief, JudgeView, calibration_of, judge_view
from refinement.judging.demo_limits import limited_for_demo
from refinement.judging.same_text import fingerprint
from refinement.models import (
    Bench,
    BenchTrial,
    EvaluatorResult,
    MeasurementItem,
    MeasurementKind,
    Run,
)
from refinement.models import Round as RoundRow
from refinement.providers.embedded import is_demo
from refinement.selectors.runs.history import brief_of, evaluator_of, history_of, sources_of

AS_IN_THE_RUN = (MeasurementKind.RETEST, MeasurementKind.REPLAY)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the judge of a text is given, apart from its seat on a board."""

    brief: Brief
    history: History
    number: int = 1
    evaluator: EvaluatorOutput | None = None

    def view(self, lens: PanelJudge | None = None, *, contract_violation: str = "") -> JudgeView:
        return judge_view(
            self.brief,
            self.history,
            self.number,
            self.evaluator,
            contract_violation=contract_violation,
            lens=lens,
        )


def setting_of_trial(trial: BenchTrial, rubric: Rubric) -> Setting:
    """The setting of a trial of any bench."""
    bench = trial.bench
    if bench.fingerprint:
        items = MeasurementItem.objects.filter(bench=bench)
        item = items.select_related("measurement", "round__run", "original__round__run").first()
        if item is not None:
            item.bench = bench
            return setting_of(item, rubric)
    return plain_setting(bench, rubric, anchored=bench.anchored)


def setting_of(item: MeasurementItem, rubric: Rubric) -> Setting:
    """The setting of a measured text. Reads the run of its round, if it has one."""
    bench = item.bench
    rubric = limited_for_demo(rubric, writes=False, judges=is_demo(bench.endpoint, bench.model))
    row = item.round or (item.original.round if item.original else None)
    if row is None:
        return plain_setting(bench, rubric, anchored=bench.anchored)
    if item.round is None or item.measurement.kind not in AS_IN_THE_RUN:
        setting = plain_setting(bench, rubric, anchored=bench.anchored)
        brief = replace(setting.brief, sources=sources_of(row.run), task_type=row.run.task_type)
        return replace(setting, brief=brief)
    return setting_in_run(bench, row.run, row, rubric)


def plain_setting(bench: Bench, rubric: Rubric, *, anchored: bool) -> Setting:
    """The text as the first round of a run that has nothing but a task."""
    brief = Brief(
        task=bench.task,
        rubric=replace(rubric, calibration_text="", calibration_scores={}),
        nonce=bench.nonce,
        calibration=calibration_of(rubric) if anchored else None,
    )
    return Setting(brief, History(rounds=(Round(1, bench.candidate),)))


def setting_in_run(bench: Bench, run: Run, row: RoundRow, rubric: Rubric) -> Setting:
    """The text as its run's judge saw it in this round, but with this rubric."""
    stored = brief_of(run)
    history = history_of(run, stored.rubric, whole=True)
    before = tuple(entry for entry in history.rounds if entry.number < row.number)
    output = EvaluatorResult.objects.filter(round=row).first() if rubric.runs_a_command else None
    brief = replace(
        stored,
        rubric=replace(rubric, calibration_text="", calibration_scores={}),
        nonce=bench.nonce,
        calibration=calibration_of(rubric) if bench.anchored else None,
    )
    return Setting(
        brief,
        replace(history, rounds=(*before, Round(row.number, bench.candidate, None, row.base_round))),
        row.number,
        evaluator_of(output) if output else None,
    )


def may_be_anchored(rubric: Rubric, text: str) -> bool:
    """Whether the judge sees the calibration example: it would see the answer if that is the text."""
    return bool(rubric.calibration_text) and fingerprint(rubric.calibration_text) != fingerprint(text)
