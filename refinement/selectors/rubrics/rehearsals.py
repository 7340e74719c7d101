"""A run's rounds as the history of a prompt preview, under any rubric version."""

from dataclasses import dataclass
from typing import Any

from refinement.engine.types import History, Round, Rubric
from refinement.judging.context import Brief
from refinement.judging.rehearsal import AssumedScores, assumed_assessment, assumed_verdict, brief_for, fits
from refinement.models import Project, RubricVersion, Run
from refinement.models import Rubric as RubricRow
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.history import (
    definition_of_run,
    panel_of,
    round_of,
    sources_of,
    verdict_of,
    whole_rounds,
)


@dataclass(frozen=True, slots=True)
class PreviewHistory:
    """A run's brief and history under a rubric, and the rounds with an assumed verdict."""

    run: int
    brief: Brief
    history: History
    assumed: tuple[int, ...]
    feedback: dict[str, Any] | None  # that led to the last round
    same_version: bool
    began_with_seed: bool


def run_of(project: Project, pk: int) -> Run | None:
    return shown_runs(project).filter(pk=pk).first()


def latest_run(rubric: RubricRow) -> Run | None:
    """The rubric's newest run with a judged round."""
    runs = shown_runs(rubric.project).filter(rubric_version__rubric=rubric, rounds_judged__gt=0)
    return runs.order_by("-id").first()


def newest_round(run: Run) -> int:
    return run.rounds.order_by("-number").values_list("number", flat=True).first() or 0


def preview_history(
    run: Run, version: RubricVersion, definition: Rubric, number: int, assumption: AssumedScores
) -> PreviewHistory:
    """The run's rounds up to this one.

    Under its own version, the run's copy of the rubric counts, which may have changes for this run. Under
    another one, verdicts that do not fit are replaced by the assumed one.
    """
    rows = (
        whole_rounds(run.pk).filter(number__lte=number).prefetch_related("verdicts", "check_results", "board")
    )
    same = run.rubric_version_id == version.pk
    definition = definition_of_run(run) if same else definition
    rounds, assumed = [], []
    for row in rows:
        entry, is_assumed = _entry(row, definition, assumption, same=same)
        rounds.append(entry)
        assumed += [row.number] if is_assumed else []
    return PreviewHistory(
        run=run.pk,
        brief=brief_for(definition, run.task, run.nonce, run.seed, sources_of(run)),
        history=history_until(run, rounds, same=same),
        assumed=tuple(assumed),
        feedback=run.rounds.values_list("feedback", flat=True).get(number=number),
        same_version=same,
        began_with_seed=bool(run.seed),
    )


def history_until(run: Run, rounds: list[Round], *, same: bool) -> History:
    """The history of these rounds, with the run's board if it is judged by the run's own rubric."""
    if not same:
        return History(tuple(rounds))
    return History(
        tuple(rounds),
        panel=panel_of(run.pk),
        extended_after=run.extended_after,
        escalated_after=run.escalated_after,
    )


def _entry(row: Any, definition: Rubric, assumption: AssumedScores, *, same: bool) -> tuple[Round, bool]:
    """A round as judged, or judged again from its verdict or the assumed one."""
    verdicts = [verdict_of(verdict) for verdict in row.verdicts.all()]
    usable = row.judged_at is not None and (
        fits(definition, verdicts[0]) if verdicts else not definition.criteria
    )
    if usable and same:
        output = getattr(row, "evaluator_result", None) if definition.runs_a_command else None
        checks = row.check_results.all()
        entry = round_of(
            row,
            definition,
            verdicts=row.verdicts.all(),
            checks=checks,
            output=output,
            board=row.board.all(),
        )
        return entry, False
    verdict = (verdicts[0] if verdicts else None) if usable else assumed_verdict(definition, assumption)
    assessment = assumed_assessment(definition, row.text, verdict)
    return Round(row.number, row.text, assessment, row.base_round), not usable
