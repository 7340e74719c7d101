"""Tasks × configurations: one window of the table, from the rows; order and filters come from the report."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from refinement.engine.metrics import suite_composite
from refinement.models import CellState, Configuration, Experiment, ExperimentRun, SuiteTask
from refinement.selectors.experiments.reports.rulers import comparable
from refinement.selectors.experiments.words import signed

PAGE_SIZE = 30
MOST_TILES = 4  # of one cell; more repeats are shown as a range
NOISE = 0.5  # without enough repeats to measure it; then no cell is called better or worse
SPREAD = 0.9  # the same for repeats of one cell
REPEATS, JUDGE = "from the repeats", "the judge's smallest real difference"
ROUNDED = 0.0001
STEPS = (0.5, 1.5)  # points beyond the noise, from which the colour is stronger
APART = 1.96 * 2**0.5  # times the deviation of a run, which two runs differ by at most by noise
SHADES = (6.2, 7.0, 7.8)  # scores from which the grey is darker
ORDERS = {
    "regression": "Regressions first",
    "gain": "Improvements first",
    "task": "Suite order",
}
SHAPES = {  # text, class, words
    CellState.UNSCORED: ("?", "unscored", "unscored: the judge gave no usable reply"),
    CellState.ERROR: ("✕", "error", "error"),
    CellState.RUNNING: ("●", "running", "running"),
    CellState.WAITING: ("", "waiting", "waiting"),
    CellState.CANCELLED: ("·", "missing", "not run"),
}
SHADED = tuple(f"shade-{number}" for number in range(1, len(SHADES) + 2))
Key = tuple[str, int]  # task key, configuration


@dataclass(frozen=True, slots=True)
class HeatOptions:
    """What the reader chose."""

    order: str = "regression"
    differs: bool = False
    task_type: str = ""
    scores: bool = False  # shades by score, not by difference
    page: int = 1


@dataclass(frozen=True, slots=True)
class Tile:
    """One number or sign of a cell; `css` is its look, which its text or sign repeats."""

    text: str
    css: str
    sign: str = ""


@dataclass(frozen=True, slots=True)
class HeatCell:
    configuration: Configuration
    tiles: tuple[Tile, ...]
    words: str


@dataclass(frozen=True, slots=True)
class HeatRow:
    task: SuiteTask
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """A column's configuration, and on how many tasks it is better, worse and within noise."""

    configuration: Configuration
    better: int
    worse: int
    same: int


@dataclass(frozen=True, slots=True)
class Heatmap:
    heads: tuple[Head, ...]
    rows: tuple[HeatRow, ...]
    options: HeatOptions
    steps: tuple[str, ...]  # of the legend: noise, and where the colour gets stronger
    tasks: int  # that match
    differing: int
    pages: int
    task_types: tuple[str, ...]
    noise_from: str  # what measured it; empty if it is unknown

    @property
    def noise_known(self) -> bool:
        return bool(self.noise_from)

    @property
    def first(self) -> int:
        return (self.options.page - 1) * PAGE_SIZE + 1

    @property
    def last(self) -> int:
        return min(self.options.page * PAGE_SIZE, self.tasks)


@dataclass(frozen=True, slots=True)
class Repeat:
    """One row of a cell."""

    state: str
    value: float | None
    run: int | None


@dataclass(slots=True)
class Compared:
    """The report's differences, by cell and by task."""

    cells: dict[Key, float] = field(default_factory=dict)
    by_task: dict[str, list[float]] = field(default_factory=dict)
    noise: float = NOISE  # a difference of two cells that chance explains
    spread: float = SPREAD  # a difference of two repeats that chance explains
    noise_from: str = REPEATS  # what measured it; without it, no cell is called better or worse

    @classmethod
    def of(cls, report: Mapping[str, Any] | None) -> "Compared":
        measured = (report or {}).get("noise")
        found = cls(noise_from=source_of(measured) if measured else "")
        if measured:
            found.noise = max(measured["smallest_difference"], 0.05)
            found.spread = max(measured["deviation"] * APART, 0.05)
        for cell in (report or {}).get("cells", ()):
            if (gap := cell.get("difference")) is not None:
                found.cells[cell["task"], cell["configuration"]] = gap
                found.by_task.setdefault(cell["task"], []).append(gap)
        return found

    @property
    def is_measured(self) -> bool:
        return bool(self.noise_from)

    def differs(self, task: str) -> bool:
        return self.is_measured and any(abs(gap) > self.noise for gap in self.by_task.get(task, ()))


