"""All benchmarks can be imported, and the one of pages compares sizes fairly."""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks
from benchmarks.asking import COLLECT, lines_of
from benchmarks.browse import PageTimes, measure_page, paired_ratio, table_row
from benchmarks.filling import THOUSAND, discussed_place, middle_place, spread
from benchmarks.pages import ALL_THREADS

NAMES = sorted(path.stem for path in Path(benchmarks.__file__).parent.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    assert import_module(f"benchmarks.{name}").__doc__


@pytest.mark.parametrize("size", [1_000, 10_000, 100_000])
def test_what_is_rare_is_the_same_few_runs_of_a_thousand_at_each_size(size):
    places = spread(size, 30, 4)
    assert places == sorted(set(places))
    assert [place % THOUSAND for place in places] == spread(THOUSAND, 30, 4)
    assert places[0] < size / 30
    assert size * 0.9 < places[-1] < size


@pytest.mark.parametrize("place", [middle_place, discussed_place])
def test_a_page_in_history_is_about_the_same_run_of_a_thousand(place):
    assert {place(size) % THOUSAND for size in (1_000, 10_000, 100_000)} == {place(1_000)}
    assert place(100_000) > 30_000


@pytest.mark.parametrize("size", [1, 40, 999])
def test_a_small_history_has_places_too(size):
    places = [middle_place(size), discussed_place(size), *spread(size, 30, 4)]
    assert all(0 <= place < size for place in places)


class Machine:
    """In place of the processes: every request takes longer than the last, at one size twice as long."""

    def __init__(self):
        self.loads = []

    def page_loader(self, size, factor):
        machine = self

        class PageLoader:
            names = ("list",)

            def load(self, name):
                machine.loads.append((size, name))
                return factor * 1.001 ** len(machine.loads), 25

        return PageLoader()


def test_sizes_are_asked_in_turn_and_each_begins_as_often():
    machine = Machine()
    loaders = {size: machine.page_loader(size, factor) for size, factor in ((10, 1), (100, 1), (1_000, 2))}
    rows = measure_page(loaders, "list", 6)
    timed = [size for size, _ in machine.loads[-18:]]
    assert timed == [10, 100, 1_000, 100, 1_000, 10, 1_000, 10, 100] * 2
    assert [len(row.took) for row in rows.values()] == [6, 6, 6]
    assert [size for size, name in machine.loads if name == COLLECT] == [10, 100, 1_000]


def test_a_machine_that_slows_down_does_not_change_the_ratio():
    machine = Machine()
    rows = measure_page({10: machine.page_loader(10, 1), 1_000: machine.page_loader(1_000, 2)}, "list", 60)
    assert paired_ratio(rows[10].took, rows[1_000].took) == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    ("name", "small", "large", "end"),
    [
        ("list", PageTimes([30.0] * 40, 25), PageTimes([44.9] * 40, 25), "    1.50"),
        ("list", PageTimes([30.0] * 40, 25), PageTimes([45.3] * 40, 25), "    1.51 over"),
        ("list", PageTimes([10.0] * 40, 25), PageTimes([29.0] * 40, 25), "    2.90"),
        ("list", PageTimes([50.0] * 40, 25), PageTimes([50.0] * 38 + [61.0] * 2, 25), "    1.00 over"),
        ("list", PageTimes([50.0] * 40, 25), PageTimes([50.0] * 39 + [61.0], 25), "    1.00"),
        (ALL_THREADS, PageTimes([90.0] * 40), PageTimes([90.0] * 40), "    1.00"),
        ("list", PageTimes([10.0] * 40, 7), PageTimes([12.0] * 40, 25), "    1.20  (7, 25 lines)"),
    ],
)
def test_a_line_tells_what_is_over_a_bar_and_where_lists_differ(name, small, large, end):
    assert table_row(name, [small, large], 60).endswith(end)


def test_lines_are_counted_on_pages_and_in_the_api():
    assert lines_of(b'<tr><th scope="row">1</th></tr><tr><th scope="row">2</th></tr>') == 2
    assert lines_of(b'{"items": [1, 2, 3]}') == 3
    assert lines_of(b'{"id": 1}') == 0
