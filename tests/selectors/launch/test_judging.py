"""Who judges a planned run, and why."""

from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import EvaluationMode, Evaluator, JudgeMode, Judges, OnPlateau, PanelJudge
from refinement.providers.registry import Target
from refinement.selectors.launch.judging import judging_of

JUDGE = Target("ollama", "gemma3:27b")
PANEL = (PanelJudge("Reader", "You read once."), PanelJudge("Expert", "You know it.", "lab/big"))
SHORT, LONG = 2_000, 2_001


def rubric(mode=JudgeMode.AUTO, criteria=2, panel=(), **more):
    base = rubric_for("simmer")
    return replace(base, criteria=base.criteria[:criteria], judges=Judges(mode, panel), **more)


COMMAND = {"evaluator": Evaluator(("/bin/true",)), "evaluation_mode": EvaluationMode.HYBRID}


@pytest.mark.parametrize(
    ("given", "chars", "sentence"),
    [
        (rubric(JudgeMode.SINGLE), LONG, "One judge"),
        (rubric(JudgeMode.BOARD), SHORT, "A board of 3"),
        (rubric(JudgeMode.BOARD, panel=PANEL), SHORT, "A board of 2"),
        (rubric(), SHORT, "Automatic: one judge, because the text is short"),
        (rubric(), LONG, "Automatic: a board of 3, because the text is long"),
        (rubric(panel=PANEL), LONG, "Automatic: a board of 2, because the text is long"),
        (rubric(), 0, "Automatic: a board of 3, because the writer starts with nothing"),
        (rubric(criteria=3), SHORT, "Automatic: a board of 3, because the rubric has 3 criteria"),
        (rubric(**COMMAND), SHORT, "Automatic: a board of 3, because an evaluator runs"),
        (replace(rubric_for("ralph"), criteria=()), SHORT, "Checks only: no judge is called"),
    ],
)
def test_the_choice_and_its_reason_are_said(given, chars, sentence):
    assert judging_of(given, seed_chars=chars, judge=JUDGE).sentence == sentence


def test_judges_without_a_model_use_the_runs():
    found = judging_of(rubric(JudgeMode.BOARD, panel=PANEL), seed_chars=10, judge=JUDGE)
    assert [(judge.name, judge.target) for judge in found.judges] == [
        ("Reader", JUDGE),
        ("Expert", Target("lab", "big")),
    ]
    assert (found.size, found.composes, found.has_clerk) == (2, False, True)


def test_a_board_without_a_panel_is_composed():
    found = judging_of(rubric(JudgeMode.BOARD), seed_chars=10, judge=JUDGE)
    assert (found.judges, found.size, found.composes) == ((), 3, True)


@pytest.mark.parametrize(
    ("named", "chosen", "clerk"),
    [
        ("", None, JUDGE),
        ("lab/small", None, Target("lab", "small")),
        ("lab/small", Target("ollama", "tiny"), Target("ollama", "tiny")),
    ],
)
def test_the_clerk_is_the_launchs_the_rubrics_or_the_judge(named, chosen, clerk):
    given = replace(rubric(), judges=Judges(JudgeMode.BOARD, clerk=named))
    assert judging_of(given, seed_chars=10, judge=JUDGE, clerk=chosen).clerk == clerk


@pytest.mark.parametrize(
    ("mode", "on_plateau", "words"),
    [
        (JudgeMode.SINGLE, OnPlateau.STOP, ""),
        (JudgeMode.SINGLE, OnPlateau.BOARD, "On a plateau a board of 3 takes over for 2 more rounds."),
        (JudgeMode.BOARD, OnPlateau.BOARD, ""),
        (
            JudgeMode.BOARD,
            OnPlateau.ASK,
            "On a plateau the run asks you: stop, or 2 more rounds judged by a board of 3.",
        ),
    ],
)
def test_what_a_plateau_does_is_said(mode, on_plateau, words):
    given = rubric(mode)
    given = replace(given, policy=replace(given.policy, on_plateau=on_plateau))
    assert judging_of(given, seed_chars=10, judge=JUDGE).more == words
    few = replace(given, policy=replace(given.policy, max_rounds=3))  # a plateau needs four
    assert judging_of(few, seed_chars=10, judge=JUDGE).more == ""
