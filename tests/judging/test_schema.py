import json
from dataclasses import replace
from decimal import Decimal

import jsonschema
import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Rubric, Scale, Severity
from refinement.judging.parsing import read_reply
from refinement.judging.schema import (
    asks_about_contract,
    example_reply,
    reply_limit_tokens,
    reply_schema,
    scale_in_words,
)


def reply(rubric: Rubric, score: object) -> dict[str, object]:
    entry = {"reasoning": "It names its sources.", "score": score, "improvement": "Date them."}
    return {
        "criteria": {c.key: dict(entry) for c in rubric.criteria},
        "issues": ["No dates."],
        "asi": "Date it.",
    }


@pytest.mark.parametrize("profile", ["wiggum", "simmer"])
def test_a_whole_reply_fits_the_schema_and_reads_back(profile: str) -> None:
    rubric = rubric_for(profile)
    jsonschema.Draft202012Validator.check_schema(reply_schema(rubric))
    jsonschema.validate(reply(rubric, 7), reply_schema(rubric))
    reading = read_reply(json.dumps(reply(rubric, 7)), rubric)
    assert reading.verdict is not None
    assert [score.score for score in reading.verdict.scores] == [Decimal(7)] * len(rubric.criteria)


@pytest.mark.parametrize(
    ("profile", "score"), [("simmer", 7.5), ("simmer", 0), ("simmer", 11), ("wiggum", 10.5), ("wiggum", "7")]
)
def test_a_score_off_the_scale_does_not_fit(profile: str, score: object) -> None:
    rubric = rubric_for(profile)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(reply(rubric, score), reply_schema(rubric))


@pytest.mark.parametrize("lost", ["criteria", "issues", "asi"])
def test_everything_is_required(lost: str) -> None:
    rubric = rubric_for("simmer")
    partial = reply(rubric, 7)
    del partial[lost]
    with pytest.raises(jsonschema.ValidationError, match=lost):
        jsonschema.validate(partial, reply_schema(rubric))


def test_nothing_may_be_added() -> None:
    rubric = rubric_for("simmer")
    with pytest.raises(jsonschema.ValidationError, match="composite"):
        jsonschema.validate({**reply(rubric, 7), "composite": 7}, reply_schema(rubric))


def test_criteria_stand_in_rubric_order_and_reasoning_before_the_score() -> None:
    rubric = rubric_for("wiggum")
    text = json.dumps(reply_schema(rubric)["properties"])
    order = list(json.loads(text)["criteria"]["properties"])
    assert order == [criterion.key for criterion in rubric.criteria]
    for entry in json.loads(text)["criteria"]["properties"].values():
        assert list(entry["properties"]) == ["reasoning", "score", "improvement"]


def test_only_plain_features_are_used_and_every_text_is_bounded() -> None:
    text = json.dumps(reply_schema(rubric_for("wiggum")))
    assert "$ref" not in text
    assert "Of" not in text
    assert text.count('"type": "string"') == text.count("maxLength")


def test_the_reply_limit_grows_with_the_criteria() -> None:
    assert reply_limit_tokens(rubric_for("wiggum")) > reply_limit_tokens(rubric_for("simmer")) > 600


@pytest.mark.parametrize("profile", ["wiggum", "simmer"])
def test_an_echo_of_the_example_is_never_a_verdict(profile: str) -> None:
    rubric = rubric_for(profile)
    example = example_reply(rubric)
    assert all(criterion.key in example for criterion in rubric.criteria)
    assert read_reply(example, rubric).verdict is None


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        (Scale(Decimal(0), Decimal(10)), "numbers from 0 to 10"),
        (Scale(Decimal(1), Decimal(10), Decimal(1)), "whole numbers from 1 to 10"),
        (Scale(Decimal(0), Decimal(100), Decimal(5)), "whole numbers from 0 to 100 in steps of 5"),
        (Scale(Decimal(0), Decimal(1), Decimal("0.25")), "numbers from 0 to 1 in steps of 0.25"),
        (Scale(Decimal("0.5"), Decimal("2.5")), "numbers from 0.5 to 2.5"),
    ],
)
def test_a_scale_is_said_in_words(scale: Scale, words: str) -> None:
    assert scale_in_words(scale) == words


def test_a_fractional_end_of_the_scale_stays_a_number() -> None:
    rubric = replace(rubric_for("simmer"), scale=Scale(Decimal("0.5"), Decimal("9.5")))
    jsonschema.validate(reply(rubric, 0.5), reply_schema(rubric))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(reply(rubric, 9.6), reply_schema(rubric))


def test_a_contract_that_a_check_enforces_is_not_left_to_the_judge():
    of = rubric_for("wiggum")
    assert of.output_contract
    assert not asks_about_contract(of)
    hint = replace(of.checks[0], severity=Severity.WARNING)
    assert asks_about_contract(replace(of, checks=(hint,)))
    assert asks_about_contract(replace(of, checks=()))
