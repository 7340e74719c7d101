"""Quotations from sources are found at their place, and nothing else is."""

import time

import pytest

from refinement.judging.quotations import MOST_PASSAGES, SourcePlace, linked_pieces, places_of, quotations

NOTES = "Backups are made\n   every night at 02:00, and kept for four weeks. Restores take an hour."
MAIL = "The owner of the backups is Mara Lind, who also tests the restores."


@pytest.mark.parametrize(
    "text",
    [
        'It says "Backups are made every night" here.',
        "It says “Backups are made every night.” here.",
        "It says „Backups are made every night“ here.",
        "It says «Backups are made every night» here.",
        "It says ‘Backups are made every night,’ here.",
        "It says `Backups are made every night` here.",
        "It says 'Backups are made every night' here.",
        'Not "one" but "Backups are made\nevery night" is said.',
    ],
)
def test_a_quotation_is_found_whatever_its_marks_and_whitespace(text):
    (place,) = places_of([text], [MAIL, NOTES]).values()
    assert place.source == 2
    assert NOTES[place.start : place.end].split() == ["Backups", "are", "made", "every", "night"]


@pytest.mark.parametrize(
    "text",
    [
        "Backups are made every night at 02:00, without marks.",
        'Too short: "Backups are made".',
        'Other words: "Backups are made every morning".',
        'Other case: "backups ARE made every night".',
        '"' + "x" * 1_001 + '"',
        "",
    ],
)
def test_nothing_else_is_found(text):
    assert places_of([text], [NOTES, MAIL]) == {}


def test_the_first_source_that_has_it_is_the_place():
    passage = "The owner of the backups"
    assert places_of([f'"{passage}"'], [NOTES, MAIL, MAIL]) == {passage: SourcePlace(2, 0, len(passage))}


def test_pieces_are_the_text():
    text = 'It says "Restores take an hour" and again "Restores take an hour".'
    pieces = linked_pieces(text, {"Restores take an hour": "/there"})
    assert "".join(piece for piece, _ in pieces) == text
    assert [link for _, link in pieces if link] == ["/there", "/there"]
    assert linked_pieces(text, {}) == [(text, "")]


def test_patterns_in_a_quotation_are_text():
    source = "Use (a+)+$ and [0-9]* as they stand here."
    assert places_of(['"(a+)+$ and [0-9]* as they"'], [source])
    assert places_of(['".{5}.{5}.{5}.{5}.{5}"'], [source]) == {}


def test_it_is_bounded_and_fast_on_the_largest_sources():
    texts = [f'"{"words " * 20}number {number} of them"' for number in range(500)]
    assert len(list(quotations(" ".join(texts)))) == 500
    sources = ["words " * 33_000, "wordsword " * 20_000]
    began = time.process_time()
    assert places_of(texts, sources) == {}
    assert time.process_time() - began < 5
    assert len(places_of(texts, [" ".join(texts)])) == MOST_PASSAGES
