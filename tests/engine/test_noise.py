"""Noise of the judge: changes that show no difference, unchanged texts, and the rules about them."""

from dataclasses import replace

import pytest

from refinement.engine.codec import rubric_from_json, rubric_to_json, rubric_with
from refinement.engine.noise import (
    NEARLY_SAME,
    improvement_is_noise,
    same_text,
    same_text_move,
    usual_gain,
    within_noise,
)
from refinement.engine.sentences import why_stopped
from refinement.engine.stopping import plateaued, repeats_itself, stop_reason, stopped_improving
from refinement.engine.types import CheckResult, History, MinimumGain, Penalty, Round, Severity, StopReason
from tests.engine.given import D, history, rounds, rubric, scored

NOISE = MinimumGain.NOISE
WORDS = "word " * 99
SAME, NEAR, OTHER = WORDS + "end", WORDS + "END", WORDS + "one two"


def written(*pairs, **rest):
    """A history of (text, composite)."""
    found = (Round(number, text, scored(value)) for number, (text, value) in enumerate(pairs, start=1))
    return History(tuple(found), **rest)


def measured(difference, *composites):
    return replace(
        history(*composites), smallest_difference=difference if difference is None else D(difference)
    )


@pytest.mark.parametrize(
    ("moved", "smallest", "same", "expected"),
    [
        (None, "0.5", None, None),
        ("0.4", None, None, None),
        ("0.5", "0.5", None, True),
        ("-0.5", "0.5", None, True),
        ("0.51", "0.5", None, False),
        ("-0.51", "0.5", None, False),
        ("0", "0", None, True),
        ("3.47", None, "3.47", True),
        ("3.48", None, "3.47", None),
        ("1", "0.5", "2", True),
        ("1", "2", "-0.5", True),
        ("3", "0.5", "2", False),
    ],
)
def test_a_change_is_noise_up_to_what_is_known(moved, smallest, same, expected):
    numbers = (value if value is None else D(value) for value in (moved, smallest, same))
    assert within_noise(*numbers) is expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (SAME, SAME, True),
        (SAME, f"  {SAME}\n", True),
        (SAME, NEAR, True),
        (SAME, OTHER, False),
        ("a b c", "a b d", False),
        ("", "", False),
        ("", SAME, False),
    ],
)
def test_texts_are_the_same_up_to_a_word_in_a_hundred(before, after, expected):
    assert D("0.01") == NEARLY_SAME
    assert same_text(before, after) is same_text(after, before) is expected


# --- scores that move on the same text -----------------------------------------------------------


def test_a_score_that_moves_on_the_same_text_is_found():
    move = same_text_move(rubric("wiggum"), written((SAME, "6.25"), (SAME, "9.72")))
    assert (move.from_round, move.moved, move.candidate_change) == (1, D("3.47"), 0)


def test_a_nearly_identical_text_counts_as_well():
    move = same_text_move(rubric("wiggum"), written((SAME, "8"), (NEAR, "6.5")))
    assert (move.moved, move.candidate_change) == (D("-1.5"), D("0.01"))


@pytest.mark.parametrize(
    "pairs",
    [
        [(SAME, "6")],
        [(SAME, "6"), (OTHER, "9")],
        [(SAME, "6"), (SAME, "6")],
        [(SAME, "6"), (SAME, "6.004")],  # the same when it is rounded
    ],
)
def test_otherwise_nothing_is_found(pairs):
    assert same_text_move(rubric("wiggum"), written(*pairs)) is None


def test_the_largest_move_from_the_first_the_best_and_the_previous_round_counts():
    of = rubric("wiggum")
    move = same_text_move(of, written((SAME, "6"), (SAME, "7.5"), (SAME, "9")))
    assert (move.from_round, move.moved) == (1, D(3))
    move = same_text_move(of, written((OTHER, "5"), (SAME, "9"), (OTHER, "6"), (SAME, "8")))
    assert (move.from_round, move.moved) == (2, D(-1))
    # A round that is neither of them is not compared: its text need not be loaded.
    assert same_text_move(of, written((OTHER, "5"), (SAME, "6"), (OTHER, "7"), (SAME, "8"))) is None


