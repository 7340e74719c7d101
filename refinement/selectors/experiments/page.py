"""What an experiment's page shows, put together. The number of queries is fixed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refinement.interchange.experiments.gate import is_unproven
from refinement.interchange.experiments.judges import judged_by
from refinement.models import (
    Configuration,
    Experiment,
    ExperimentStatus,
    Report,
    ReportKind,
    SuiteTask,
)
from refinement.selectors.experiments.progress import LiveProgress, live_progress_of, tokens_used
from refinement.selectors.experiments.reports.heatmap import Heatmap, HeatOptions, heatmap_of, tasks_of
from refinement.selectors.experiments.reports.leaderboard import (
    Leaderboard,
    TypeTable,
    leaderboard_of,
    types_of,
)
from refinement.selectors.experiments.reports.rulers import comparable, doubts_about, with_criteria
from refinement.selectors.experiments.reports.stored import is_outdated
from refinement.selectors.experiments.words import rounds_only
from refinement.selectors.reviews.blindness import blind_run_in
from refinement.selectors.trust.gate import figures_with_standings

BUDGET_STEP = 1_000
ENDED = (ExperimentStatus.FINISHED, ExperimentStatus.CANCELLED)


@dataclass(frozen=True, slots=True)
class ExperimentFacts:
    """The page. `board` and `types` are None until a report with scores is there, or while hidden."""

    experiment: Experiment
    configurations: Sequence[Configuration]
    tasks: int
    progress: LiveProgress
    report: Report | None
    figures: Mapping[str, Any] | None
    board: Leaderboard | None
    types: TypeTable | None
    heatmap: Heatmap | None
    hidden_run: int | None  # a run of it that the reader scores blind
    needs_budget: int | None = None  # a larger one that would do, if its own is used up

    @property
    def is_live(self) -> bool:
        return self.experiment.status not in ENDED or self.is_updating

    @property
    def is_updating(self) -> bool:
        """Whether newer results than the figures show are there."""
        return self.report is not None and (not self.report.is_current or self.is_outdated)

    @property
    def is_outdated(self) -> bool:
        """Whether an earlier version of Wiggum computed the figures, by other rules."""
        return self.report is not None and is_outdated(self.report)

    @property
    def baseline(self) -> Configuration | None:
        return next((each for each in self.configurations if each.baseline), None)

    @property
    def doubts(self) -> list[str]:
        """Why the scores may mislead: judges that differ, are related to their writer, or are unproven."""
        unproven = [
            f"{entry['letter']}: unproven judge, {entry['unproven_reason']}."
            for entry in (self.figures or {}).get("configurations", ())
            if is_unproven(entry)
        ]
        return [*doubts_about(self.configurations), *unproven]

    @property
    def headline(self) -> str:
        return str((self.figures or {}).get("headline", "")) if self.board else ""

    @property
    def is_provisional(self) -> bool:
        """Whether runs are still to come, so that verdicts may change."""
        return not self.experiment.is_finished

    @property
    def judged_by(self) -> str:
        """Whose opinion the scores are, and whether it was compared with people's."""
        return judged_by(self.figures) if self.figures else ""

    @property
    def known_judge(self) -> Mapping[str, Any] | None:
        """The figures of the only judge, if there are any."""
        judges = (self.figures or {}).get("judges", ())
        return judges[0] if len(judges) == 1 else None

    @property
    def unlabeled_judge(self) -> bool:
        """Whether nobody compared the only judge with people."""
        known = self.known_judge
        return self.one_judge is not None and (known is None or known["kappa"] is None)

    @property
    def rounds_words(self) -> list[str]:
        """What more or fewer rounds can change, for configurations that differ in nothing else."""
        base, found = self.baseline, []
        best = {entry["id"]: entry.get("best") for entry in (self.figures or {}).get("configurations", ())}
        for each in self.configurations if base and self.board else ():
            own, other = best.get(each.pk), best.get(base.pk) if base else None
            if base and own and other and rounds_only(each, base):
                found.append(
                    f"{each.name} and {base.name} differ only in rounds, which cannot change the first pass. "
                    f"Best scores are {own['value']:.2f} and {other['value']:.2f}."
                )
        return found

    @property
    def winner(self) -> Configuration | None:
        """The best configuration that is better than the baseline."""
        if self.board is None:
            return None
        rows = [row for row in self.board.rows if row.configuration.pk in comparable(self.configurations)]
        better = [row for row in rows if row.verdict and row.verdict.kind == "better"]
        return better[0].configuration if better else None

    @property
    def one_rubric(self) -> Configuration | None:
        """Any configuration, if all have the same rubric version."""
        return self._same("rubric_version_id")

    @property
    def one_judge(self) -> Configuration | None:
        found = self._same("judge_model")
        return found if found and found.judge_model else None

    def _same(self, name: str) -> Configuration | None:
        values = {getattr(each, name) for each in self.configurations}
        return self.configurations[0] if len(values) == 1 else None

    @property
    def cost(self) -> float | None:
        """What all runs cost together, if their models have prices."""
        entries = (self.figures or {}).get("configurations", ())
        known = [
            entry["cost"]["value"] * entry["scored"]
            for entry in entries
            if (entry.get("cost") or {}).get("value")
        ]
        return sum(known) if known else None


def configurations_of(experiment: Experiment) -> list[Configuration]:
    return list(with_criteria(experiment.configurations.order_by("position")))


def report_of(experiment: Experiment, *, figures: bool = True) -> Report | None:
    """The experiment's report, if there is one. Its figures are large."""
    rows = Report.objects.filter(kind=ReportKind.EXPERIMENT, subject=experiment.pk, other=0)
    return (rows if figures else rows.defer("result")).first()


def experiment_facts(
    experiment: Experiment, options: HeatOptions, *, blind: Collection[int] = ()
) -> ExperimentFacts:
    """Everything that the page shows. `blind` are the runs that the reader is scoring blind."""
    configurations = configurations_of(experiment)
    report = report_of(experiment)
    hidden = blind_run_in([experiment.pk], blind)
    figures = None
    if report is not None and report.result is not None and not hidden:
        figures = figures_with_standings(experiment, report.result)
    tasks: list[SuiteTask] = tasks_of(experiment)
    progress = live_progress_of(experiment, configurations, report=report)
    scored = figures is not None and any(entry.get("composite") for entry in figures["configurations"])
    return ExperimentFacts(
        experiment=experiment,
        configurations=configurations,
        tasks=len(tasks),
        progress=progress,
        report=report,
        figures=figures,
        board=leaderboard_of(figures, configurations, going_on=not experiment.is_finished)
        if figures and scored
        else None,
        types=types_of(figures, configurations) if figures and scored else None,
        heatmap=None if hidden else heatmap_of(experiment, configurations, figures, options, tasks=tasks),
        hidden_run=hidden,
        needs_budget=larger_budget(experiment, progress),
    )


def larger_budget(experiment: Experiment, progress: LiveProgress) -> int | None:
    """The projected tokens and a tenth more, if a paused experiment has used up its budget."""
    limit = experiment.token_budget
    if experiment.status != ExperimentStatus.PAUSED or limit is None:
        return None
    used = tokens_used(experiment)
    if used < limit:
        return None
    wanted = max((progress.projected or 2 * limit) * 11 // 10, used + 1)
    return -(-wanted // BUDGET_STEP) * BUDGET_STEP
