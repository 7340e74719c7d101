"""Figures and criteria of compared runs, with their differences from the baseline, which is the first run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from refinement.engine.boards import is_dissent
from refinement.engine.scoring import shown
from refinement.models import Run, RunStatus
from refinement.pricing import money
from refinement.selectors.compare.runs import Side
from refinement.selectors.reviews.decisions import badge_of
from refinement.selectors.runs.noise import NO_DIFFERENCE, is_noise, known_difference
from refinement.selectors.runs.words import duration, reason_label, rounds_at_most
from refinement.selectors.score_words import composite_change, score_change, score_text


@dataclass(frozen=True, slots=True)
class Cell:
    """A value. `delta` is its difference from the baseline; `tone` says whether that is better or worse."""

    text: str
    note: str = ""
    top: bool = False  # best in its row
    quiet: bool = False  # an improvement that shows no difference
    delta: str = ""
    tone: str = ""
    dissent: bool = False  # a board's judges are far apart


@dataclass(frozen=True, slots=True)
class Figure:
    """A table row with one cell per run."""

    label: str
    cells: tuple[Cell, ...]
    is_result: bool = False
    loss: Decimal = Decimal(0)  # the largest loss against the baseline; negative

    @property
    def same(self) -> bool:
        return len({(cell.text, cell.note) for cell in self.cells}) == 1


def figures_of(sides: Sequence[Side], *, one_scale: bool) -> list[Figure]:
    """Figures of each run, row by row. Scores are compared if all runs share a scale."""
    rows = [
        _figure("Result", sides, _result, is_result=True),
        _figure("Decision", sides, _decision),
        _scores("Result score", sides, "score", one_scale=one_scale),
        _figure("People", sides, _people),
        _scores("First score", sides, "r1", one_scale=one_scale),
        _scores("Last", sides, "last", one_scale=one_scale),
        _scores("Last − first", sides, "improvement", one_scale=one_scale),
        _figure("Rounds judged", sides, lambda side: Cell(f"{side.run.rounds_judged:,}", _of_rounds(side))),
        _amounts("Tokens", sides, lambda run: Decimal(run.tokens), lambda value: f"{value:,}"),
        _amounts("Cost", sides, lambda run: run.cost, money),
        _amounts("Calls", sides, lambda run: Decimal(run.calls_made), lambda value: f"{value:,}"),
        _amounts("Model time", sides, lambda run: run.model_seconds, lambda value: duration(float(value))),
        _figure("Duration", sides, lambda side: Cell(_elapsed(side.run))),
        _figure("Warnings", sides, lambda side: Cell(_findings(side.run))),
        _figure("Stop reason", sides, lambda side: Cell(_why(side.run))),
    ]
    return [row for row in rows if any(cell.text for cell in row.cells)]


def _figure(
    label: str, sides: Sequence[Side], cell: Callable[[Side], Cell], *, is_result: bool = False
) -> Figure:
    return Figure(label, tuple(cell(side) for side in sides), is_result)


def _scores(label: str, sides: Sequence[Side], name: str, *, one_scale: bool) -> Figure:
    values: list[Decimal | None] = [
        side.score if name == "score" else getattr(side.run, name) for side in sides
    ]
    tops = _tops(sides, values) if one_scale and name == "score" else set()
    cells = []
    for side, value in zip(sides, values, strict=True):
        if value is None:
            cells.append(Cell("not scored"))
            continue
        sign = "+" if name == "improvement" and value > 0 else ""
        words = shown(value, side.rubric.policy).replace("-", "\N{MINUS SIGN}")
        quiet = name == "improvement" and bool(is_noise(side.run))
        note = side.best_name if name == "score" else NO_DIFFERENCE if quiet else ""
        delta = _delta(side, value, sides[0], values[0]) if one_scale else ""
        tone = "" if shows_no_difference(sides[0], side, values[0], value) else tone_of(delta)
        cells.append(Cell(f"{sign}{words}", note, side.slot in tops, quiet, delta, tone))
    return Figure(label, tuple(cells))


def _tops(sides: Sequence[Side], values: Sequence[Decimal | None]) -> set[int]:
    """The slots of the highest value and of the runs with the same text, which cannot lose against it."""
    known = [value for value in values if value is not None]
    if len(set(known)) < 2:
        return set()
    highest = next(side for side, value in zip(sides, values, strict=True) if value == max(known))
    equal = {side.slot for side in sides if side.digest and side.digest == highest.digest}
    equal |= {side.slot for side, value in zip(sides, values, strict=True) if value == max(known)}
    return set() if len(equal) == len(sides) else equal


def _delta(side: Side, value: Decimal, base: Side, base_value: Decimal | None) -> str:
    if side is base or base_value is None:
        return ""
    return composite_change(value, base_value, side.rubric.policy.composite_decimals)


def shows_no_difference(base: Side, side: Side, before: Decimal | None, value: Decimal | None) -> bool | None:
    """Whether two runs' scores are within the judge's noise; None if it is not known or they differ in it.

    Only scores of the same judge are compared: others differ for other reasons, too.
    """
    known = known_difference(base.run)
    if value is None or before is None or known is None or side is base:
        return None
    if base.run.judge_record_id != side.run.judge_record_id or known_difference(side.run) is None:
        return None
    return abs(value - before) <= known


def tone_of(delta: str) -> str:
    return {"+": "ok", "−": "bad"}.get(delta[:1], "")


def _amounts(
    label: str,
    sides: Sequence[Side],
    amount: Callable[[Run], Decimal | None],
    words: Callable[[Decimal], str],
) -> Figure:
    """Amounts with their difference from the baseline in percent, which is neither good nor bad."""
    base = amount(sides[0].run)
    values = [(side, amount(side.run)) for side in sides]
    return Figure(
        label,
        tuple(
            Cell("")
            if value is None
            else Cell(words(value), _so_far(side.run), delta=_amount_delta(side, sides[0], value, base))
            for side, value in values
        ),
    )


def _so_far(run: Run) -> str:
    return "" if run.is_finished else "so far"


def _amount_delta(side: Side, base: Side, value: Decimal, before: Decimal | None) -> str:
    """The difference in percent; empty while one of the two runs has not ended."""
    if side is base or not side.run.is_finished or not base.run.is_finished:
        return ""
    return _percent(value, before)


def _percent(value: Decimal, base: Decimal | None) -> str:
    change = round((value - base) / base * 100) if base else 0
    return f"{change:+,} %".replace("-", "\N{MINUS SIGN}") if change else ""


def criteria_of(sides: Sequence[Side], *, one_scale: bool, worst_first: bool = False) -> list[Figure]:
    """The criteria of all runs in the order in which they appear, or those that lost most first."""
    names: dict[str, str] = {}
    for side in sides:
        for criterion in side.rubric.criteria:
            names.setdefault(criterion.key, criterion.name)
    rows = [_criterion_row(name, key, sides, one_scale=one_scale) for key, name in names.items()]
    return sorted(rows, key=lambda row: row.loss) if worst_first else rows


def _criterion_row(name: str, key: str, sides: Sequence[Side], *, one_scale: bool) -> Figure:
    scores = [_score_of(side, key) for side in sides]
    base = scores[0] if one_scale else None
    gaps = [score - base for score in scores if score is not None and base is not None]
    cells = tuple(_criterion(side, key, sides[0] if one_scale else None) for side in sides)
    return Figure(name, cells, loss=min(gaps, default=Decimal(0)))


def _score_of(side: Side, key: str) -> Decimal | None:
    score = (side.scores or {}).get(key)
    return None if score is None else Decimal(score)


def _criterion(side: Side, key: str, base: Side | None) -> Cell:
    """A score of the run's result; for a board the median, with its spread."""
    score, spread = _score_of(side, key), (side.spread or {}).get(key)
    if score is None:
        return Cell("")
    before = _score_of(base, key) if base is not None and base is not side else None
    delta = "" if before is None else score_change(score, before)
    quiet = base is not None and shows_no_difference(base, side, before, score)
    note = "" if spread is None else f"spread {score_text(Decimal(spread))}"
    dissent = spread is not None and is_dissent(side.rubric, Decimal(spread))
    return Cell(score_text(score), note, delta=delta, tone="" if quiet else tone_of(delta), dissent=dissent)