def test_an_unjudged_round_has_not_moved():
    started = History((*rounds("5"), Round(2, "candidate 1")))
    assert same_text_move(rubric("wiggum"), started) is None


def test_a_board_is_not_compared_with_the_judge_before_it():
    of = rubric("wiggum")
    assert same_text_move(of, written((SAME, "6"), (SAME, "9"), escalated_after=1)) is None
    assert (
        same_text_move(of, written((OTHER, "5"), (SAME, "6"), (SAME, "9"), escalated_after=1)).from_round == 2
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"checks": (CheckResult("heading", False),)},
        {"penalties": (Penalty("usefulness", D(1), ("a.b",)),)},
        {"contract_violation": "no heading"},
    ],
)
def test_what_code_found_in_a_nearly_identical_text_is_not_noise(facts):
    of, given = rubric("wiggum"), written((SAME, "6"), (NEAR, "9"))
    first = replace(given.rounds[0], assessment=replace(given.rounds[0].assessment, **facts))
    assert same_text_move(of, replace(given, rounds=(first, given.rounds[1]))) is None
    identical = replace(given.rounds[1], candidate=SAME)
    assert same_text_move(of, replace(given, rounds=(first, identical))).moved == D(3)


# --- the rule `unchanged` --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([SAME], False),
        ([SAME, SAME], True),
        ([SAME, NEAR], True),
        ([SAME, OTHER], False),
        ([SAME, SAME, OTHER], False),
        ([SAME, OTHER, SAME], False),  # the round before it, not any
        ([OTHER, SAME, SAME], True),
    ],
)
def test_a_producer_that_repeats_itself(texts, expected):
    assert repeats_itself(rubric("wiggum"), written(*((text, "5") for text in texts))) is expected


def test_a_person_may_repeat_a_text():
    given = written((SAME, "5"), (SAME, "6"))
    by_hand = replace(given.rounds[1], by_hand=True)
    assert not repeats_itself(rubric("wiggum"), replace(given, rounds=(given.rounds[0], by_hand)))


def test_unchanged_ends_a_run_in_its_place_among_the_rules():
    of = rubric("wiggum", max_rounds=5, stop_rules=(StopReason.PASSED, StopReason.UNCHANGED))
    given = written((SAME, "5"), (SAME, "6"))
    assert stop_reason(of, given) is StopReason.UNCHANGED
    assert stop_reason(of, written((SAME, "5"), (SAME, "9.5"))) is StopReason.PASSED
    assert stop_reason(rubric("wiggum", max_rounds=5), given) is None
    # The round after which rounds were added does not end the run again.
    assert stop_reason(of, replace(given, extended_after=2)) is None


@pytest.mark.parametrize(("second", "words"), [(SAME, "the same text as"), (NEAR, "nearly the same text as")])
def test_the_sentence_of_unchanged(second, words):
    why = why_stopped(rubric("wiggum"), written((SAME, "5"), (second, "6")), StopReason.UNCHANGED)
    assert why == f"Stopped after round 2: the writer returned {words} in round 1."


# --- gains by noise --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("difference", "after", "expected"),
    [
        ("0.5", "6.5", True),
        ("0.5", "6.500001", False),
        ("0.5", "5", True),
        ("0", "6", True),
        ("0", "6.000001", False),
        (None, "6.49", True),  # 5 % of the scale
        (None, "6.5", False),
    ],
)
def test_no_improvement_by_noise(difference, after, expected):
    of = rubric("wiggum", minimum_gain=NOISE)
    assert stopped_improving(of, measured(difference, "6", after)) is expected
    assert not stopped_improving(of, measured(difference, after))


def test_a_number_does_not_go_by_noise():
    of = rubric("wiggum", minimum_gain=D("0.1"))
    assert not stopped_improving(of, measured("2", "6", "6.5"))
    flat = rubric("simmer", max_rounds=9, minimum_gain=D("0.1"))
    assert not plateaued(flat, measured("2", "6", "6", "6", "6.5"))


