"""Head and tail of a long text, counted exactly."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refinement.judging.length import excerpt, judged, marker, shorten


def test_a_text_within_the_limit_is_whole():
    whole = excerpt("short", 5)
    assert (whole.text, whole.seen_chars, whole.total_chars, whole.cut) == ("short", 5, 5, False)
    assert whole.sentence == "judged 5 of 5 characters"


def test_a_long_text_keeps_its_head_and_its_tail():
    text = "\n".join(f"line {number}" for number in range(5_000))
    cut = excerpt(text, 6_000)
    assert cut.cut
    assert cut.text.startswith("line 0\nline 1\n")
    assert cut.text.endswith("line 4998\nline 4999")
    assert 5_000 <= cut.seen_chars <= 6_000
    assert cut.sentence == f"judged {cut.seen_chars:,} of {len(text):,} characters"
    assert marker(len(text) - cut.seen_chars) in cut.text.splitlines()


def test_cuts_fall_on_lines_then_on_words():
    lines = excerpt("abcdefgh\n" * 200, 300).text.splitlines()
    assert {line for line in lines if not line.startswith("[...")} <= {"abcdefgh", ""}
    words = excerpt("abcdefgh " * 200, 300).text
    assert set(re.sub(r"\[\.\.\. .* \.\.\.\]", "", words).split()) == {"abcdefgh"}


def test_a_cut_never_parts_what_is_one_character():
    pair = excerpt("\ud83d\ude00" * 100, 31)
    head, tail = pair.text.split(f"\n{marker(200 - pair.seen_chars)}\n")
    assert len(head) % 2 == len(tail) % 2 == 0
    accents = excerpt("e\u0301" * 100, 31).text
    assert "\n\u0301" not in accents
    assert "e\n[" not in accents
    families = excerpt("\U0001f469\u200d\U0001f4bb" * 50, 31).text
    assert "\u200d\n" not in families
    assert "\n\u200d" not in families


def test_the_smallest_limit_still_shows_a_character():
    assert excerpt("abcdef", 1).seen_chars == 1
    assert marker(1) == "[... 1 character left out here ...]"
    assert judged(6_000, 12_345) == "judged 6,000 of 12,345 characters"


def test_a_limit_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one character"):
        excerpt("text", 0)


@given(st.text(max_size=400), st.integers(1, 300))
def test_the_counts_add_up(text, limit):
    cut = excerpt(text, limit)
    assert cut.seen_chars <= max(limit, 0)
    assert cut.total_chars == len(text)
    if not cut.cut:
        assert cut.text == text
        return
    line = f"\n{marker(cut.total_chars - cut.seen_chars)}\n"
    start = cut.text.index(line)
    head, tail = cut.text[:start], cut.text[start + len(line) :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + len(tail) == cut.seen_chars


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("already short", "already short"),
        ("two\n lines", "two lines"),
        ("a sentence with several words in it", "a sentence with…"),
        ("x" * 40, "x" * 19 + "…"),
    ],
)
def test_shortening_keeps_words_whole(text, short):
    assert shorten(text, 20) == short
