"""The geometry of the chart."""

from decimal import Decimal
from xml.etree import ElementTree as ET

import pytest
from django.template.loader import render_to_string

from refinement.charts import DARK, Mark, Series, sparkline, trajectory_chart
from refinement.charts.axes import label_every, round_step, value_axis
from refinement.engine.types import Scale

D = Decimal
TEN = Scale(D(0), D(10))


def chart(*values, **more):
    return trajectory_chart([Series("Composite", list(values), 0, strong=True)], TEN, **more)


def heights(drawn):
    return [float(dot.y) for dot in drawn.lines[0].dots]


def test_higher_scores_stand_higher():
    first, second, third = heights(chart(D("7.15"), D("8.6"), D("8.3")))
    assert second < third < first


def test_a_round_without_a_score_parts_the_line():
    drawn = chart(D(5), D(6), None, D(7), D(8))
    assert len(drawn.lines[0].pieces) == 2
    assert len(drawn.lines[0].dots) == 4


def test_one_round_is_a_dot_in_the_middle():
    drawn = chart(D(5), width=900)
    assert drawn.lines[0].pieces == ()
    assert 400 < float(drawn.lines[0].dots[0].x) < 500


def test_no_round_draws_nothing_and_breaks_nothing():
    assert trajectory_chart([], TEN).columns == ()


@pytest.mark.parametrize(
    ("values", "least", "most"),
    [([D(7), D(9)], D(0), D(10)), ([D(0), D(10)], D(0), D(10)), ([D(10)], D(0), D(10)), ([], D(0), D(10))],
)
def test_the_axis_stays_on_the_scale(values, least, most):
    axis = value_axis(values, TEN, top=0, bottom=100, most=7)
    assert least <= axis.low < axis.high <= most
    assert len(axis.ticks) <= 8
    assert all(axis.low <= value <= axis.high for value in values)


def test_a_small_scale_has_small_steps():
    axis = value_axis([D("0.4"), D("0.9")], Scale(D(0), D(1)), top=0, bottom=100, most=7)
    assert axis.step <= D("0.2")


@pytest.mark.parametrize(
    ("least", "step"), [("0.4", "0.5"), ("1.1", "2"), ("3", "5"), ("6", "10"), ("1", "1")]
)
def test_steps_are_round_numbers(least, step):
    assert round_step(D(least)) == D(step)


def test_labels_are_thinned_out():
    assert label_every(3, 10) == 1
    assert 200 / label_every(200, 10) <= 10
    assert len(chart(*[D(5)] * 200, labels=[f"Round {n}" for n in range(1, 201)]).rounds) < 20


def test_best_first_and_signs_are_marked():
    drawn = chart(
        D(7), D(9), D(8), marks=[Mark("best", 1), Mark("score", 0), Mark("signal", 2, "Judge check")]
    )
    assert [mark.kind for mark in drawn.marks] == ["best", "score", "signal"]
    assert drawn.marks[0].text == "★ 9.00"
    assert "Judge check" in drawn.columns[2].words


def test_a_mark_without_a_score_is_left_out():
    assert chart(D(7), None, marks=[Mark("best", 1), Mark("best", 9)]).marks == ()


def test_the_picture_is_sound_xml_whatever_a_criterion_is_called():
    name = '<script>"&\x00\x08\u202e'
    series = [Series(name, [D(5), D(6)], 1, strong=True)]
    drawn = trajectory_chart(series, TEN, D(9), labels=[name, name], title=name, palette=DARK, legend=True)
    picture = render_to_string("refinement/charts/_trajectory.html", {"chart": drawn}).strip()
    root = ET.fromstring(picture)
    assert root.tag.endswith("svg")
    assert "script" not in {element.tag.rsplit("}")[-1] for element in root.iter()}
    assert DARK.paper in picture
    assert "style=" not in picture


def test_several_runs_share_one_picture():
    series = [Series(f"Run {n}", [D(n), D(n + 1)], n, strong=True) for n in (1, 2, 3)]
    drawn = trajectory_chart(series, TEN)
    assert len({line.colour for line in drawn.lines}) == 3
    assert "Run 3 4.00" in drawn.columns[1].words


def test_many_lines_are_told_apart_by_dashes():
    drawn = trajectory_chart([Series(str(n), [D(1), D(2)], n) for n in range(1, 13)], TEN)
    assert len({(line.colour, line.dash) for line in drawn.lines}) == 12


def test_a_sparkline_marks_the_earliest_best():
    line = sparkline([D(1), D(3), D(3)], width=96, height=24)
    assert (line.best_x, line.best_y) == ("48", "3")
    assert sparkline([]) is None
    assert sparkline([D(2)]).points == "48,12"
