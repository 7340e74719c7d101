"""Replies of a board's judges and the clerk: parsed, or answered with a complaint."""

import json
from decimal import Decimal

import pytest

from refinement.engine.panels import LENS_CHARS, NAME_CHARS
from refinement.engine.profiles import rubric_for
from refinement.engine.types import CriterionScore, PanelSummary, Stance, Verdict
from refinement.judging.boards.replies import (
    DESCRIBE_EXAMPLE,
    ITEM_CHARS,
    ITEMS,
    MERGE_EXAMPLE,
    compose_example,
    compose_schema,
    describe_schema,
    merge_schema,
    read_change,
    read_merge,
    read_panel,
    read_stances,
    stances_example,
    stances_schema,
    verdict_text,
)
from refinement.judging.history import KEY_CHANGE_CHARS
from refinement.judging.parsing import read_reply
from refinement.judging.parsing.ladder import Rung
from refinement.judging.schema import ASI_CHARS, REASONING_CHARS

RUBRIC = rubric_for("simmer")
KEYS = tuple(criterion.key for criterion in RUBRIC.criteria)
OWN = Verdict(tuple(CriterionScore(key, Decimal(5), f'On "{key}".') for key in KEYS), ("issue",), "asi")


def stances(**changes: object) -> dict[str, object]:
    agreed = {"reasoning": "As before.", "stance": "agree", "score": 5}
    return {"criteria": dict.fromkeys(KEYS, agreed) | changes}


def panel(*names: str) -> dict[str, object]:
    return {"judges": [{"name": name, "lens": f"You look as {name}."} for name in names]}


MERGE = {"working": ["The table."], "not_working": ["Jokes."], "direction": "Shorter.", "asi": "Cut it."}
# Each reader, a reply that it can read, and one that it complains about.
READERS = {
    "stances": (lambda text: read_stances(text, RUBRIC, OWN), stances(), {"criteria": {}}),
    "merge": (read_merge, MERGE, {**MERGE, "asi": " "}),
    "panel": (lambda text: read_panel(text, 3), panel("Ada", "Ben", "Cleo"), panel("Ada")),
    "change": (read_change, {"change": "Added a table"}, {"change": 7}),
}
each_reader = pytest.mark.parametrize(("read", "reply", "wrong"), READERS.values(), ids=READERS)


@each_reader
@pytest.mark.parametrize(
    ("wrap", "rung"),
    [
        ("REPLY", Rung.STRICT),
        ("```json\nREPLY\n```", Rung.EMBEDDED),
        ("Here it is:\n\nREPLY\n\nI hope it helps.", Rung.EMBEDDED),
        ("<think>What {if}?</think>\nREPLY", Rung.STRICT),
        ('An example: {"a": 1}. Mine:\nREPLY', Rung.EMBEDDED),
    ],
)
def test_a_reply_is_read_alone_in_a_fence_or_in_prose(read, reply, wrong, wrap, rung):
    found = read(wrap.replace("REPLY", json.dumps(reply)))
    assert found.answer == read(json.dumps(reply)).answer
    assert found.answer is not None
    assert (found.rung, found.complaint) == (rung, "")


@each_reader
@pytest.mark.parametrize("damage", ["trailing comma", "single quotes", "cut off"])
def test_broken_json_is_repaired(read, reply, wrong, damage):
    text = json.dumps(reply)
    broken = {
        "trailing comma": text[:-1] + ",}",
        "single quotes": text.replace('"', "'"),
        "cut off": text.rstrip("]}"),
    }[damage]
    found = read(broken)
    assert found.answer == read(text).answer
    assert found.rung in (Rung.DIRTYJSON, Rung.JSON_REPAIR)


@each_reader
def test_thoughts_are_kept_apart(read, reply, wrong):
    found = read(f"<think>Let me see.</think>{json.dumps(reply)}")
    assert found.thinking == "Let me see."


@each_reader
@pytest.mark.parametrize("text", ["", "No.", "[1, 2]", "null", "7", '"text"'])
def test_a_reply_without_an_object_is_complained_about(read, reply, wrong, text):
    found = read(text)
    assert (found.answer, found.rung) == (None, None)
    assert found.complaint == "The reply is not a JSON object."


@each_reader
def test_a_wrong_object_is_complained_about_unless_a_right_one_is_there(read, reply, wrong):
    found = read(json.dumps(wrong))
    assert (found.answer, found.rung) == (None, None)
    assert found.complaint
    assert read(f"{json.dumps(reply)}\n{json.dumps(wrong)}").answer == read(json.dumps(reply)).answer


