"""Consistency of a judge and agreement with people, computed by hand."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.agreement import (
    Agreement,
    Shift,
    Spread,
    Steadiness,
    agreement_of,
    detectable_gap,
    differences_from,
    judge_pairs,
    mean_absolute,
    near_gap,
    rank_correlation,
    required_gap,
    shift_between,
    spread_of,
    steadiness_of,
)
from refinement.engine.profiles import rubric_for
from refinement.engine.rubrics import Scale
from refinement.engine.types import BoardVerdict, CriterionScore, CriterionStance, Stance, Verdict


def numbers(*values: str) -> list[Decimal]:
    return [Decimal(value) for value in values]


def test_a_spread_is_mean_range_and_sample_deviation():
    found = spread_of(numbers("6", "7", "8", "9", "5"))
    assert (found.count, found.mean, found.minimum, found.maximum) == (5, 7, 5, 9)
    assert found.deviation == Decimal("2.5").sqrt()


def test_one_value_has_no_deviation():
    assert spread_of(numbers("7.5")) == Spread(
        1, Decimal("7.5"), Decimal("7.5"), Decimal("7.5"), deviation=None
    )


def test_equal_values_deviate_by_nothing_at_all():
    third = Decimal(1) / Decimal(3)
    assert spread_of([third] * 7).deviation == 0


def test_nothing_has_no_spread():
    with pytest.raises(ValueError, match="at least one value"):
        spread_of([])


def test_a_float_is_refused():
    with pytest.raises(TypeError):
        spread_of([0.1, 0.2])


def test_a_shift_within_its_margin_is_not_clear():
    before, after = spread_of(numbers("6", "8")), spread_of(numbers("7", "9"))
    # Both deviate by the root of 2, so the margin is twice the root of (2/2 + 2/2).
    assert shift_between(before, after) == Shift(Decimal(1), 2 * Decimal(2).sqrt())
    assert shift_between(before, after).clear is False


@pytest.mark.parametrize(
    ("before", "after", "difference", "clear"),
    [
        (("5", "5", "5"), ("6", "6", "6"), 1, True),
        (("6", "6"), ("5", "5"), -1, True),
        (("5", "5"), ("5", "5"), 0, False),
        (("5",), ("9", "9"), 4, None),
        (("5", "5"), ("9",), 4, None),
    ],
)
def test_when_a_shift_is_clear(before, after, difference, clear):
    shift = shift_between(spread_of(numbers(*before)), spread_of(numbers(*after)))
    assert (shift.difference, shift.clear) == (difference, clear)


def test_a_difference_that_just_equals_its_margin_is_not_clear():
    assert Shift(Decimal("-0.5"), Decimal("0.5")).clear is False


def test_the_gap_between_single_judgements_that_tells_something():
    spread = Spread(2, Decimal(7), Decimal(6), Decimal(8), Decimal(2))
    assert detectable_gap(spread) == 2 * Decimal(8).sqrt()
    assert detectable_gap(spread_of(numbers("6"))) is None


@pytest.mark.parametrize(
    ("profile", "gain", "wanted"),
    [
        ("wiggum", None, "0.5"),  # a twentieth of 0 to 10
        ("simmer", None, "0.45"),  # of 1 to 10
        ("ralph", "0.05", "0.05"),
        ("wiggum", "0.2", "0.2"),
        ("wiggum", "0", "0.5"),  # any gain counts: there is no gap to go by
    ],
)
def test_the_gap_that_a_rubric_wants_told(profile, gain, wanted):
    rubric = rubric_for(profile)
    least = None if gain is None else Decimal(gain)
    rubric = replace(rubric, policy=replace(rubric.policy, minimum_gain=least))
    assert required_gap(rubric) == Decimal(wanted)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("7",), Steadiness.TOO_FEW),
        (("7", "7"), Steadiness.TOO_FEW),
        (("7", "7", "7"), Steadiness.SAME),
        (("7", "7", "7.1"), Steadiness.STEADY),
        (("6", "8", "7"), Steadiness.NOISY),
    ],
)
def test_steadiness(values, expected):
    assert steadiness_of(spread_of(numbers(*values)), Decimal("0.5")) is expected


def test_a_gap_just_as_wide_as_wanted_is_steady():
    spread = Spread(3, Decimal(7), Decimal(6), Decimal(8), Decimal("0.5"))
    gap = detectable_gap(spread)
    assert steadiness_of(spread, gap) is Steadiness.STEADY
    assert steadiness_of(spread, gap - Decimal("0.0001")) is Steadiness.NOISY


def test_differences_are_of_what_both_scored():
    people = {"depth": Decimal(6), "tone": Decimal(8)}
    judge = {"depth": Decimal("7.3"), "clarity": Decimal(5)}
    assert differences_from(people, judge) == {"depth": Decimal("1.3")}


def test_the_mean_absolute_difference_forgets_directions():
    assert mean_absolute({"depth": Decimal("1.5"), "tone": Decimal("-0.5")}) == 1
    assert mean_absolute({}) is None


def pairs(*given):
    return [(Decimal(judge), Decimal(person)) for judge, person in given]


def test_agreement_worked_out_by_hand():
    found = agreement_of(pairs(("8", "7"), ("6", "6.5"), ("9", "5")), Decimal(1))
    assert found == Agreement(
        pairs=3, apart=Decimal("5.5") / 3, bias=Decimal("4.5") / 3, near_share=Decimal(2) / 3, order=None
    )
    assert agreement_of([], Decimal(1)) is None


def answer(seat, scores, stances=None):
    """A judge's answer with these scores by key; a stance is (key, stance, score)."""
    said = tuple(CriterionScore(key, Decimal(score)) for key, score in scores.items())
    told = stances and tuple(CriterionStance(key, stance, Decimal(score)) for key, stance, score in stances)
    return BoardVerdict(seat, Verdict(said), "", told)


