"""How long pages and the API take about runs, by how many there are: `python -m benchmarks.browse`.

For each database, a project of each size is filled (4 rounds a run, candidates of 6 KB; see `filling.py`).
Then every page is asked for many times, of all sizes in turn, request by request: a machine that changes its
speed does so for all of them. Printed are medians and 95th percentiles in milliseconds, and how the largest
size compares with the smallest: the median of the ratios of requests that were made right after each other.
The budgets: 60 ms at the 95th percentile on SQLite and 100 on PostgreSQL (200 for all 500 comments of a run
at once), and a ratio of 1.5 for pages that take 30 ms or more.

Filling takes minutes. `--keep DIR` leaves what was filled in that folder (and in databases on the PostgreSQL
server) and uses it the next time; `--fill` does no more than that, `--forget` removes it. On a machine that
others use as well, `--processor` counts the processor time of the processes that ask and of PostgreSQL's in
place of the time that passed.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.asking import COLLECT, Asker, asker
from benchmarks.filling import CHARS
from benchmarks.kept import forget, kept
from benchmarks.pages import ALL_THREADS

SIZES = (1_000, 10_000, 100_000)
REPEATS = 60
WARM_UPS = 3
NAME_WIDTH = 40
BUDGET_MS = {"sqlite": 60, "postgres": 100}
BUDGET_RATIO, AT_ONCE_MS = 1.5, 30
LONG_MS = {ALL_THREADS: 200}  # opened on purpose, so it may take longer


@dataclass(slots=True)
class Measured:
    """A page at one size: milliseconds of each request in their order, and the lines of its list."""

    took: list[float] = field(default_factory=list)
    lines: int = 0

    @property
    def middle(self) -> float:
        return statistics.median(self.took)

    @property
    def slow(self) -> float:
        """The 95th percentile."""
        return sorted(self.took)[int(len(self.took) * 0.95)]


def main() -> None:
    options = arguments()
    for database in options.databases:
        with folders(options.keep, database, options.sizes) as places:
            if options.forget:
                for folder in places.values():
                    forget(folder)
                continue
            filled = {size: kept(places[size], database, size, options.chars) for size in places}
            if options.fill:
                continue
            with ExitStack() as stack:
                askers = {
                    size: stack.enter_context(asker(made, processor=options.processor))
                    for size, made in filled.items()
                }
                show(database, askers, options.pages, options.repeats)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--chars", type=int, default=CHARS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--pages", nargs="+", default=[""], help="only those that begin so")
    parser.add_argument("--processor", action="store_true", help="count processor time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave what is filled here, and reuse it")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--fill", action="store_true", help="with --keep: fill, and measure nothing")
    only.add_argument("--forget", action="store_true", help="with --keep: remove what was filled")
    options = parser.parse_args()
    if options.keep is None and (options.fill or options.forget):
        parser.error("--fill and --forget need --keep")
    return options


@contextmanager
def folders(keep: Path | None, database: str, sizes: Sequence[int]) -> Iterator[dict[int, Path]]:
    """A folder for each size; unless they are kept, they and their databases go at the end."""
    if keep is not None:
        yield {size: keep.resolve() / f"{database}-{size}" for size in sizes}
        return
    with tempfile.TemporaryDirectory(prefix="wiggum-bench-") as directory:
        places = {size: Path(directory) / f"{database}-{size}" for size in sizes}
        try:
            yield places
        finally:
            for folder in places.values():
                forget(folder)


def show(database: str, askers: Mapping[int, Asker], begins: Sequence[str], repeats: int) -> None:
    """The table of one database: a line for each page."""
    heads = "".join(f"{f'{size:,}':>16}" for size in askers)
    print(f"\n{database}: median and 95th percentile in ms\n{'':{NAME_WIDTH}}{heads}{'ratio':>9}", flush=True)
    for name in next(iter(askers.values())).names:
        if name.startswith(tuple(begins)):
            rows = list(measured(askers, name, repeats).values())
            print(told(name, rows, BUDGET_MS[database]), flush=True)


def measured(askers: Mapping[int, Asker], name: str, repeats: int) -> dict[int, Measured]:
    """The page at each size, asked for by all in turn; another one begins each time."""
    for each in askers.values():
        for _ in range(WARM_UPS):
            each.ask(name)
        each.ask(COLLECT)
    rows = {size: Measured() for size in askers}
    for number in range(repeats):
        for size in turned(list(askers), number):
            took, rows[size].lines = askers[size].ask(name)
            rows[size].took.append(took)
    return rows


def turned(sizes: list[int], number: int) -> list[int]:
    """The same sizes, beginning with another one each time."""
    start = number % len(sizes)
    return sizes[start:] + sizes[:start]


def told(name: str, rows: Sequence[Measured], budget: float) -> str:
    """A page's line: for each size median and 95th percentile, the ratio of the ends, what is over budget.

    Where the sizes' lists are not equally long, their lines are told: they count in the ratio as well.
    """
    cells = "".join(f"{row.middle:>8.1f}{row.slow:>8.1f}" for row in rows)
    ratio = paired_ratio(rows[0].took, rows[-1].took)
    slowest = max(row.slow for row in rows)
    over = slowest > LONG_MS.get(name, budget) or (ratio > BUDGET_RATIO and slowest > AT_ONCE_MS)
    lengths = [row.lines for row in rows]
    lines = f"  ({', '.join(map(str, lengths))} lines)" if len(set(lengths)) > 1 else ""
    return f"{name:{NAME_WIDTH}}{cells}{ratio:>9.2f}{' over' if over else ''}{lines}"


def paired_ratio(small: Sequence[float], large: Sequence[float]) -> float:
    """How much longer the second takes than the first, by requests that were made in the same moment."""
    return statistics.median(late / early for early, late in zip(small, large, strict=True))


if __name__ == "__main__":
    main()