HOSTILE = {
    "brackets": "{" * 100_000,
    "nested": '{"criteria":' * 5_000 + "1" + "}" * 5_000,
    "pairs": "{}" * 50_000,
    "quotes": '{"' * 20_000,
    "control characters": "\0\x1b\ud800{\0\ud800}",
    "huge number": '{"asi": ' + "9" * 100_000 + ', "change": ' + "9" * 100_000 + "}",
    "huge text": json.dumps({"change": "x" * 1_000_000, "asi": "y" * 1_000_000}),
    "not a number": '{"criteria": NaN, "judges": Infinity, "asi": -Infinity, "change": NaN}',
    "power": '{"criteria": 9**9**9, "change": 9**9**9}',
    "lists": '{"criteria": [[]], "judges": [[], 1, null, {"name": [], "lens": {}}], "asi": [], "change": {}}',
    "wrong keys": '{1: 2, null: 3, "": ""}',
    "thoughts": "<think>" * 1_000,
}


@each_reader
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_never_raises(read, reply, wrong, text):
    found = read(text)
    assert (found.answer is None) is bool(found.complaint)
    assert len(found.complaint) < 500
    read(text + json.dumps(reply))


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        (stances_schema(RUBRIC), stances_example(RUBRIC)),
        (merge_schema(), MERGE_EXAMPLE),
        (compose_schema(3), compose_example(3)),
        (describe_schema(), DESCRIBE_EXAMPLE),
    ],
)
def test_an_example_has_the_keys_of_its_schema(schema, example):
    assert schema["additionalProperties"] is False
    assert all(f'"{key}"' in example for key in schema["properties"])
    assert list(schema["properties"]) == schema["required"]


# --- deliberation --------------------------------------------------------------------------------


def read_one(**entry: object) -> tuple[object, str]:
    found = read_stances(json.dumps(stances(clarity=entry)), RUBRIC, OWN)
    return (found.answer[0] if found.answer else None), found.complaint


@pytest.mark.parametrize(
    ("words", "stance"),
    [
        ("agree", Stance.AGREE),
        ("Agreed.", Stance.AGREE),
        ("CHALLENGE", Stance.CHALLENGE),
        ("challenges", Stance.CHALLENGE),
        (" concede ", Stance.CONCEDE),
        ("**conceded**", Stance.CONCEDE),
    ],
)
def test_a_stance_is_read_in_any_form(words, stance):
    found, _ = read_one(stance=words, score=7, reasoning="Because.")
    assert (found.key, found.stance, found.reasoning) == ("clarity", stance, "Because.")


@pytest.mark.parametrize(("stance", "kept"), [("agree", 5), ("challenge", 5), ("concede", 7)])
def test_only_a_concession_takes_the_new_score(stance, kept):
    found, _ = read_one(stance=stance, score=7)
    assert found.score == kept
    assert found.reasoning == ""


@pytest.mark.parametrize("stance", ["agree", "challenge"])
def test_without_a_concession_the_score_does_not_matter(stance):
    assert read_one(stance=stance)[0].score == 5
    assert read_one(stance=stance, score="eleven")[0].score == 5


@pytest.mark.parametrize("words", ["disagree", "", "yes", None, 5, "I agree"])
def test_another_stance_is_complained_about(words):
    found, complaint = read_one(stance=words, score=5)
    assert found is None
    assert complaint == "clarity: the stance must be agree, challenge or concede."


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (11, "clarity: 11 is not on the scale"),
        (0, "clarity: 0 is not on the scale"),
        (6.5, "clarity: 6.5 is not on the scale"),
        ("7/100", "does not end at the scale's maximum"),
        ("high", "is not a score"),
        (None, "The score of clarity is missing."),
        (True, "is not a score"),
    ],
)
def test_a_concession_needs_a_score_on_the_scale(score, words):
    found, complaint = read_one(stance="concede", score=score)
    assert found is None
    assert words in complaint
    assert complaint.endswith("A concession needs the revised score.")


def test_every_criterion_needs_its_stance():
    missing = stances()
    del missing["criteria"]["usefulness"]
    found = read_stances(json.dumps(missing), RUBRIC, OWN)
    assert (found.answer, found.complaint) == (None, "The stance on usefulness is missing.")
    assert read_stances(json.dumps(stances(clarity="agree")), RUBRIC, OWN).answer is None


def test_keys_are_found_in_other_spellings_and_without_the_outer_object():
    flat = {key.upper(): {"stance": "agree"} for key in KEYS}
    found = read_stances(json.dumps(flat), RUBRIC, OWN)
    assert [entry.key for entry in found.answer] == list(KEYS)


def test_a_criterion_named_twice_counts_as_it_is_said_last():
    text = json.dumps(stances()).replace(
        '"clarity":', '"clarity": {"stance": "concede", "score": 9}, "clarity":', 1
    )
    assert read_stances(text, RUBRIC, OWN).answer[0].stance is Stance.AGREE


def test_a_long_reasoning_is_shortened_visibly():
    found, _ = read_one(stance="agree", reasoning="word " * 1_000)
    assert len(found.reasoning) <= 2 * REASONING_CHARS
    assert found.reasoning.endswith("…")