def test_a_board_that_took_over_has_its_own_noise():
    of = rubric("wiggum", minimum_gain=NOISE, max_rounds=9)
    given = replace(measured("3", "6", "6", "7"), escalated_after=1)
    assert given.noise is None
    assert not stopped_improving(of, given)


@pytest.mark.parametrize(
    ("difference", "composites", "expected"),
    [
        ("0.5", ["6", "6", "6", "6.5"], True),
        ("0.5", ["6", "6", "6", "6.51"], False),
        ("0.5", ["6", "6.4", "6.8", "7.2"], False),  # small steps that add up
        ("0.5", ["6", "5", "5", "5"], True),
        ("0.5", ["6", "9", "9"], False),
        (None, ["6", "6", "6", "6.1"], False),
        (None, ["6", "6", "6", "6"], True),
    ],
)
def test_plateau_by_noise(difference, composites, expected):
    of = rubric("simmer", max_rounds=9, minimum_gain=NOISE)
    assert plateaued(of, measured(difference, *composites)) is expected


def test_a_check_that_passes_now_is_no_noise():
    of = rubric("wiggum", max_rounds=9, minimum_gain=NOISE)
    given = measured("2", "9", "8", "8", "9.1")
    failed = CheckResult("heading", False, severity=Severity.ERROR)
    blocked = tuple(
        replace(entry, assessment=replace(entry.assessment, checks=(failed,))) for entry in given.rounds[:3]
    )
    assert plateaued(of, given)
    assert not plateaued(of, replace(given, rounds=(*blocked, given.rounds[3])))


@pytest.mark.parametrize(
    ("difference", "cause"),
    [
        ("0.5", "the gain of 0.40 is within the judge's noise of 0.50."),
        (None, "the gain of 0.40 is below 0.5 (the judge's noise was not known)."),
    ],
)
def test_the_sentence_says_which_gain_was_asked_for(difference, cause):
    of = rubric("wiggum", minimum_gain=NOISE)
    why = why_stopped(of, measured(difference, "6", "6.4"), StopReason.NO_IMPROVEMENT)
    assert why == f"Stopped after round 2: {cause}"


@pytest.mark.parametrize(
    ("difference", "cause"),
    [
        ("0.5", "round 1 by more than the judge's noise of 0.5. Round 4 is the result."),
        (None, "round 1 (the judge's noise was not known). Round 4 is the result."),
    ],
)
def test_the_sentence_of_a_plateau_says_what_better_means(difference, cause):
    of = rubric("simmer", minimum_gain=NOISE)
    given = measured(difference, "6", "6", "6", "6.2", "6")
    assert why_stopped(of, given, StopReason.PLATEAU).endswith(f"is better than {cause}")


# --- stored rubrics --------------------------------------------------------------------------------


def test_noise_survives_the_codec():
    of = rubric("wiggum", minimum_gain=NOISE)
    data = rubric_to_json(of)
    assert data["policy"]["minimum_gain"] == "noise"
    assert rubric_from_json(data) == of
    assert rubric_from_json(data).policy.goes_by_noise
    assert rubric_with(rubric("wiggum"), {"policy.minimum_gain": "noise"}) == of
    assert rubric_with(of, {"policy.minimum_gain": "0.05"}).policy.least_gain == D("0.05")
    assert rubric_with(of, {"policy.minimum_gain": "none"}).policy.minimum_gain is None


def test_the_usual_gain_is_a_share_of_the_scale():
    assert usual_gain(rubric("ralph")) == D("0.05")
    assert usual_gain(rubric("wiggum")) == D("0.5")


@pytest.mark.parametrize(
    ("count", "same", "escalated", "expected"),
    [
        (1, None, 0, None),  # one score is no improvement
        (3, None, 0, True),
        (3, None, 2, None),  # another judge took over, and nothing is known about its noise
        (3, D("0.5"), 2, True),
    ],
)
def test_an_improvement_is_noise_by_the_judge_that_scored(count, same, escalated, expected):
    assert improvement_is_noise(count, D("0.3"), D("0.6"), same, escalated) is expected
