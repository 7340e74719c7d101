"""A judge's reply while it is being written, as pages show it."""

import json
import time

import pytest

from refinement.judging.parsing.partial import MAX_CHARS, MAX_VALUES, partial_verdict
from tests.views.rubrics.given import HOSTILE

WHOLE = json.dumps(
    {
        "criteria": {
            "depth": {
                "reasoning": 'It names "each" step.\nAnd the défaults 😀.',
                "score": 7.5,
                "improvement": "Say why.",
            },
            "clear_words": {"reasoning": "Short.", "score": 10, "improvement": ""},
        },
        "issues": ["The third step has no owner.", "Nothing on rollback."],
        "asi": "Give each step an owner.",
    }
)
REPLIES = {
    "whole": WHOLE,
    "indented": json.dumps(json.loads(WHOLE), ensure_ascii=False, indent=2),
    "fenced": f"```json\n{WHOLE}\n```\nThat is all.",
    "after thinking": f"<think>Is it {{deep}}? Perhaps.</think>\n{WHOLE}",
    "flat": '{"depth": 7, "relevance": 8.5, "issues": ["Too short."], "verdict": "FAIL"}',
    "list": '{"scores": [{"name": "Depth", "score": 7, "reason": "Big."}, {"key": "tone", "score": "8/10"}]}',
    "raw line break": '{"asi": "One\ntwo."}',
    "hostile": json.dumps({"criteria": {HOSTILE: {"score": HOSTILE, HOSTILE: [HOSTILE, HOSTILE]}}}),
    "mixed": '{"asi": ["one", {"two": [3, null]}], "criteria": {"a": 1, "b": "well"}}',
    "many": "{" + ", ".join(f'"k{n}": {n}' for n in range(MAX_VALUES + 2)) + "}",
    "deep": '{"a": ' * 12,
    "too deep for the parser": '{"a": ' * 5_000,
    "huge number": '{"score": ' + "9" * 5_000 + "}",
    "not a number": '{"depth": NaN, "tone": 1e999}',
    "lone surrogates": '{"asi": "\\ud800 \udc80"}',
    "bad escape": '{"asi": "\\q"}',
    "unescaped quotes": '{"criteria": {"depth": {"reasoning": "It says "so".", "score": 7}}}',
    "prose": "Depth: 7/10. It is deep.",
    "array": "[1, 2]",
    "nothing": "",
}


def read(text: str) -> list[list[object]]:
    return [[entry.title, entry.score, entry.parts] for entry in partial_verdict(text)]


def test_a_whole_reply():
    assert read(WHOLE) == [
        ["Depth", "7.5", [("", 'It names "each" step.\nAnd the défaults 😀.'), ("To improve:", "Say why.")]],
        ["Clear words", "10", [("", "Short.")]],
        ["Issues", "", [("", "The third step has no owner."), ("", "Nothing on rollback.")]],
        ["Suggested change", "", [("", "Give each step an owner.")]],
    ]


@pytest.mark.parametrize("name", ["indented", "fenced", "after thinking"])
def test_layout_and_surroundings_do_not_matter(name):
    assert read(REPLIES[name]) == read(WHOLE)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("{", []),
        ('{"criteria": {"dep', []),
        ('{"criteria": {"depth": {"reasoning": "It na', [["Depth", "", [("", "It na")]]]),
        ('{"criteria": {"depth": {"reasoning": "It\\', [["Depth", "", [("", "It")]]]),
        ('{"criteria": {"depth": {"reasoning": "It\\u00e', [["Depth", "", [("", "It")]]]),
        ('{"criteria": {"depth": {"reasoning": "It", "score": 7.5,', [["Depth", "7.5", [("", "It")]]]),
    ],
)
def test_an_unfinished_reply(start, expected):
    assert read(start) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "flat",
            [
                ["Depth", "7", []],
                ["Relevance", "8.5", []],
                ["Issues", "", [("", "Too short.")]],
                ["Verdict", "", [("", "FAIL")]],
            ],
        ),
        ("list", [["Depth", "7", [("", "Big.")]], ["Tone", "8/10", []]]),
        ("raw line break", [["Suggested change", "", [("", "One two.")]]]),
        ("not a number", [["Depth", "NaN", []], ["Tone", "Infinity", []]]),
    ],
)
def test_other_shapes(name, expected):
    assert read(REPLIES[name]) == expected


@pytest.mark.parametrize("name", ["prose", "array", "nothing", "too deep for the parser", "huge number"])
def test_what_is_no_object_is_not_read(name):
    assert partial_verdict(REPLIES[name]) == []


def test_the_number_of_values_and_the_length_are_bounded():
    assert len(partial_verdict(REPLIES["many"])) == MAX_VALUES
    assert partial_verdict(json.dumps({"asi": "a" * MAX_CHARS})) == []


@pytest.mark.parametrize("name", REPLIES)
def test_no_reply_raises_at_any_point(name):
    text = REPLIES[name]
    for end in range(0, len(text), max(1, len(text) // 300)):
        for entry in partial_verdict(text[:end]):
            "".join([entry.title, entry.score, *(part for pair in entry.parts for part in pair)]).encode()


def test_a_long_reply_is_read_quickly():
    text = json.dumps({"criteria": {"depth": {"reasoning": 'a "b" ' * 4_000}}})
    start = time.thread_time()
    assert partial_verdict(text)
    assert time.thread_time() - start < 1  # about a millisecond; of processor time, so others do not count
