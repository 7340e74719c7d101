"""Who judges, in words, without settings that have no effect."""

from dataclasses import replace

import pytest

from refinement.engine.kinds import JudgeMode, OnPlateau
from refinement.engine.panels import PANELS, Judges
from refinement.engine.profiles import rubric_for
from refinement.selectors.rubrics.judge_words import board_calls, judge_facts, price_words

WIGGUM, RALPH, SIMMER = (rubric_for(profile) for profile in ("wiggum", "ralph", "simmer"))


def facts(rubric, judges=None, on_plateau=None):
    changed = replace(rubric, judges=judges or rubric.judges)
    if on_plateau:
        changed = replace(changed, policy=replace(changed.policy, on_plateau=on_plateau))
    return dict(judge_facts(changed).facts)


@pytest.mark.parametrize(("judges", "calls", "without"), [(2, 5, 3), (3, 7, 4), (4, 9, 5), (5, 11, 6)])
def test_a_board_takes_two_calls_a_judge_and_one(judges, calls, without):
    assert board_calls(judges, deliberation=True) == calls
    assert board_calls(judges, deliberation=False) == without
    assert price_words("board", judges, deliberation=True) == f"{judges} judges: {calls} calls per round"


def test_a_single_judge_needs_no_more_words():
    assert facts(WIGGUM) == {
        "Judges": "Single judge. One judge scores each round.",
        "Cost": "1 judge: 1 call per round.",
    }
    assert facts(WIGGUM, Judges(clerk="rack/small"))["Clerk"] == "rack/small"


def test_without_criteria_nobody_judges():
    assert facts(RALPH, Judges(JudgeMode.BOARD)) == {"Judges": "None. Without criteria, no judge is called."}


def test_a_board_is_told_with_its_panel():
    board = Judges(JudgeMode.BOARD, PANELS["code"], False, "rack/small")
    found = judge_facts(replace(WIGGUM, judges=board))
    assert dict(found.facts)["Cost"] == "3 judges: 4 calls per round."
    assert dict(found.facts)["Deliberation"] == "Off."
    assert [name for name, _, _ in found.panel] == [judge.name for judge in PANELS["code"]]
    composed = facts(WIGGUM, Judges(JudgeMode.AUTO))
    assert composed["Judges"] == "The clerk composes 3 judges for each run."
    assert composed["Cost"] == "1 call per round, or 7 with a board of 3."


@pytest.mark.parametrize(
    ("mode", "choice", "words"),
    [
        ("single", OnPlateau.BOARD, "The run continues with a board for 2 more rounds."),
        ("auto", OnPlateau.BOARD, "The run continues with a board for 2 more rounds."),
        ("board", OnPlateau.BOARD, "The run stops."),
        ("board", OnPlateau.ASK, "The run pauses and asks its owner"),
        ("single", OnPlateau.STOP, "The run stops."),
    ],
)
def test_the_plateau_is_told_as_it_will_be(mode, choice, words):
    assert facts(SIMMER, Judges(JudgeMode(mode)), choice)["On a plateau"].startswith(words)


def test_a_plateau_without_its_rule_is_not_told():
    assert "On a plateau" not in facts(WIGGUM, on_plateau=OnPlateau.BOARD)
    assert facts(WIGGUM, on_plateau=OnPlateau.BOARD)["Cost"] == "1 judge: 1 call per round."