def source_of(noise: Mapping[str, Any]) -> str:
    """What the noise was measured with: the judge's part counts if it is the larger one."""
    judge = noise.get("judge_difference") or 0.0
    return JUDGE if judge >= noise["deviation"] * APART - ROUNDED else REPEATS


def heatmap_of(
    experiment: Experiment,
    configurations: Sequence[Configuration],
    report: Mapping[str, Any] | None,
    options: HeatOptions,
    *,
    tasks: Sequence[SuiteTask],
) -> Heatmap:
    """The chosen page of the table. One query, whatever its size."""
    compared = Compared.of(report)
    matching = [task for task in tasks if options.task_type in ("", task.task_type)]
    differing = sum(compared.differs(task.key) for task in matching)
    if options.differs and compared.is_measured:
        matching = [task for task in matching if compared.differs(task.key)]
    ordered = in_order(matching, compared, options.order)
    pages = max(1, -(-len(ordered) // PAGE_SIZE))
    page = min(max(1, options.page), pages)
    shown = ordered[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
    repeats = repeats_of(experiment, shown)
    same_ruler = comparable(configurations)
    rows = tuple(row_of(task, configurations, repeats, compared, options, same_ruler) for task in shown)
    return Heatmap(
        heads=tuple(head_of(configuration, compared) for configuration in configurations),
        rows=rows,
        options=HeatOptions(options.order, options.differs, options.task_type, options.scores, page),
        steps=tuple(f"{compared.noise + more:.1f}" for more in (0, *STEPS)),
        tasks=len(ordered),
        differing=differing,
        pages=pages,
        task_types=tuple(sorted({task.task_type for task in tasks if task.task_type})),
        noise_from=compared.noise_from,
    )


def in_order(tasks: Sequence[SuiteTask], compared: Compared, order: str) -> list[SuiteTask]:
    """Tasks without a difference come last, in the suite's order."""
    if order == "task":
        return list(tasks)

    def key(task: SuiteTask) -> tuple[bool, float]:
        gaps = compared.by_task.get(task.key)
        if not gaps:
            return (True, 0.0)
        return (False, min(gaps) if order == "regression" else -max(gaps))

    return sorted(tasks, key=key)


def head_of(configuration: Configuration, compared: Compared) -> Head:
    if not compared.is_measured:
        return Head(configuration, 0, 0, 0)
    gaps = [gap for (_, number), gap in compared.cells.items() if number == configuration.pk]
    better = sum(gap > compared.noise for gap in gaps)
    worse = sum(gap < -compared.noise for gap in gaps)
    return Head(configuration, better, worse, len(gaps) - better - worse)


def repeats_of(experiment: Experiment, tasks: Sequence[SuiteTask]) -> dict[tuple[int, int], list[Repeat]]:
    """The repeats of these tasks, by task and configuration."""
    rows = ExperimentRun.objects.filter(experiment=experiment, replaced=False, task__in=tasks)
    columns = ("task_id", "configuration_id", "state", "r1", "criteria_met", "criteria_total", "run_id")
    found: dict[tuple[int, int], list[Repeat]] = {}
    for task, configuration, state, r1, met, total, run in rows.order_by("repeat").values_list(*columns):
        value = composite_value(r1, met, total) if state == CellState.DONE else None
        found.setdefault((task, configuration), []).append(Repeat(state, value, run))
    return found


def composite_value(r1: Any, met: int, total: int) -> float:
    """A run's composite: its part of a configuration's."""
    return float(suite_composite(float(r1), met / total if total else 1.0))


def row_of(
    task: SuiteTask,
    configurations: Sequence[Configuration],
    repeats: Mapping[tuple[int, int], list[Repeat]],
    compared: Compared,
    options: HeatOptions,
    same_ruler: Collection[int],
) -> HeatRow:
    """The cells of a task.

    The baseline's are shaded by their score, and those of configurations that another judge measured. A cell
    without a baseline to compare with is neutral.
    """
    base = next(
        (mean_of(repeats.get((task.pk, each.pk), ())) for each in configurations if each.baseline), None
    )
    cells = []
    for configuration in configurations:
        own = repeats.get((task.pk, configuration.pk), [])
        is_compared = configuration.pk in same_ruler and not configuration.baseline
        against = base if is_compared else None
        is_neutral = is_compared and base is None and not options.scores
        tiles = tiles_of(own, None if options.scores else against, compared, is_neutral=is_neutral)
        cells.append(HeatCell(configuration, tiles, cell_words(configuration, own, against)))
    return HeatRow(task, tuple(cells))


def mean_of(repeats: Iterable[Repeat]) -> float | None:
    values = [repeat.value for repeat in repeats if repeat.value is not None]
    return sum(values) / len(values) if values else None


def tiles_of(
    repeats: Sequence[Repeat], base: float | None, compared: Compared, *, is_neutral: bool = False
) -> tuple[Tile, ...]:
    """One tile for repeats that agree within noise, otherwise one each; without colours if `is_neutral`."""
    tiles = compared_tiles(repeats, base, compared)
    return (
        tuple(replace(tile, css="same") if tile.css in SHADED else tile for tile in tiles)
        if is_neutral
        else tiles
    )


def compared_tiles(repeats: Sequence[Repeat], base: float | None, compared: Compared) -> tuple[Tile, ...]:
    if not repeats:
        return (Tile("·", "missing"),)
    noise = compared.noise if compared.is_measured else inf
    values = [repeat.value for repeat in repeats if repeat.value is not None]
    mean = mean_of(repeats)
    if len(values) == len(repeats) and mean is not None:
        if max(values) - min(values) <= compared.spread:
            return (value_tile(mean, base, noise),)
    elif len({repeat.state for repeat in repeats}) == 1:
        return (state_tile(repeats[0].state),)
    if len(repeats) > MOST_TILES:
        return wide_tiles(repeats, values, mean, base, noise)
    return tuple(
        state_tile(repeat.state) if repeat.value is None else value_tile(repeat.value, base, noise)
        for repeat in repeats
    )


def wide_tiles(
    repeats: Sequence[Repeat], values: Sequence[float], mean: float | None, base: float | None, noise: float
) -> tuple[Tile, ...]:
    """Many repeats: the range of their values, and a sign for each other state."""
    others = dict.fromkeys(repeat.state for repeat in repeats if repeat.value is None)
    states = tuple(state_tile(state) for state in others)
    if mean is None:
        return states
    look = value_tile(mean, base, noise)
    text = look.text if min(values) == max(values) else f"{min(values):.1f}–{max(values):.1f}"
    return (Tile(text, look.css, look.sign), *states)


def value_tile(value: float, base: float | None, noise: float) -> Tile:
    text = f"{value:.1f}"
    if base is None:
        shade = 1 + sum(value >= limit for limit in SHADES)
        return Tile(text, f"shade-{shade}")
    gap = value - base
    if abs(gap) <= noise:
        return Tile(text, "same")
    strength = 1 + sum(abs(gap) >= noise + more for more in STEPS)
    return Tile(text, f"{'better' if gap > 0 else 'worse'}-{strength}", "▲" if gap > 0 else "▼")


def state_tile(state: str) -> Tile:
    text, css, _ = SHAPES[CellState(state)]
    return Tile(text, css)


def cell_words(configuration: Configuration, repeats: Sequence[Repeat], base: float | None) -> str:
    """The cell for those who do not see its colour."""
    said = [
        f"{repeat.value:.1f}" if repeat.value is not None else SHAPES[CellState(repeat.state)][2]
        for repeat in repeats
    ]
    mean = mean_of(repeats)
    gap = ""
    if mean is not None and base is not None:
        gap = f", {signed(mean - base)} against the baseline"
    return f"{configuration.letter} {configuration.name}: {', '.join(said) or 'not run'}{gap}"


def tasks_of(experiment: Experiment) -> list[SuiteTask]:
    """All tasks of the suite version without their texts, in order."""
    rows = SuiteTask.objects.filter(version=experiment.suite_version_id)
    return list(rows.only("key", "title", "task_type", "position", "version_id").order_by("position"))


def worst_cells(report: Mapping[str, Any] | None) -> list[Key]:
    """Task and configuration of each regression beyond noise, the worst first.

    If noise is unknown, of each lower score: nobody knows which of them are regressions.
    """
    compared = Compared.of(report)
    least = compared.noise if compared.is_measured else 0.0
    found = [(gap, key) for key, gap in compared.cells.items() if gap < -least]
    return [key for _, key in sorted(found)]