def test_a_quoted_verdict_can_be_read_again():
    quoted = read_reply(verdict_text(OWN, KEYS), RUBRIC).verdict
    assert [(entry.key, entry.score, entry.reasoning) for entry in quoted.scores] == [
        (entry.key, entry.score, entry.reasoning) for entry in OWN.scores
    ]
    assert "issue" not in verdict_text(OWN, KEYS)
    assert "asi" not in verdict_text(OWN, KEYS)


# --- merge ---------------------------------------------------------------------------------------


def test_a_merge_is_one_suggestion_and_a_summary():
    found = read_merge(json.dumps(MERGE)).answer
    assert (found.asi, found.summary) == ("Cut it.", PanelSummary(("The table.",), ("Jokes.",), "Shorter."))


@pytest.mark.parametrize("asi", [None, "", "  ", ["Cut it.", "Add a table."], {"text": "Cut it."}, 7])
def test_a_merge_needs_one_suggestion_as_text(asi):
    found = read_merge(json.dumps({**MERGE, "asi": asi}))
    assert (found.answer, found.complaint) == (None, "asi must be one suggested change, as text.")


@pytest.mark.parametrize(
    ("given", "items"),
    [
        (["a", "a", " a ", "b"], ("a", "b")),
        ("a", ("a",)),
        (None, ()),
        ([], ()),
        ([1, None, ["x"], {"a": 1}, "", " ", "a"], ("a",)),
        ({"a": 1}, ()),
        (list("abcdefgh"), tuple("abcdefgh"[:ITEMS])),
        (["two\n\nlines"], ("two lines",)),
    ],
)
def test_points_are_lines_of_text_each_once(given, items):
    assert read_merge(json.dumps({**MERGE, "working": given})).answer.summary.working == items


def test_long_points_and_suggestions_are_shortened_visibly():
    found = read_merge(json.dumps({**MERGE, "not_working": ["word " * 500], "asi": "word " * 5_000})).answer
    assert len(found.summary.not_working[0]) <= ITEM_CHARS
    assert found.summary.not_working[0].endswith("…")
    assert len(found.asi) <= 2 * ASI_CHARS
    assert found.asi.endswith("…")


def test_a_summary_may_be_missing():
    assert read_merge('{"asi": "Cut it."}').answer.summary == PanelSummary()


# --- compose -------------------------------------------------------------------------------------


def test_a_panel_has_the_judges_that_were_asked_for():
    found = read_panel(json.dumps(panel("Ada", "Ben", "Cleo", "Dan")), 3).answer
    assert [judge.name for judge in found] == ["Ada", "Ben", "Cleo"]
    assert [judge.model for judge in found] == ["", "", ""]
    assert read_panel(json.dumps({"panel": panel("Ada", "Ben")["judges"]}), 2).answer[1].name == "Ben"


@pytest.mark.parametrize(
    "judges",
    [
        [],
        None,
        "Ada, Ben, Cleo",
        panel("Ada", "Ben")["judges"],
        panel("Ada", "ada", "ADA ")["judges"],
        [{"name": "Ada"}, {"name": "Ben"}, {"name": "Cleo"}],
        [{"name": "Ada", "lens": ""}, *panel("Ben", "Cleo")["judges"]],
        ["Ada", "Ben", "Cleo"],
    ],
)
def test_a_panel_with_too_few_different_judges_is_complained_about(judges):
    found = read_panel(json.dumps({"judges": judges}), 3)
    assert found.answer is None
    assert found.complaint == "judges must be 3 objects, each with its own name and lens."


def test_long_names_and_lenses_are_shortened():
    judges = [{"name": f"{seat} {'very ' * 99}", "lens": "You look " * 999} for seat in range(3)]
    found = read_panel(json.dumps({"judges": judges}), 3).answer
    assert all(len(judge.name) <= NAME_CHARS and len(judge.lens) <= LENS_CHARS for judge in found)


# --- describe ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "change"),
    [
        ("Added a table.", "Added a table"),
        (" two\nlines ", "two lines"),
        ("Nothing of substance changed", "Nothing of substance changed"),
    ],
)
def test_a_change_is_one_line_without_a_full_stop(said, change):
    assert read_change(json.dumps({"change": said})).answer == change
    assert read_change(json.dumps({"key_change": said})).answer == change


def test_a_change_is_shorter_than_sixty_characters():
    found = read_change(json.dumps({"change": "word " * 100})).answer
    assert len(found) <= KEY_CHANGE_CHARS < 60
    assert found.endswith("…")


@pytest.mark.parametrize("change", [None, "", " ", [], 7, {"a": "b"}])
def test_a_change_must_be_text(change):
    found = read_change(json.dumps({"change": change}))
    assert (found.answer, found.complaint) == (None, "change must be a few words that name what changed.")
