"""Whom a text mentions with @: by display name or email name, never by parts of words or shared names."""

import pytest

from refinement.mentioning import MOST_MENTIONS, Person, mentioned_in

VERA, VERA_VIEWER, EDGAR, TWIN, OTHER_TWIN = PEOPLE = [
    Person(1, "Vera", "v"),
    Person(2, "Vera Viewer", "vera.viewer"),
    Person(3, "Edgar Editor", "edgar"),
    Person(4, "Sam", "sam1"),
    Person(5, "Sam", "sam2"),
]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("@Vera look", [1]),
        ("@Vera Viewer, look", [2]),
        ("@vera viewer", [2]),
        ("(@EDGAR)", [3]),
        ("@vera.viewer: see", [2]),
        ("@Edgar Editor and @Vera", [3, 1]),
        ("@Edgar @edgar @Edgar Editor", [3]),
        ("@Sam", []),
        ("@sam2", [5]),
        ("@nobody @ @@ @!", []),
        ("mail edgar@example.org or x@Vera", []),
        ("@Verandah", []),
        ("@Edgars", []),
        ("**@Vera**", [1]),
        ("", []),
    ],
)
def test_who_is_called(text, called):
    assert mentioned_in(text, PEOPLE) == called


def test_a_name_with_signs_or_other_letters():
    people = [Person(1, "O'Brien (QA)", "ob"), Person(2, "Łukasz Żółw", "lz"), Person(3, "نورا", "nora")]
    assert mentioned_in("@O'Brien (QA) @łukasz żółw @نورا", people) == [1, 2, 3]


def test_nobody_has_no_name():
    assert mentioned_in("@ @x", [Person(1, "", "")]) == []


def test_a_comment_calls_so_many_and_no_more():
    people = [Person(number, f"p{number}", f"m{number}") for number in range(200)]
    text = " ".join(f"@p{number}" for number in range(200))
    assert len(mentioned_in(text, people)) == MOST_MENTIONS


def test_many_signs_take_a_moment():
    people = [Person(number, f"Name number {number}", f"m{number}") for number in range(2000)]
    assert mentioned_in("@x " * 6000, people) == []
