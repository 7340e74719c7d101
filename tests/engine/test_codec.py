import json
from dataclasses import replace

import pytest

from refinement.engine.codec import BadRubric, rubric_from_json, rubric_to_json, rubric_with
from refinement.engine.kinds import JudgeMode, OnPlateau
from refinement.engine.panels import Judges
from refinement.engine.profiles import shipped_rubrics
from refinement.engine.types import Budget, NextBase, StopReason
from tests.engine.given import D, rubric


@pytest.mark.parametrize("slug", list(shipped_rubrics()))
def test_a_rubric_survives_json(slug):
    of = shipped_rubrics()[slug]
    text = json.dumps(rubric_to_json(of))
    assert rubric_from_json(json.loads(text)) == of


def test_the_json_is_always_the_same():
    texts = {json.dumps(rubric_to_json(rubric("simmer"))) for _ in range(5)}
    assert len(texts) == 1
    assert rubric_to_json(rubric("wiggum"))["context"]["judge"] == sorted(
        rubric_to_json(rubric("wiggum"))["context"]["judge"]
    )


def test_numbers_stay_exact():
    of = rubric("wiggum", pass_threshold=D("8.123456789012345678901234"))
    data = json.loads(json.dumps(rubric_to_json(of)))
    assert data["policy"]["pass_threshold"] == "8.123456789012345678901234"
    assert rubric_from_json(data).policy.pass_threshold == of.policy.pass_threshold


def test_fields_can_be_set_by_path():
    of = rubric_with(
        rubric("wiggum"),
        {
            "policy.max_rounds": "5",
            "policy.pass_threshold": "8.5",
            "policy.budget.calls": "7",
            "policy.next_base": "original",
            "policy.stop_rules": "passed, max_rounds",
            "policy.checks_in_composite": "true",
        },
    )
    assert (of.policy.max_rounds, of.policy.pass_threshold) == (5, D("8.5"))
    assert of.policy.budget == Budget(calls=7)
    assert of.policy.next_base is NextBase.ORIGINAL
    assert of.policy.stop_rules == (StopReason.PASSED, StopReason.MAX_ROUNDS)
    assert of.policy.checks_in_composite


def test_a_field_can_be_set_to_nothing():
    assert rubric_with(rubric("wiggum"), {"policy.pass_threshold": "none"}).policy.pass_threshold is None


def test_judges_can_be_set_by_path():
    board = {"judges.mode": "board", "judges.deliberation": "false", "judges.clerk": "rack/small"}
    of = rubric_with(rubric("wiggum"), board | {"policy.on_plateau": "ask"})
    assert of.judges == Judges(JudgeMode.BOARD, (), False, "rack/small")
    assert of.policy.on_plateau is OnPlateau.ASK
    back = {"judges.mode": "auto", "judges.deliberation": "true", "judges.clerk": "", "judges.panel": ""}
    assert rubric_with(of, back).judges == Judges(JudgeMode.AUTO)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("judges.mode", "jury", "judges.mode: Input should be 'single', 'board' or 'auto'"),
        ("judges.deliberation", "maybe", "judges.deliberation"),
        ("judges.clerk", "small", "judges: the model 'small' must be written as ENDPOINT/MODEL"),
        ("judges.panel", "Reader, Editor", "judges.panel.0"),
        ("judges.charm", "1", "unknown setting 'judges.charm'"),
        ("policy.on_plateau", "panic", "policy.on_plateau: Input should be 'stop', 'ask' or 'board'"),
        ("policy.charm", "1", "unknown setting 'policy.charm'"),
        ("charm", "1", "unknown setting 'charm'"),
        ("policy.max_rounds.deeper", "1", "unknown setting"),
        ("nowhere.at.all", "1", "unknown setting"),
        ("policy.max_rounds", "many", "policy.max_rounds"),
        ("policy.max_rounds", "0", "at least one round"),
        ("policy.pass_threshold", "11", "outside the scale"),
        ("policy.stop_rules", "passed,boredom", "policy.stop_rules"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(path, value, words):
    with pytest.raises(BadRubric, match=words):
        rubric_with(rubric("wiggum"), {path: value})


def test_a_damaged_snapshot_is_named():
    data = rubric_to_json(rubric("wiggum"))
    del data["scale"]
    with pytest.raises(BadRubric, match="scale: Field required"):
        rubric_from_json(data)
    with pytest.raises(BadRubric, match="at least one criterion"):
        rubric_from_json({**rubric_to_json(rubric("ralph")), "checks": []})


def test_changing_one_copy_leaves_the_other():
    of = rubric("wiggum")
    rubric_with(of, {"policy.max_rounds": "9"})
    assert of == replace(of)
    assert of.policy.max_rounds == 3
