"""Runs side by side: figures, differing settings and best candidates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F, Q
from django.db.models.functions import Left

from refinement.engine.codec import rubric_from_json
from refinement.engine.scoring import shown
from refinement.engine.sentences import round_name
from refinement.engine.types import Rubric
from refinement.models import Project, Round, Run, RunStatus
from refinement.selectors.reviews.blindness import shown_runs
from refinement.selectors.runs.words import duration, reason_label
from refinement.selectors.score_words import DECIMALS_OF_RUN

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

    @property
    def best_name(self) -> str:
        return round_name(self.rubric, self.run.best_round) if self.run.best_round else ""

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
    bests = _beginnings(rows)
    return [
        Side(run, rubric_from_json(run.snapshot), slot, *bests.get(run.pk, ("", 0)))
        for slot, run in enumerate(rows, start=1)
    ]


def _beginnings(runs: Sequence[Run]) -> Mapping[int, tuple[str, int]]:
    rounds = Round.objects.filter(_best_of(runs)).annotate(start=Left("candidate", SHOWN_CHARS))
    return {
        run: (start, chars) for run, start, chars in rounds.values_list("run", "start", "candidate_chars")
    }


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
    return f"of max. {side.rubric.policy.max_rounds}"


def _elapsed(run: Run) -> str:
    if not run.started_at or not run.finished_at:
        return "not finished" if run.started_at else "not started"
    return duration((run.finished_at - run.started_at).total_seconds())


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
