"""Weights as whole numbers, and checks tried on a text."""

from decimal import Decimal

import pytest

from refinement.forms.rubrics.trying.texts import checks_tried
from refinement.forms.rubrics.values import Refused
from refinement.forms.rubrics.weights import shares_of, shown_weight, stored_weight, unit_of, usual_of
from refinement.judging.isolation import time_limit


def test_weights_are_edited_as_whole_numbers():
    weights = [Decimal(text) for text in ("0.25", "0.20", "0.20", "0.15", "0.10", "0.10")]
    unit = unit_of(weights)

    assert [shown_weight(weight, unit) for weight in weights] == ["5", "4", "4", "3", "2", "2"]
    assert stored_weight("6", unit) == Decimal("0.3")
    assert shares_of(["3", "x", "1"]) == [Decimal(75), None, Decimal(25)]


@pytest.mark.parametrize("weights", [(), ("1", "2"), ("0.3333", "0.3334")])
def test_weights_without_a_handy_unit_are_shown_as_they_are(weights):
    found = [Decimal(text) for text in weights]

    assert [shown_weight(weight, unit_of(found)) for weight in found] == list(weights)


def test_a_weight_that_would_vanish_is_refused():
    with pytest.raises(Refused, match="Too small"):
        stored_weight("0.0001", Decimal("0.05"))


@pytest.mark.parametrize(
    ("weights", "usual"), [((), "1"), (("heavy", "0"), "1"), (("2", "5", "x"), "4"), (("0.0001",), "1")]
)
def test_a_new_criterion_counts_like_the_others(weights, usual):
    assert usual_of(weights) == usual


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
