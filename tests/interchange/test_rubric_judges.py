"""Who judges, in rubric files: written if it differs from the default, and read with precise errors."""

from dataclasses import replace

import pytest
import yaml

from refinement.engine.kinds import JudgeMode, OnPlateau
from refinement.engine.panels import PANELS, Judges, PanelJudge
from refinement.engine.profiles import rubric_for
from refinement.interchange.rubrics.yaml import (
    BadFile,
    rubric_from_fields,
    rubric_from_yaml,
    rubric_to_fields,
    rubric_to_yaml,
)

WIGGUM = replace(rubric_for("wiggum"), checks=())
GOOD = rubric_to_yaml(WIGGUM)
BOARD = Judges(
    JudgeMode.BOARD,
    (PanelJudge("Reader", "You read it once.", "rack/qwen3:14b"), PanelJudge("no", " - odd: #\n\n lens ")),
    deliberation=False,
    clerk="ollama/library/small: 1b",
)


def there_and_back(rubric):
    written = rubric_to_yaml(rubric)
    again = rubric_from_yaml(written)
    assert again == rubric
    assert rubric_to_yaml(again) == written
    assert rubric_from_fields(rubric_to_fields(rubric)) == rubric
    return yaml.safe_load(written)


@pytest.mark.parametrize(
    "judges",
    [
        Judges(JudgeMode.BOARD),
        Judges(JudgeMode.AUTO, clerk="rack/small"),
        Judges(deliberation=False),
        Judges(JudgeMode.SINGLE, PANELS["code"]),
        BOARD,
        *(Judges(JudgeMode.BOARD, panel) for panel in PANELS.values()),
    ],
)
def test_judges_come_back_the_same(judges):
    written = there_and_back(replace(WIGGUM, judges=judges))
    assert written["judges"]["mode"] == judges.mode.value


def test_only_what_differs_from_the_default_is_written():
    assert "judges" not in there_and_back(WIGGUM)
    assert there_and_back(replace(WIGGUM, judges=Judges(JudgeMode.BOARD)))["judges"] == {"mode": "board"}
    assert there_and_back(replace(WIGGUM, judges=BOARD))["judges"] == {
        "mode": "board",
        "panel": [
            {"name": "Reader", "lens": "You read it once.", "model": "rack/qwen3:14b"},
            {"name": "no", "lens": " - odd: #\n\n lens "},
        ],
        "deliberation": False,
        "clerk": "ollama/library/small: 1b",
    }


@pytest.mark.parametrize("choice", OnPlateau)
def test_the_plateau_comes_back_the_same(choice):
    rubric = replace(WIGGUM, policy=replace(WIGGUM.policy, on_plateau=choice))
    policy = there_and_back(rubric)["policy"]
    assert policy.get("on_plateau") == (None if choice is OnPlateau.STOP else choice.value)


@pytest.mark.parametrize("block", ["judges: null", "judges: {}", "judges: {panel: null, clerk: null}"])
def test_what_is_left_out_has_its_default(block):
    assert rubric_from_yaml(f"{GOOD}{block}\n").judges == Judges()


def told(block: str) -> list[str]:
    with pytest.raises(BadFile) as refused:
        rubric_from_yaml(f"{GOOD}{block}\n")
    first = GOOD.count("\n")
    return [f"{problem.line - first}: {problem.message}" for problem in refused.value.problems]


TWO = "- {name: A, lens: a}\n  - {name: B, lens: b}"


@pytest.mark.parametrize(
    ("block", "problems"),
    [
        ("judges: board", ["1: judges must be keys with values below it: mode, panel, deliberation, clerk."]),
        ("judges: {mode: jury}", ["1: mode in judges must be one of: single, board, auto, not 'jury'."]),
        ("judges: {deliberation: maybe}", ["1: deliberation in judges must be true or false."]),
        ("judges: {moed: board}", ["1: Unknown key 'moed' in judges. Available: mode, panel, deliberation"]),
        ("judges:\n  clerk: small", ["2: clerk in judges must be ENDPOINT/MODEL, such as ollama/qwen3:14b"]),
        ("judges:\n  clerk: rack/", ["2: clerk in judges must be ENDPOINT/MODEL, such as ollama/qwen3:14b"]),
        ("judges:\n  panel: Reader", ["2: panel in judges must be a list."]),
        ("judges:\n  panel: [Reader, Editor]", ["2: panel in judges, entry 1 must be keys", "2: panel in"]),
        (
            "judges:\n  panel:\n  - {name: A, lens: a}",
            ["2: panel in judges has 1 judge; 2 to 5 are allowed, or none."],
        ),
        (
            "judges:\n  panel: [" + ", ".join(f"{{name: J{n}, lens: x}}" for n in range(6)) + "]",
            ["2: panel in judges has 6 judges; 2 to 5 are allowed, or none."],
        ),
        (
            f"judges:\n  panel:\n  {TWO}\n  - {{name: ' a ', lens: c}}",
            ["5: The judge 'a' is already on the board, on line "],
        ),
        (
            "judges:\n  panel: [{name: A, lens: a}, {name: a, lens: b}]",
            ["2: The judge 'a' is already on the board"],
        ),
        (
            f"judges:\n  panel:\n  {TWO}\n  - {{name: {'n' * 61}, lens: c}}",
            ["5: name in panel in judges, entry 3 has 61 characters; 60 are allowed."],
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(block, problems):
    found = told(block)
    assert len(found) == len(problems), found
    for shown, words in zip(found, problems, strict=True):
        assert shown.startswith(words), found


def test_every_problem_is_told_at_once():
    found = told(
        "judges:\n  mode: jury\n  panel:\n  - {name: A, lens: '', model: small}\n  - {lens: b}\n"
        "  - {name: a, lens: c, charm: 1}\n  deliberation: 2\n  clerk: small"
    )
    assert [line.partition(":")[0] for line in found] == ["2", "4", "4", "5", "6", "6", "7", "8"]
    assert "4: lens in panel in judges, entry 1 is required." in found
    assert "5: In panel in judges, entry 2, 1 key is missing: name." in found


def test_an_unknown_answer_to_a_plateau_is_told():
    source = GOOD.replace("  plateau_window: 3\n", "  plateau_window: 3\n  on_plateau: panic\n")
    with pytest.raises(BadFile, match="on_plateau in policy must be one of: stop, ask, board, not 'panic'"):
        rubric_from_yaml(source)
