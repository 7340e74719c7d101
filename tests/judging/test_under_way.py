"""A judge's reply without its end, as people read it."""

import json
import time

import pytest

from refinement.judging.parsing.under_way import MOST_VALUES, entries_so_far
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
LISTED = '{"criteria": [{"name": "Depth", "score": 7, "reason": "Deep."}, {"key": "tone", "score": "8/10"}]}'
REPLIES = {
    "whole": WHOLE,
    "with escapes": json.dumps(json.loads(WHOLE), ensure_ascii=False, indent=2),
    "fenced": f"```json\n{WHOLE}\n```\nThat is all.",
    "after thinking": f"<think>Is it {{deep}}? Perhaps.</think>\n{WHOLE}",
    "flat": '{"depth": 7, "relevance": 8.5, "issues": ["Too short."], "verdict": "FAIL"}',
    "listed": LISTED,
    "loose": '{"criteria": {"depth": {"score": 7/10, "reasoning": "a\nb",}, }, "asi": "\\q\\u00zzx"}',
    "hostile": json.dumps({"criteria": {HOSTILE: {"score": HOSTILE, HOSTILE: [HOSTILE, HOSTILE]}}}),
    "numbers in text": '{"asi": ["one", {"two": [3, null]}], "criteria": {"a": 1, "b": "well"}}',
    "broken": '{"criteria": {"depth": {"reasoning": "It says "so".", "score": 7}}}',
    "prose": "Depth: 7/10. It is deep.",
    "a list": "[1, 2]",
    "too deep": '{"a": ' * 12,
    "too much": "{" + ", ".join(f'"k{n}": {n}' for n in range(MOST_VALUES + 2)) + "}",
    "nothing": "",
}


def told(text: str) -> list[list[object]] | None:
    """What is read, as plain lists."""
    entries = entries_so_far(text)
    return entries and [[entry.title, entry.score, [list(part) for part in entry.parts]] for entry in entries]


def test_a_whole_reply():
    assert told(WHOLE) == [
        ["Depth", "7.5", [["", 'It names "each" step.\nAnd the défaults 😀.'], ["To improve:", "Say why."]]],
        ["Clear words", "10", [["", "Short."]]],
        ["Issues", "", [["", "The third step has no owner."], ["", "Nothing on rollback."]]],
        ["ASI", "", [["", "Give each step an owner."]]],
    ]


@pytest.mark.parametrize("name", ["with escapes", "fenced", "after thinking"])
def test_what_stands_around_it_does_not_matter(name):
    assert told(REPLIES[name]) == told(WHOLE)


@pytest.mark.parametrize(
    ("end", "read"),
    [
        ("{", []),
        ('{"criteria": {"dep', []),
        ('{"criteria": {"depth": {"reasoning": "It na', [["Depth", "", [["", "It na"]]]]),
        ('{"criteria": {"depth": {"reasoning": "It\\', [["Depth", "", [["", "It"]]]]),
        ('{"criteria": {"depth": {"reasoning": "It\\u00e', [["Depth", "", [["", "It"]]]]),
        ('{"criteria": {"depth": {"reasoning": "It", "score": 7.', [["Depth", "7.", [["", "It"]]]]),
    ],
)
def test_the_beginning_of_one(end, read):
    assert told(end) == read


def test_other_shapes():
    assert told(REPLIES["flat"]) == [
        ["Depth", "7", []],
        ["Relevance", "8.5", []],
        ["Issues", "", [["", "Too short."]]],
        ["Verdict", "", [["", "FAIL"]]],
    ]
    assert told(LISTED) == [["Depth", "7", [["", "Deep."]]], ["Tone", "8/10", []]]
    assert told(REPLIES["loose"]) == [["Depth", "7/10", [["", "a\nb"]]], ["ASI", "", [["", "qx"]]]]


@pytest.mark.parametrize("name", ["broken", "prose", "a list", "too deep", "too much", "nothing"])
def test_what_is_not_an_object_is_not_read(name):
    assert entries_so_far(REPLIES[name]) is None


def test_every_beginning_can_be_looked_at():
    for text in REPLIES.values():
        for end in range(0, len(text), 3):
            entries_so_far(text[:end])


def test_a_long_reply_takes_a_moment():
    start = time.perf_counter()
    entries_so_far(json.dumps({"criteria": {"depth": {"reasoning": 'a "b" ' * 20_000}}}))
    assert time.perf_counter() - start < 2  # it takes a few hundredths
