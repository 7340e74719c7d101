"""Weights that add up to 1, and checks tried on a text."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refinement.forms.rubrics.trying import checks_tried
from refinement.forms.rubrics.weights import shares, total_of, usual_of, with_shares
from refinement.judging.isolation import time_limit

WEIGHTS = st.lists(
    st.decimals(min_value=Decimal("0.0001"), max_value=Decimal(99_999), places=4), min_size=1, max_size=100
)


@given(WEIGHTS)
def test_shares_add_up_and_none_is_nothing(weights):
    found = [Decimal(share) for share in shares(weights)]

    assert sum(found) == 1
    assert min(found) > 0


def test_shares_of_the_even_and_of_none():
    assert shares([Decimal(1)] * 3) == ["0.3334", "0.3333", "0.3333"]
    assert shares([Decimal(2), Decimal(8)]) == ["0.2", "0.8"]
    assert shares([]) == []


@pytest.mark.parametrize(
    ("weights", "usual"),
    [
        ((), "1"),
        (("heavy", "0"), "1"),
        (("1", "2"), "1.5"),
        (("0.25", "0.2", "x"), "0.22"),
        (("0.0001",), "0.01"),
    ],
)
def test_a_new_criterion_counts_like_the_others(weights, usual):
    assert usual_of(weights) == usual


def test_what_is_no_weight_is_left_alone_and_not_counted():
    fields = {"criterion-0-weight": "2", "criterion-1-weight": "heavy", "criterion-2-weight": "6"}

    assert total_of(fields.values()) == "8"
    assert with_shares(fields) == fields | {"criterion-0-weight": "0.25", "criterion-2-weight": "0.75"}


def check(kind, **parameters):
    return {"check-3-key": "mine", "check-3-kind": kind} | {
        f"check-3-p-{name}": value for name, value in parameters.items()
    }


@pytest.mark.parametrize(
    ("fields", "text", "passed", "said", "where"),
    [
        (check("contains", text="sun"), "the sun", True, "", ""),
        (check("contains", text="sun"), "the moon", False, "is missing", ""),
        (check("not-contains", text="TODO"), "a\n b TODO", False, "must not occur", "line 2, column 4"),
        (check("regex", pattern="("), "x", False, "not valid", ""),
        (check("regex", pattern="(a+)+$"), "x", False, "takes longer", ""),
        (check("length", minimum="3"), "x", False, "at least 3", ""),
        (check("command"), "x", False, "not available", ""),
    ],
)
def test_a_check_is_tried(fields, text, passed, said, where):
    (result,) = checks_tried(fields | {"try-text": text}, "3")

    assert (result.passed, result.where, result.label) == (passed, where, "mine")
    assert said in result.message


def test_a_pattern_that_runs_away_on_the_text_says_so():
    slow = check("regex", pattern="^(([a-z])+.)+[A-Z]([a-z])+$")

    (result,) = checks_tried(slow | {"try-text": "a" * 5_000}, "all")

    assert not result.passed
    assert "longer than" in result.message


def test_a_text_that_is_too_long_is_refused():
    (result,) = checks_tried(check("is-json") | {"try-text": "x" * 200_001}, "all")

    assert "at most 200,000" in result.message


def test_all_checks_together_have_a_time_limit():
    with time_limit(0):
        (result,) = checks_tried(check("is-json") | {"try-text": "x"}, "all")

    assert "used up the time" in result.message
