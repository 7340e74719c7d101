"""The small charts of metrics: aligned with the trajectory, with spread, and with gaps."""

from decimal import Decimal

import pytest

from refinement.charts import MetricSeries, Series, metric_chart, trajectory_chart, value_words
from refinement.engine.profiles import rubric_for
from refinement.engine.types import MetricValue


def values(*rounds):
    return [
        MetricValue(tuple(Decimal(number) for number in numbers)) if numbers else None for numbers in rounds
    ]


def series(*rounds, **more):
    return MetricSeries("accuracy", values(*rounds), [True] * len(rounds), **more)


def labels(count):
    return [f"Round {number + 1}" for number in range(count)]


def test_rounds_stand_under_those_of_the_trajectory():
    chart = metric_chart(series(["0.5"], ["0.7"], ["0.6"]), labels(3), width=400)
    above = trajectory_chart(
        [Series("Composite", [Decimal(5)] * 3, 0)], rubric_for("wiggum").scale, width=400
    )
    assert [dot.x for dot in chart.dots] == [dot.x for dot in above.lines[0].dots]
    assert (chart.left, chart.right, chart.width) == (above.left, above.right, above.width)


def test_a_higher_value_is_drawn_higher_and_inside():
    chart = metric_chart(series(["0.5"], ["0.7"]), labels(2))
    low, high = (float(dot.y) for dot in chart.dots)
    assert float(chart.top) <= high < low <= float(chart.bottom)
    assert chart.pieces == (f"{chart.dots[0].x},{chart.dots[0].y} {chart.dots[1].x},{chart.dots[1].y}",)


def test_the_spread_is_a_whisker_around_the_median():
    chart = metric_chart(series(["0.5", "0.9", "0.7"], ["0.8"], ["0.6", "0.6"]), labels(3))
    (whisker,) = chart.whiskers
    assert float(whisker.high) < float(chart.dots[0].y) < float(whisker.low)
    assert chart.columns[0].words == "Round 1: 0.7 (0.5 to 0.9)"
    assert chart.columns[1].words == "Round 2: 0.8"


def test_what_was_not_found_is_said_and_never_drawn_as_zero():
    metric = MetricSeries("accuracy", values(["0.5"], [], ["0.6"], []), [True, True, True, False])
    chart = metric_chart(metric, labels(4))
    assert len(chart.dots) == 2
    assert chart.pieces == ()
    assert [label.text for label in chart.missing] == ["not found"]
    assert value_words(metric) == ["0.5", "not found", "0.6", "not measured"]
    assert chart.description == "Round 1 0.5; Round 2 not found; Round 3 0.6; Round 4 not measured"


@pytest.mark.parametrize(
    "numbers",
    [["0"], ["1e20"], ["-1e20"], ["1e-20"], ["5", "5"], ["-3", "4"], ["123456.789"]],
)
def test_any_number_has_an_axis(numbers):
    chart = metric_chart(series(*([number] for number in numbers)), labels(len(numbers)))
    assert len(chart.grid) == 2
    assert all(len(tick.text) <= 9 for tick in chart.grid)
    assert all(float(chart.top) <= float(dot.y) <= float(chart.bottom) for dot in chart.dots)


def test_nothing_found_is_a_chart_without_a_line():
    chart = metric_chart(series([], []), labels(2))
    assert (chart.dots, chart.pieces, len(chart.missing)) == ((), (), 2)


def test_the_direction_is_named():
    assert metric_chart(series(["1"], lower_is_better=True), labels(1)).direction == "lower is better"
    assert metric_chart(series(["1"]), labels(1)).direction == ""


def test_many_rounds_are_a_line_without_dots():
    chart = metric_chart(series(*(["1"] for _ in range(100))), labels(100))
    assert (chart.dots, chart.columns, len(chart.pieces)) == ((), (), 1)
