"""The judges' marks on one criterion: positions, hollow marks and connections."""

from decimal import Decimal

import pytest

from refinement.charts import JudgeScore, glyph, lane, lane_axis
from refinement.engine.types import Scale

TEN = Scale(Decimal(0), Decimal(10))


def score(before: str, after: str | None, seat: int = 1) -> JudgeScore:
    return JudgeScore(seat, Decimal(before), None if after is None else Decimal(after))


def test_a_score_that_is_not_final_is_hollow():
    (mark,) = lane([score("6", None)], TEN, None).marks
    assert mark.hollow
    assert (mark.filled, mark.arrow) == ("", "")


def test_a_score_that_stands_is_filled():
    (mark,) = lane([score("6", "6")], TEN, Decimal(6)).marks
    assert mark.filled
    assert (mark.hollow, mark.arrow) == ("", "")


@pytest.mark.parametrize(("after", "shift"), [("9", 1), ("3", -1)])
def test_a_concession_has_both_and_an_arrow_that_points_at_the_new_score(after, shift):
    (mark,) = lane([score("6", after)], TEN, Decimal(6)).marks
    assert mark.hollow != mark.filled
    start, tip = (float(text) for text in (mark.arrow[1:].split()[0], mark.arrow.split("H")[1].split("M")[0]))
    assert (tip - start) * shift > 0


def test_marks_that_touch_need_no_arrow():
    (mark,) = lane([score("6", "6.3")], TEN, Decimal(6)).marks
    assert mark.hollow
    assert mark.filled
    assert mark.arrow == ""


def test_each_judge_has_a_row_and_a_shape_of_its_own():
    drawn = lane([score("6", "6", seat) for seat in range(1, 6)], TEN, Decimal(6))
    assert len({mark.filled for mark in drawn.marks}) == 5
    assert len({glyph(seat) for seat in range(1, 6)}) == 5
    assert float(drawn.height) > float(lane([score("6", "6")], TEN, Decimal(6)).height)


def test_the_median_is_a_band_once_there_is_one():
    assert lane([score("6", None)], TEN, None).median == ""
    drawn = lane([score("5", "5")], TEN, Decimal(5))
    assert float(drawn.median) == drawn.width / 2
    assert float(drawn.median_left) < float(drawn.median)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        ("0", "10", ["0", "2", "4", "6", "8", "10"]),
        ("1", "10", ["2", "4", "6", "8", "10"]),
        ("0", "1", ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ("-5", "5", ["-4", "-2", "0", "2", "4"]),
        ("1", "5", ["1", "2", "3", "4", "5"]),
    ],
)
def test_the_scale_has_round_values(low, high, ticks):
    scale = Scale(Decimal(low), Decimal(high))
    assert [tick.text for tick in lane_axis(scale).ticks] == ticks
    assert len(lane([], scale, None).ticks) == len(ticks)


def test_a_score_off_the_scale_is_drawn_at_its_end():
    (mark,) = lane([score("99", "99")], TEN, None).marks
    (end,) = lane([score("10", "10")], TEN, None).marks
    assert mark.filled == end.filled
