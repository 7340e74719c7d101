import json
import time
from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion, Rubric, Scale
from refinement.judging.parsing import Rung, read_reply

SIMMER = rubric_for("simmer")
WIGGUM = rubric_for("wiggum")
GOOD = {"clarity": 7, "completeness": 6, "usefulness": 8}


def with_criteria(*criteria: Criterion) -> Rubric:
    return replace(SIMMER, criteria=criteria)


def test_a_decimal_is_read_from_its_digits_and_never_through_a_float() -> None:
    scores = (
        '"depth": 8.7, "relevance": 0.1, "completeness": 0.3, "grounded": 1, "specificity": 2, "structure": 3'
    )
    reading = read_reply(f"{{{scores}}}", WIGGUM)
    assert reading.verdict is not None
    assert reading.verdict.scores[1].score + Decimal("0.2") == reading.verdict.scores[2].score
    assert str(reading.verdict.scores[0].score) == "8.7"


@pytest.mark.parametrize("written", ["7", "7.0", "7.000"])
def test_equal_scores_are_written_alike(written: str) -> None:
    reply = f'{{"clarity": {written}, "completeness": 6, "usefulness": 8}}'
    reading = read_reply(reply, SIMMER)
    assert reading.verdict is not None
    assert str(reading.verdict.scores[0].score) == "7"


def test_digits_beyond_exact_arithmetic_are_a_complaint() -> None:
    """Rounding to 28 digits would put this number on the step of a whole-number scale."""
    sly = "7." + "0" * 40 + "1"
    reading = read_reply(f'{{"clarity": {sly}, "completeness": 6, "usefulness": 8}}', SIMMER)
    assert reading.verdict is None
    assert "is not a score" in reading.complaint


def test_a_score_keeps_its_reasoning_and_improvement() -> None:
    entry = {"reasoning": "Plain words.", "score": 7, "improvement": "Define terms."}
    reading = read_reply(json.dumps({"criteria": dict.fromkeys(GOOD, entry)}), SIMMER)
    assert reading.verdict is not None
    assert reading.verdict.scores[0].reasoning == "Plain words."
    assert reading.verdict.scores[0].improvement == "Define terms."


def test_a_line_keeps_its_reasoning_and_improvement() -> None:
    lines = "\n".join(f"{key}: 7/10 — Plain words. Improvement: Define terms." for key in GOOD)
    reading = read_reply(lines, SIMMER)
    assert reading.verdict is not None
    assert reading.rung is Rung.LINES
    assert reading.verdict.scores[0].reasoning == "Plain words."
    assert reading.verdict.scores[0].improvement == "Define terms."


def test_plain_lines_under_a_heading_are_its_reasoning() -> None:
    text = "".join(f"## {key}\nScore: 6/10\nFirst line.\nSecond line.\n\n" for key in GOOD)
    reading = read_reply(text, SIMMER)
    assert reading.verdict is not None
    assert reading.verdict.scores[2].reasoning == "First line. Second line."


def test_reasoning_before_the_score_under_a_heading() -> None:
    text = "".join(f"{key}: It is fair.\nScore: 6/10\nImprovement: Say why.\n" for key in GOOD)
    reading = read_reply(text, SIMMER)
    assert reading.verdict is not None
    assert (reading.verdict.scores[0].reasoning, reading.verdict.scores[0].improvement) == (
        "It is fair.",
        "Say why.",
    )


def test_texts_are_bounded_and_fit_to_be_stored() -> None:
    hostile = "a\0b\ud800" + "x" * 5_000
    entry = {"reasoning": hostile, "score": 7, "improvement": [hostile, 3]}
    reply = {
        "criteria": dict.fromkeys(GOOD, entry),
        "issues": [hostile[:1_000]] * 60,
        "asi": {"text": hostile},
    }
    reading = read_reply(json.dumps(reply), SIMMER)
    assert reading.verdict is not None
    texts = [reading.verdict.asi, *reading.verdict.issues, reading.verdict.scores[0].reasoning]
    assert len(reading.verdict.issues) == 30
    assert all(text.startswith("ab?x") and len(text) <= 4_000 for text in texts)


@pytest.mark.parametrize("asi", [7, None, True, {"confidence": 3}, []])
def test_a_direction_that_is_no_text_is_empty(asi: object) -> None:
    reading = read_reply(json.dumps({**GOOD, "asi": asi, "issues": [asi]}), SIMMER)
    assert reading.verdict is not None
    assert reading.verdict.asi == ""
    assert reading.verdict.issues == ()


def test_issues_and_direction_inside_the_criteria_are_found() -> None:
    reading = read_reply(json.dumps({"criteria": {**GOOD, "issues": ["Long."], "asi": "Cut it."}}), SIMMER)
    assert reading.verdict is not None
    assert (reading.verdict.issues, reading.verdict.asi) == (("Long.",), "Cut it.")
    assert reading.dropped == ()


def test_a_key_goes_before_another_criterion_name() -> None:
    rubric = with_criteria(Criterion("tone", "Voice"), Criterion("voice", "Tone"))
    reading = read_reply('{"tone": 3, "voice": 9}', rubric)
    assert reading.verdict is not None
    assert [score.score for score in reading.verdict.scores] == [Decimal(3), Decimal(9)]