def test_judges_stand_beside_a_person_with_their_final_scores():
    board = [
        answer(1, {"depth": "5", "tone": "7"}, [("depth", Stance.CONCEDE, "8"), ("tone", Stance.AGREE, "7")]),
        answer(2, {"depth": "9", "tone": "6"}, [("depth", Stance.CHALLENGE, "9")]),
        BoardVerdict(3, None, "Not readable."),
        answer(4, {"depth": "4", "tone": "4"}),
    ]
    assert judge_pairs(board, {"depth": Decimal(8), "other": Decimal(1)}) == {
        1: pairs(("8", "8")),
        2: pairs(("9", "8")),
        4: pairs(("4", "8")),
    }
    assert judge_pairs(board[:1], {}) == {1: []}


def test_a_gap_as_wide_as_allowed_is_near():
    assert agreement_of(pairs(("8", "7")), Decimal(1)).near_share == 1
    assert agreement_of(pairs(("8", "6.999999")), Decimal(1)).near_share == 0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((("1", "1"), ("2", "2"), ("3", "3"), ("4", "4")), None),  # one too few
        ((("1", "2"), ("2", "4"), ("3", "6"), ("4", "8"), ("5", "10")), "1"),
        ((("1", "5"), ("2", "4"), ("3", "3"), ("4", "2"), ("5", "1")), "-1"),
        ((("1", "5"), ("2", "5"), ("3", "5"), ("4", "5"), ("5", "5")), None),  # one side never varies
        ((("5", "1"), ("5", "2"), ("5", "3"), ("5", "4"), ("5", "5")), None),
        ((("1", "2"), ("2", "1"), ("3", "4"), ("4", "3"), ("5", "5")), "0.8"),
    ],
)
def test_the_order_of_rounds(given, expected):
    found = rank_correlation(pairs(*given))
    assert found == (None if expected is None else Decimal(expected))


def test_ties_share_the_middle_of_their_places():
    found = rank_correlation(pairs(("1", "1"), ("2", "2"), ("2", "3"), ("4", "4"), ("5", "5")))
    # Ranks 1, 2.5, 2.5, 4, 5 against 1 to 5: covariance 9.5, spreads 9.5 and 10.
    assert round(found, 6) == round(Decimal("9.5") / (Decimal("9.5") * 10).sqrt(), 6)


@pytest.mark.parametrize(
    ("scale", "near"), [(("0", "10"), "1"), (("0", "5"), "1"), (("0", "1"), "0.1"), (("1", "5"), "0.4")]
)
def test_a_point_is_a_tenth_of_a_small_scale(scale, near):
    rubric = rubric_for("wiggum")
    policy = replace(rubric.policy, pass_threshold=None, perfect_score=None)
    rubric = replace(rubric, policy=policy, scale=Scale(*(Decimal(end) for end in scale)))
    assert near_gap(rubric) == Decimal(near)
