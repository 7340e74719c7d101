"""Figures of a test with a board: for each judge, for the board, and between the judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.boards import is_dissent, lower_median, quorum
from refinement.engine.types import ZERO, Rubric
from refinement.models import Bench, BenchTrial, RubricVersion, TrialStatus
from refinement.selectors.rubrics.bench import people_scores, trials_of
from refinement.selectors.rubrics.bench_report import Line, Report, bench_report, said_scores
from refinement.selectors.rubrics.definitions import definition_of


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """One judge of the board over all repeats."""

    name: str
    lens: str
    model: str
    report: Report


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A criterion or the composite: each judge, the board, and how far apart the judges are."""

    board: Line
    judges: tuple[Line, ...]
    apart: Decimal | None  # from the lowest to the highest judge, mean over the repeats
    is_dissent: bool


@dataclass(frozen=True, slots=True)
class BoardReport:
    judges: tuple[JudgeReport, ...]
    lines: tuple[BoardLine, ...]  # the criteria, then the composite


def merged_trials(bench: Bench, rubric: Rubric, trials: Sequence[BenchTrial]) -> list[BenchTrial]:
    """One trial per repeat with the board's scores: the lower median per criterion.

    A repeat in which too few judges scored stays without scores, as a round does. There is no deliberation.
    """
    return [
        merged_trial(rubric, number, [trial for trial in trials if trial.number == number], bench)
        for number in range(1, bench.repeats + 1)
    ]


def merged_trial(rubric: Rubric, number: int, trials: Sequence[BenchTrial], bench: Bench) -> BenchTrial:
    done = [trial for trial in trials if trial.status == TrialStatus.DONE and trial.scores is not None]
    ended = max((trial.finished_at for trial in trials if trial.finished_at), default=None)
    if any(trial.finished_at is None for trial in trials):
        ended = None
    if ended is None or len(done) < quorum(bench.judges_count):
        return BenchTrial(bench=bench, number=number, status=TrialStatus.QUEUED, finished_at=ended)
    keys = [criterion.key for criterion in rubric.criteria]
    said = [said_scores(trial) for trial in done]
    counted = [trial.scores or {} for trial in done]
    return BenchTrial(
        bench=bench,
        number=number,
        status=TrialStatus.DONE,
        finished_at=ended,
        said=[{"key": key, "score": str(lower_median([scores[key] for scores in said]))} for key in keys],
        # Penalties are the same for every judge, so the median of what counts is what counts for the median.
        scores={key: str(lower_median([Decimal(scores[key]) for scores in counted])) for key in keys},
        checks=done[0].checks,
    )


def board_report(
    bench: Bench, rubric: Rubric, trials: Sequence[BenchTrial], board: Report, people: Mapping[str, str]
) -> BoardReport:
    """The figures of each judge, next to the board's."""
    judges = tuple(
        JudgeReport(
            judge["name"],
            judge["lens"],
            f"{judge['endpoint']}/{judge['model']}",
            bench_report(rubric, [trial for trial in trials if trial.seat == seat], people),
        )
        for seat, judge in enumerate(bench.panel, start=1)
    )
    lines = [
        line_of(rubric, line, [judge.report.lines[position] for judge in judges])
        for position, line in enumerate(board.lines)
    ]
    total = line_of(rubric, board.total, [judge.report.total for judge in judges])
    return BoardReport(judges, (*lines, total))


def line_of(rubric: Rubric, board: Line, judges: Sequence[Line]) -> BoardLine:
    apart = distance_between(judges)
    return BoardLine(board, tuple(judges), apart, apart is not None and is_dissent(rubric, apart))


def distance_between(judges: Sequence[Line]) -> Decimal | None:
    """From the lowest to the highest judge, mean over the repeats that at least two judges scored."""
    repeats = zip(*(judge.values for judge in judges), strict=False)
    scored = [[value for value in values if value is not None] for values in repeats]
    gaps = [max(values) - min(values) for values in scored if len(values) > 1]
    return sum(gaps, ZERO) / len(gaps) if gaps else None


def report_for(
    rubric: Rubric, bench: Bench, trials: Sequence[BenchTrial], people: Mapping[str, str]
) -> Report:
    """The test's figures: of the single judge, or the board's medians."""
    if not bench.panel:
        return bench_report(rubric, trials, people)
    return bench_report(rubric, merged_trials(bench, rubric, trials), people, is_board=True)


def report_of(bench: Bench) -> Report:
    """The test's current figures, next to human scores if any."""
    scores, _ = people_scores(bench)
    return report_for(definition_of(bench.rubric_version), bench, trials_of(bench), scores)


def board_outcomes(benches: Sequence[Bench]) -> dict[int, dict[str, Decimal]]:
    """Mean, lowest and highest composite of boards by test id. Four queries, or none without a board."""
    boards = {bench.pk: bench for bench in benches if bench.panel}
    if not boards:
        return {}
    wanted = {bench.rubric_version_id for bench in boards.values()}
    versions = RubricVersion.objects.filter(pk__in=wanted).prefetch_related("criteria", "checks")
    rubrics = {version.pk: definition_of(version) for version in versions}
    trials: dict[int, list[BenchTrial]] = {pk: [] for pk in boards}
    for trial in BenchTrial.objects.filter(bench__in=boards).order_by("number", "seat"):
        trials[trial.bench_id].append(trial)
    reports = {
        pk: report_for(rubrics[bench.rubric_version_id], bench, trials[pk], {})
        for pk, bench in boards.items()
    }
    return {
        pk: {"mean": spread.mean, "least": spread.minimum, "most": spread.maximum}
        for pk, report in reports.items()
        if (spread := report.total.spread)
    }
