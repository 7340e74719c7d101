"""The benchmarks can be started: nobody runs them for weeks, and what they import is moved meanwhile.

The one of lists and pages compares sizes with each other: here is what makes them comparable.
"""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks
from benchmarks.asking import COLLECT, lines_of
from benchmarks.browse import Measured, measured, paired_ratio, told
from benchmarks.filling import THOUSAND, middle_place, spread, talked_place
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


@pytest.mark.parametrize("place", [middle_place, talked_place])
def test_a_page_in_history_is_about_the_same_run_of_a_thousand(place):
    assert {place(size) % THOUSAND for size in (1_000, 10_000, 100_000)} == {place(1_000)}
    assert place(100_000) > 30_000


@pytest.mark.parametrize("size", [1, 40, 999])
def test_a_small_history_has_places_too(size):
    places = [middle_place(size), talked_place(size), *spread(size, 30, 4)]
    assert all(0 <= place < size for place in places)


class Machine:
    """In place of the processes: every request takes longer than the last, at one size twice as long."""

    def __init__(self):
        self.asked = []

    def asker(self, size, factor):
        machine = self

        class Asker:
            names = ("list",)

            def ask(self, name):
                machine.asked.append((size, name))
                return factor * 1.001 ** len(machine.asked), 25

        return Asker()


def test_sizes_are_asked_in_turn_and_each_begins_as_often():
    machine = Machine()
    askers = {size: machine.asker(size, factor) for size, factor in ((10, 1), (100, 1), (1_000, 2))}
    rows = measured(askers, "list", 6)
    timed = [size for size, _ in machine.asked[-18:]]
    assert timed == [10, 100, 1_000, 100, 1_000, 10, 1_000, 10, 100] * 2
    assert [len(row.took) for row in rows.values()] == [6, 6, 6]
    assert [size for size, name in machine.asked if name == COLLECT] == [10, 100, 1_000]


def test_a_machine_that_slows_down_does_not_change_the_ratio():
    machine = Machine()
    rows = measured({10: machine.asker(10, 1), 1_000: machine.asker(1_000, 2)}, "list", 60)
    assert paired_ratio(rows[10].took, rows[1_000].took) == pytest.approx(2, rel=0.01)


@pytest.mark.parametrize(
    ("name", "small", "large", "end"),
    [
        ("list", Measured([30.0] * 40, 25), Measured([44.9] * 40, 25), "    1.50"),
        ("list", Measured([30.0] * 40, 25), Measured([45.3] * 40, 25), "    1.51 over"),
        ("list", Measured([10.0] * 40, 25), Measured([29.0] * 40, 25), "    2.90"),
        ("list", Measured([50.0] * 40, 25), Measured([50.0] * 38 + [61.0] * 2, 25), "    1.00 over"),
        ("list", Measured([50.0] * 40, 25), Measured([50.0] * 39 + [61.0], 25), "    1.00"),
        (ALL_THREADS, Measured([90.0] * 40), Measured([90.0] * 40), "    1.00"),
        ("list", Measured([10.0] * 40, 7), Measured([12.0] * 40, 25), "    1.20  (7, 25 lines)"),
    ],
)
def test_a_line_tells_what_is_over_a_bar_and_where_lists_differ(name, small, large, end):
    assert told(name, [small, large], 60).endswith(end)


def test_lines_are_counted_on_pages_and_in_the_api():
    assert lines_of(b'<tr><th scope="row">1</th></tr><tr><th scope="row">2</th></tr>') == 2
    assert lines_of(b'{"items": [1, 2, 3]}') == 3
    assert lines_of(b'{"id": 1}') == 0
