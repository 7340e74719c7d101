"""Tiles of the table of tasks and configurations."""

import pytest

from refinement.selectors.experiments.reports.heatmap import Compared, Repeat, tiles_of, worst_cells

COMPARED = Compared(noise=0.5, spread=0.9)


def done(*values):
    return [Repeat("done", value, None) for value in values]


@pytest.mark.parametrize(
    ("repeats", "base", "expected"),
    [
        (done(7.0), 7.3, [("7.0", "same", "")]),
        (done(7.0, 7.4), 7.0, [("7.2", "same", "")]),
        (done(8.0, 8.2), 7.0, [("8.1", "better-2", "▲")]),
        (done(4.0), 7.0, [("4.0", "worse-3", "▼")]),
        (done(6.0), 7.0, [("6.0", "worse-2", "▼")]),
        (done(6.4), 7.0, [("6.4", "worse-1", "▼")]),
        (done(6.0, 8.0), 7.0, [("6.0", "worse-2", "▼"), ("8.0", "better-2", "▲")]),
        (done(5.0, 6.0, 7.0, 8.0, 9.0), None, [("5.0–9.0", "shade-3", "")]),
        (done(6.0), None, [("6.0", "shade-1", "")]),
        (
            [*done(7.0), Repeat("unscored", None, None)],
            7.0,
            [("7.0", "same", ""), ("?", "unscored", "")],
        ),
        ([Repeat("error", None, 1), Repeat("error", None, 2)], 7.0, [("✕", "error", "")]),
        ([Repeat("waiting", None, None)], 7.0, [("", "waiting", "")]),
        ([Repeat("cancelled", None, None)], 7.0, [("·", "missing", "")]),
        ([], 7.0, [("·", "missing", "")]),
    ],
)
def test_a_cell_is_split_only_where_repeats_differ_by_more_than_noise(repeats, base, expected):
    tiles = tiles_of(repeats, base, COMPARED)
    assert [(tile.text, tile.css, tile.sign) for tile in tiles] == expected


def test_without_measured_noise_no_cell_is_better_or_worse():
    compared = Compared.of({"noise": None, "cells": [{"task": "a", "configuration": 2, "difference": -3.0}]})
    assert not compared.is_measured
    assert not compared.differs("a")
    for repeats in (done(4.0), done(1.0, 9.0), done(5.0, 6.0, 7.0, 8.0, 9.0)):
        assert {(tile.css, tile.sign) for tile in tiles_of(repeats, 7.0, compared)} == {("same", "")}


def test_regressions_are_those_beyond_noise_the_worst_first():
    report = {
        "noise": {"smallest_difference": 0.6, "deviation": 0.3},
        "cells": [
            {"task": "a", "configuration": 2, "difference": -0.7},
            {"task": "b", "configuration": 2, "difference": -2.0},
            {"task": "c", "configuration": 2, "difference": -0.5},
            {"task": "d", "configuration": 2, "difference": None},
        ],
    }
    assert worst_cells(report) == [("b", 2), ("a", 2)]
    assert worst_cells(None) == []


@pytest.mark.parametrize(
    ("judge", "source"),
    [(None, "from the repeats"), (0.5, "from the repeats"), (0.9, "the judge's smallest real difference")],
)
def test_the_noise_says_what_measured_it(judge, source):
    deviation = max(0.3, (judge or 0) / (1.96 * 2**0.5))
    noise = {"deviation": deviation, "smallest_difference": 0.6, "judge_difference": judge}
    assert Compared.of({"noise": noise}).noise_from == source


def test_a_cell_whose_baseline_has_no_score_yet_has_no_colour():
    tiles = tiles_of([*done(8.0), Repeat("running", None, None)], None, COMPARED, is_neutral=True)
    assert [(tile.text, tile.css) for tile in tiles] == [("8.0", "same"), ("●", "running")]