def _result(side: Side) -> Cell:
    run = side.run
    if not run.outcome:
        return Cell(RunStatus(run.status).label)
    return Cell(run.outcome, reason_label(run))


def _decision(side: Side) -> Cell:
    badge = badge_of(side.run.decision)
    return Cell(badge[0] if badge else "")


def _people(side: Side) -> Cell:
    """People's mean score of the result, and how far it is from the judge's."""
    if side.people is None:
        return Cell("")
    policy, count = side.rubric.policy, side.people.people
    gap = composite_change(side.people.mean, side.people.mean - side.people.gap, policy.composite_decimals)
    who = f"{count} {'person' if count == 1 else 'people'}"
    return Cell(shown(side.people.mean, policy), f"{gap or 'same'} against the judge, {who}")


def _of_rounds(side: Side) -> str:
    return f"of max. {rounds_at_most(side.run, side.rubric)}"


def _elapsed(run: Run) -> str:
    if not run.started_at or not run.finished_at:
        if run.is_finished:
            return "–"  # imported, or the prepared example
        return "not finished" if run.started_at else "not started"
    return duration((run.finished_at - run.started_at).total_seconds())


def _findings(run: Run) -> str:
    counts = (
        (run.signal_rounds, "judge check failed"),
        (run.penalty_rounds, "points deducted"),
        (run.cut_rounds, "judge saw only part of the text"),
    )
    warnings = [f"{words} in {count} round{'' if count == 1 else 's'}" for count, words in counts if count]
    if run.kinship:
        warnings.insert(0, "writer and judge are related")
    return "; ".join(warnings) or "none"


def _why(run: Run) -> str:
    return run.why if run.is_finished else "Not stopped yet."
