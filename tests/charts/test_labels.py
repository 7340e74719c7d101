"""Labels on charts never overlap."""

import itertools
from decimal import Decimal

import pytest

from refinement.charts import Mark, Series, trajectory_chart
from refinement.charts.labels import spread, text_box
from refinement.charts.palette import LIGHT
from refinement.engine.types import Scale

D = Decimal
TEN = Scale(D(0), D(10))


def boxes(drawn):
    marks = [(mark.text_x, mark.text_y, mark.text, mark.anchor) for mark in drawn.marks if mark.text_x]
    if drawn.threshold:
        label = drawn.threshold
        marks.append((label.x, label.y, label.text, label.anchor))
    return [text_box(float(x), float(y), text, anchor) for x, y, text, anchor in marks]


def apart(drawn):
    return not any(one.meets(other) for one, other in itertools.combinations(boxes(drawn), 2))


@pytest.mark.parametrize("width", [400, 924])
@pytest.mark.parametrize("values", [["8"], ["8", "8"], ["4.67", "6.25", "7.79", "7.9", "8"], ["8"] * 8])
def test_scores_best_people_and_the_pass_mark(values, width):
    scores = [D(value) for value in values]
    marks = [Mark("best", len(scores) - 1), *(Mark("score", index) for index in range(len(scores) - 1))]
    marks.append(Mark("people", len(scores) - 1, value=D("7.9")))
    line = Series("Composite", scores, 0, strong=True)
    assert apart(trajectory_chart([line], TEN, D(8), marks, width=width, height=226, ends=True))


def test_two_bests_at_the_same_height():
    runs = [Series(f"Run {n}", [D(7), D("8.6")], n, strong=True) for n in (1, 2)]
    assert apart(trajectory_chart(runs, TEN, D("8.6"), [Mark("best", 1, series=n) for n in (0, 1)]))


@pytest.mark.parametrize("count", [1, 6, 12])
def test_lines_that_end_at_the_same_height_are_named_apart(count):
    lines = [Series(f"Criterion {n}", [D(5), D(8)], n + 1) for n in range(count)]
    drawn = trajectory_chart(lines, TEN, width=924, height=226, ends=True)
    heights = sorted(float(end.y) for end in drawn.ends)
    assert len(heights) == count
    assert all(after - before >= 12.9 for before, after in itertools.pairwise(heights))
    assert all(0 < height < 226 for height in heights)


def test_more_lines_than_there_is_room_for_are_named_in_the_legend_alone():
    lines = [Series(str(n), [D(5)], n + 1) for n in range(24)]
    assert trajectory_chart(lines, TEN, height=226, ends=True).ends == ()


def test_on_a_phone_lines_are_named_in_the_legend_alone():
    line = Series("Grounded in the notes", [D(5), D(8)], 1)
    assert trajectory_chart([line], TEN, width=400, ends=True).ends == ()
    assert trajectory_chart([line], TEN, width=924, ends=True).ends[0].name == "Grounded in the notes"


def test_heights_are_kept_where_there_is_room():
    assert spread([10, 50, 90], 13, 0, 100) == [10, 50, 90]
    assert spread([50, 50], 10, 0, 100) == [50, 60]
    assert spread([99, 99], 10, 0, 100) == [90, 100]
    assert spread([], 10, 0, 100) == []


def test_the_seventh_line_has_a_colour_of_its_own_and_the_ninth_a_dash():
    assert len({LIGHT.colour(slot) for slot in range(1, 9)}) == 8
    assert LIGHT.dash(8) == ""
    assert LIGHT.dash(9) != ""
