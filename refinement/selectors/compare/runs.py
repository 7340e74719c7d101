"""Runs side by side: figures, differing settings and best candidates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import F, Q
from django.db.models.functions import Left

from refinement.engine.boards import is_dissent
from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.models import PanelJudge, Project, Round, Run, RunStatus
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.boards.rounds import has_panel
from refinement.selectors.runs.words import duration, reason_label, rounds_at_most
from refinement.selectors.score_words import DECIMALS_OF_RUN, score_text

FEWEST, MOST = 2, 5
SHOWN_CHARS = 20_000  # of a best candidate; the full text is a download
CHOICE = 30


@dataclass(frozen=True, slots=True)
class Side:
    """A compared run. `slot` is its chart colour, `best` the start of its best candidate."""

    run: Run
    rubric: Rubric
    slot: int
    best: str = ""
    best_chars: int = 0
    scores: Mapping[str, str] | None = None  # of the best round, by criterion
    spread: Mapping[str, str] | None = None  # of its board, by criterion
    panel: tuple[str, ...] = ()  # its board as texts, by seat

    @property
    def judges(self) -> str:
        """Who scored the run: a board, a single judge, or one after the other."""
        single = f"{self.run.judge_model} at {self.run.judge_endpoint}"
        if not has_panel(self.run, self.rubric.judges.mode):
            return f"Single judge: {single}"
        seats = ", ".join(self.panel) or "composed by the clerk"
        board = f"Board of {len(self.panel)}: {seats}" if self.panel else f"Board: {seats}"
        if not self.run.escalated_after:
            return board
        after = round_name(self.run.escalated_after)
        return f"Single judge: {single}. After {after} {board[0].lower()}{board[1:]}"

    @property
    def judges_in_brief(self) -> str:
        """The same in a few words."""
        if not has_panel(self.run, self.rubric.judges.mode):
            return self.run.judge_model or "a single judge"
        board = f"a board of {len(self.panel)}" if self.panel else "a board"
        return f"{self.run.judge_model}, then {board}" if self.run.escalated_after else board

    @property
    def best_name(self) -> str:
        return round_name(self.run.best_round) if self.run.best_round else ""

    @property
    def is_cut(self) -> bool:
        return self.best_chars > len(self.best)

    @property
    def composites(self) -> list[Decimal]:
        return [Decimal(value) for value in self.run.trajectory]


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    note: str = ""
    top: bool = False  # best in its row


@dataclass(frozen=True, slots=True)
class Figure:
    """A table row with one cell per run."""

    label: str
    cells: tuple[Cell, ...]


def sides_of(project: Project, numbers: Sequence[int]) -> list[Side]:
    """The project's runs with these numbers, in this order. Unknown numbers are left out."""
    runs = shown_runs(project).filter(pk__in=numbers)
    found = {run.pk: run for run in runs.select_related("rubric", "rubric_version", "created_by")}
    rows = [found[number] for number in numbers if number in found]
    bests, panels = _bests(rows), _panels(rows)
    return [
        Side(
            run,
            rubric_from_json(run.snapshot),
            slot,
            **bests.get(run.pk, {}),
            panel=tuple(panels.get(run.pk, ())),
        )
        for slot, run in enumerate(rows, start=1)
    ]


def _bests(runs: Sequence[Run]) -> Mapping[int, dict[str, Any]]:
    """The start of each run's best candidate, and its scores."""
    rounds = Round.objects.filter(_best_of(runs)).annotate(start=Left("candidate", SHOWN_CHARS))
    columns = ("run", "start", "candidate_chars", "scores", "spread")
    return {
        run: {"best": start, "best_chars": chars, "scores": scores, "spread": spread}
        for run, start, chars, scores, spread in rounds.values_list(*columns)
    }


def _panels(runs: Sequence[Run]) -> Mapping[int, list[str]]:
    """The judges of each run's board, with their models."""
    found: dict[int, list[str]] = {}
    for judge in PanelJudge.objects.filter(run__in=runs).order_by("run", "seat"):
        found.setdefault(judge.run_id, []).append(f"{judge.name} ({judge.model} at {judge.endpoint})")
    return found


def differing_judges(sides: Sequence[Side]) -> str:
    """A warning if a board scored one of the runs and somebody else another; empty otherwise."""
    boards = [side for side in sides if has_panel(side.run, side.rubric.judges.mode)]
    if not boards or len({side.judges for side in sides}) == 1:
        return ""
    said = "; ".join(f"run {side.run.pk} by {side.judges_in_brief}" for side in sides)
    return (
        f"The scores come from different judges: {said}. "
        "A difference between them can be the judges’ and not the texts’."
    )


@dataclass(frozen=True, slots=True)
class CriterionCell:
    """A criterion's score in a run's best round; for a board the median, with its spread."""

    score: str
    spread: str = ""
    dissent: bool = False


def criteria_of(sides: Sequence[Side]) -> list[tuple[str, list[CriterionCell]]]:
    """The criteria of all runs with a cell for each run, in the order in which they appear."""
    names: dict[str, str] = {}
    for side in sides:
        for criterion in side.rubric.criteria:
            names.setdefault(criterion.key, criterion.name)
    return [(name, [_criterion(side, key) for side in sides]) for key, name in names.items()]