def test_a_criterion_may_be_called_like_a_part_of_the_reply() -> None:
    rubric = with_criteria(Criterion("scores", "Scores"), Criterion("score", "Score"))
    reply = {"criteria": {"scores": {"reasoning": "", "score": 4}, "score": {"reasoning": "", "score": 5}}}
    reading = read_reply(json.dumps(reply), rubric)
    assert reading.verdict is not None
    assert [score.score for score in reading.verdict.scores] == [Decimal(4), Decimal(5)]


def test_a_key_without_letters_matches_nothing_by_accident() -> None:
    reading = read_reply('{"!!!": 4}', with_criteria(Criterion("***", "***")))
    assert reading.verdict is None
    assert "***" in reading.complaint


def test_a_step_of_a_quarter_is_kept() -> None:
    rubric = replace(
        with_criteria(Criterion("fit", "Fit")), scale=Scale(Decimal(0), Decimal(1), Decimal("0.25"))
    )
    good, bad = read_reply('{"fit": 0.75}', rubric), read_reply('{"fit": 0.8}', rubric)
    assert good.verdict is not None
    assert bad.complaint == "fit: 0.8 is not on the scale: numbers from 0 to 1 in steps of 0.25."


def test_a_complaint_about_many_criteria_is_bounded() -> None:
    rubric = with_criteria(*(Criterion(f"c{number}", f"C {number}") for number in range(40)))
    reading = read_reply('{"c0": 77, "c1": 5}', rubric)
    assert "c0: 77 is not on the scale" in reading.complaint
    assert "And 27 more like these." in reading.complaint
    assert "and 28 more" in read_reply("", rubric).complaint


def test_a_complaint_quotes_only_a_little_on_one_line() -> None:
    reading = read_reply(json.dumps({**GOOD, "clarity": "never\n" * 5_000}), SIMMER)
    assert len(reading.complaint) < 200
    assert "\n" not in reading.complaint


def test_many_strangers_are_named_up_to_a_bound() -> None:
    reading = read_reply(json.dumps({**{f"extra {n}": 3 for n in range(90)}, **GOOD}), SIMMER)
    assert reading.verdict is not None
    assert len(reading.dropped) == 20


def test_the_most_promising_reading_is_the_one_complained_of() -> None:
    reading = read_reply('{"clarity": 7, "completeness": 6} and then {"clarity": 7}', SIMMER)
    assert reading.complaint == "The score of usefulness is missing."


def test_objects_that_speak_of_the_same_criterion_are_never_mixed() -> None:
    reading = read_reply('{"clarity": 7, "completeness": 6}\n{"clarity": 3, "usefulness": 8}', SIMMER)
    assert reading.verdict is None


def test_a_list_of_other_things_scores_nothing() -> None:
    reading = read_reply('["clarity", 7, {"name": "overall", "score": 9}, {"name": "clarity"}]', SIMMER)
    assert reading.verdict is None


def test_a_word_does_not_replace_a_number() -> None:
    reply = {"scores": GOOD, "clarity": "see above"}
    reading = read_reply(json.dumps(reply), SIMMER)
    assert reading.verdict is not None
    assert reading.verdict.scores[0].score == 7


def test_a_score_that_is_a_list_or_an_object_is_a_complaint() -> None:
    reading = read_reply(json.dumps({**GOOD, "clarity": {"score": [7]}, "usefulness": {"score": {}}}), SIMMER)
    assert "clarity: list is not a score" in reading.complaint
    assert "usefulness: dict is not a score" in reading.complaint


def test_the_end_of_a_very_long_reply_is_examined() -> None:
    reading = read_reply("Let me think about it. " * 200_000 + json.dumps(GOOD), SIMMER)
    assert reading.verdict is not None
    assert reading.rung is Rung.EMBEDDED


HOSTILE = {
    "open brackets": "[" * 100_000,
    "open braces": "{" * 100_000,
    "nested objects": '{"a":' * 100_000,
    "nested and closed": "[" * 100_000 + "]" * 100_000,
    "closing brackets": "]}" * 100_000,
    "quotes": '"' * 300_000,
    "objects whose strings never end": '{"a": "' * 40_000,
    "many small objects": '{"a": 1} ' * 50_000,
    "many broken objects": "{'a': 1,} " * 50_000,
    "megabytes of prose": "word " * 1_000_000,
    "megabytes of a line": "clarity: " * 600_000,
    "one number": "9" * 1_000_000,
    "a number in place": '{"clarity": ' + "9" * 50_000 + "}",
    "powers": '{"clarity": 9**9**9**9, "completeness": ' + "9**" * 9_000 + "9}",
    "think tags": "<think>" * 50_000,
    "closing think tags": "</think>" * 50_000,
    "think pairs": "<think></think>" * 50_000,
    "think tags after an object": "{" + "<think></think>" * 30_000 + "<think>",
    "bars": "|" * 200_000,
    "dashes": "clarity: 7/10 " + "- " * 100_000,
    "spaces": "clarity" + " " * 200_000 + "7",
    "backslashes": '{"clarity": "' + "\\" * 100_001,
    "comments": '{"clarity": 7 ' + "/* " * 40_000,
    "hashes": "#" * 100_000 + " clarity",
    "bullets": "- " * 100_000,
    "fences": "```\n" * 50_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_a_complaint_in_bounded_time(name: str) -> None:
    started = time.process_time()
    reading = read_reply(HOSTILE[name], SIMMER)
    assert reading.verdict is None
    assert reading.complaint
    assert time.process_time() - started < 5
