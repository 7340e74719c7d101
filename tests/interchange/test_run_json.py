"""A whole run as JSON, written in parts."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from refinement.interchange.exports.json import as_json, run_json


def test_the_pieces_are_one_document_in_a_fixed_order():
    pieces = run_json(
        {"id": 1, "best": Decimal("8.60")},
        sources=[{"position": 1}],
        rounds=[{"number": 1}, {"number": 2}],
        calls=[],
        events=[{}],
        human_scores=[{"round": 2}],
    )
    text = "".join(pieces)
    found = json.loads(text)
    assert list(found) == [
        "wiggum_run",
        "run",
        "sources",
        "rounds",
        "calls",
        "events",
        "human_scores",
        "decisions",
        "instructions",
        "feedback",
    ]
    assert found == {
        "wiggum_run": 1,
        "run": {"id": 1, "best": "8.60"},
        "sources": [{"position": 1}],
        "rounds": [{"number": 1}, {"number": 2}],
        "calls": [],
        "events": [{}],
        "human_scores": [{"round": 2}],
        "decisions": [],
        "instructions": [],
        "feedback": [],
    }


@pytest.mark.parametrize(
    "text", ["</script>", "\u202e", "\u2028", "😀", "\x85", "\\", '"', "\ufffd", "a" * 100_000]
)
def test_any_text_comes_back_as_it_was(text):
    assert json.loads(as_json({"text": text})) == {"text": text}


def test_decimals_and_times_are_exact_texts():
    moment = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert (
        as_json([Decimal("1E+3"), Decimal("0.10"), moment]) == '["1000", "0.10", "2026-03-01T12:30:00+00:00"]'
    )


def test_what_json_does_not_know_is_refused():
    with pytest.raises(TypeError, match="set cannot be written"):
        as_json({1, 2})
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json(float("nan"))


def test_an_entry_is_asked_for_only_when_it_is_written():
    taken = []

    def rounds():
        for number in range(3):
            taken.append(number)
            yield {"number": number}

    pieces = run_json({}, rounds=rounds(), calls=[], events=[])
    for _ in range(4):  # the run, the sources from beginning to end, and the beginning of the rounds
        next(pieces)
    assert taken == []
    next(pieces)
    assert taken == [0]
