"""Load times of pages and the API by the number of runs: `python -m benchmarks.browse`.

For each database, a project of each size is created (4 rounds per run, candidates of 6 KB; see `filling.py`).
Then every page is loaded many times, alternating between the sizes, so that changes in the machine's speed
affect all of them. Prints medians and 95th percentiles in milliseconds, and the ratio of the largest size to
the smallest: the median of the ratios of requests that were made right after each other. The budgets: 60 ms
at the 95th percentile on SQLite and 100 on PostgreSQL (200 for all 500 comments of a run at once), and a
ratio of 1.5 for pages that take 30 ms or more.

Creating the projects takes minutes. `--keep DIR` keeps them in that folder (and in databases on PostgreSQL)
and reuses them the next time; `--fill` only creates them, `--forget` deletes them. On a busy machine,
`--processor` measures CPU time, including PostgreSQL's, instead of wall time.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.asking import COLLECT, PageLoader, page_loader
from benchmarks.filling import CHARS
from benchmarks.kept import instance_delete, saved_instance
from benchmarks.pages import ALL_THREADS

SIZES = (1_000, 10_000, 100_000)
REPEATS = 60
WARM_UPS = 3
NAME_WIDTH = 40
BUDGET_MS = {"sqlite": 60, "postgres": 100}
BUDGET_RATIO, AT_ONCE_MS = 1.5, 30
LONG_MS = {ALL_THREADS: 200}  # users request it explicitly, so it may take longer


@dataclass(slots=True)
class PageTimes:
    """A page at one size: milliseconds of each request in order, and the number of lines in its list."""

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
                    instance_delete(folder)
                continue
            filled = {size: saved_instance(places[size], database, size, options.chars) for size in places}
            if options.fill:
                continue
            with ExitStack() as stack:
                loaders = {
                    size: stack.enter_context(page_loader(app, processor=options.processor))
                    for size, app in filled.items()
                }
                show(database, loaders, options.pages, options.repeats)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--chars", type=int, default=CHARS)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--pages", nargs="+", default=[""], help="only pages whose names start with these")
    parser.add_argument("--processor", action="store_true", help="measure CPU time")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the projects here, and reuse them")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--fill", action="store_true", help="with --keep: only create the projects")
    only.add_argument("--forget", action="store_true", help="with --keep: delete the projects")
    options = parser.parse_args()
    if options.keep is None and (options.fill or options.forget):
        parser.error("--fill and --forget need --keep")
    return options


@contextmanager
def folders(keep: Path | None, database: str, sizes: Sequence[int]) -> Iterator[dict[int, Path]]:
    """A folder for each size; without `keep`, they and their databases are deleted at the end."""
    if keep is not None:
        yield {size: keep.resolve() / f"{database}-{size}" for size in sizes}
        return
    with tempfile.TemporaryDirectory(prefix="wiggum-bench-") as directory:
        places = {size: Path(directory) / f"{database}-{size}" for size in sizes}
        try:
            yield places
        finally:
            for folder in places.values():
                instance_delete(folder)


def show(database: str, loaders: Mapping[int, PageLoader], begins: Sequence[str], repeats: int) -> None:
    """Prints the table of one database, with one row per page."""
    heads = "".join(f"{f'{size:,}':>16}" for size in loaders)
    print(f"\n{database}: median and 95th percentile in ms\n{'':{NAME_WIDTH}}{heads}{'ratio':>9}", flush=True)
    for name in next(iter(loaders.values())).names:
        if name.startswith(tuple(begins)):
            rows = list(measure_page(loaders, name, repeats).values())
            print(table_row(name, rows, BUDGET_MS[database]), flush=True)


def measure_page(loaders: Mapping[int, PageLoader], name: str, repeats: int) -> dict[int, PageTimes]:
    """Loads the page at each size in turn, starting with another size each time."""
    for each in loaders.values():
        for _ in range(WARM_UPS):
            each.load(name)
        each.load(COLLECT)
    rows = {size: PageTimes() for size in loaders}
    for number in range(repeats):
        for size in rotated(list(loaders), number):
            took, rows[size].lines = loaders[size].load(name)
            rows[size].took.append(took)
    return rows


def rotated(sizes: list[int], number: int) -> list[int]:
    """The sizes, starting with the one at index `number`."""
    start = number % len(sizes)
    return sizes[start:] + sizes[:start]


def table_row(name: str, rows: Sequence[PageTimes], budget: float) -> str:
    """A page's row: median and 95th percentile for each size, the ratio, and whether it is over budget.

    If the lists have different lengths, these are shown, because they affect the ratio.
    """
    cells = "".join(f"{row.middle:>8.1f}{row.slow:>8.1f}" for row in rows)
    ratio = paired_ratio(rows[0].took, rows[-1].took)
    slowest = max(row.slow for row in rows)
    over = slowest > LONG_MS.get(name, budget) or (ratio > BUDGET_RATIO and slowest > AT_ONCE_MS)
    lengths = [row.lines for row in rows]
    lines = f"  ({', '.join(map(str, lengths))} lines)" if len(set(lengths)) > 1 else ""
    return f"{name:{NAME_WIDTH}}{cells}{ratio:>9.2f}{' over' if over else ''}{lines}"


def paired_ratio(small: Sequence[float], large: Sequence[float]) -> float:
    """How much longer the second takes than the first, comparing requests made right after each other."""
    return statistics.median(late / early for early, late in zip(small, large, strict=True))


if __name__ == "__main__":
    main()