def _criterion(side: Side, key: str) -> CriterionCell:
    score, spread = (side.scores or {}).get(key), (side.spread or {}).get(key)
    if score is None:
        return CriterionCell("")
    if spread is None:
        return CriterionCell(score_text(Decimal(score)))
    dissent = is_dissent(side.rubric, Decimal(spread))
    return CriterionCell(score_text(Decimal(score)), score_text(Decimal(spread)), dissent)


def best_texts(first: Run, second: Run, most: int) -> tuple[str, str]:
    """The best candidates of two runs, cut at `most` characters; empty if no round is judged."""
    rounds = Round.objects.filter(_best_of([first, second])).annotate(text=Left(F("candidate"), most))
    texts = dict(rounds.values_list("run", "text"))
    return texts.get(first.pk, ""), texts.get(second.pk, "")


def _best_of(runs: Sequence[Run]) -> Q:
    places = [Q(run=run, number=run.best_round) for run in runs if run.best_round]
    return Q(*places, _connector=Q.OR) if places else Q(pk__isnull=True)


def latest_runs(project: Project, chosen: Sequence[int]) -> list[Run]:
    """The newest runs to choose from, plus those already chosen."""
    rows = shown_runs(project).select_related("rubric", "rubric_version", "created_by")
    brief = rows.only(
        "title", "source", "status", "outcome", "stop_reason", "best", "rounds_judged", "created_at",
        "project_id", "producer_model", "judge_model", "rubric__name", "rubric_version__number",
        "created_by__name", "created_by__email",
    ).annotate(decimals=DECIMALS_OF_RUN)  # fmt: skip
    newest = brief.filter(archived_at__isnull=True).order_by("-pk")[:CHOICE]
    picked = brief.filter(pk__in=chosen).order_by("-pk")
    return list({run.pk: run for run in (*picked, *newest)}.values())


def figures_of(sides: Sequence[Side], *, one_scale: bool) -> list[Figure]:
    """Figures of each run, row by row. The best of a row is marked if all runs share a scale."""
    return [
        _figure("Result", sides, _result),
        _scores("First score (r1)", sides, "r1", one_scale=one_scale),
        _scores("Best", sides, "best", one_scale=one_scale),
        _scores("Last", sides, "last", one_scale=one_scale),
        _scores("Improvement", sides, "improvement", one_scale=one_scale),
        _figure("Rounds judged", sides, lambda side: Cell(f"{side.run.rounds_judged:,}", _of_rounds(side))),
        _figure("Tokens", sides, lambda side: Cell(f"{side.run.tokens:,}")),
        _figure("Calls", sides, lambda side: Cell(f"{side.run.calls_made:,}")),
        _figure("Model time", sides, lambda side: Cell(duration(float(side.run.model_seconds)))),
        _figure("Duration", sides, lambda side: Cell(_elapsed(side.run))),
        _figure("Warnings", sides, lambda side: Cell(_findings(side.run))),
        _figure("Stop reason", sides, lambda side: Cell(_why(side.run))),
    ]


def _figure(label: str, sides: Sequence[Side], cell: Callable[[Side], Cell]) -> Figure:
    return Figure(label, tuple(cell(side) for side in sides))


def _scores(label: str, sides: Sequence[Side], name: str, *, one_scale: bool) -> Figure:
    values: list[Decimal | None] = [getattr(side.run, name) for side in sides]
    known = {value for value in values if value is not None}
    top = max(known) if one_scale and len(known) > 1 else None
    cells = []
    for side, value in zip(sides, values, strict=True):
        if value is None:
            cells.append(Cell("not scored"))
            continue
        sign = "+" if name == "improvement" and value > 0 else ""
        note = side.best_name if name == "best" else ""
        words = shown(value, side.rubric.policy).replace("-", "\N{MINUS SIGN}")
        cells.append(Cell(f"{sign}{words}", note, top=value == top))
    return Figure(label, tuple(cells))


def _result(side: Side) -> Cell:
    run = side.run
    if not run.outcome:
        return Cell(RunStatus(run.status).label)
    return Cell(run.outcome, reason_label(run))


def _of_rounds(side: Side) -> str:
    return f"of max. {rounds_at_most(side.run, side.rubric)}"


def _elapsed(run: Run) -> str:
    if not run.worked_since or not run.finished_at:
        return "not finished" if run.started_at else "not started"
    return duration((run.finished_at - run.worked_since).total_seconds())


def _findings(run: Run) -> str:
    counts = (
        (run.signal_rounds, "the judge did not track the revision"),
        (run.penalty_rounds, "points were docked"),
        (run.cut_rounds, "the judge saw only part of the text"),
    )
    told = [f"{words} in {count} round{'' if count == 1 else 's'}" for count, words in counts if count]
    if run.kinship:
        told.insert(0, "producer and judge are related")
    return "; ".join(told) or "none"


def _why(run: Run) -> str:
    return run.why if run.is_finished else "Not stopped yet."


DIFF_CHARS = 200_000  # per text; longer texts are compared up to here, and the page says so
