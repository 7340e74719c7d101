"""Texts are equal regardless of line endings."""

import pytest

from refinement.judging.same_text import fingerprint, plain_lines


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\rb", "\n a\nb \n", "a\r\nb\r\n"])
def test_line_ends_and_blank_ends_do_not_count(text):
    assert fingerprint(text) == fingerprint("a\nb")


@pytest.mark.parametrize("text", ["a b", "a\n\nb", "A\nb", "a\nb."])
def test_everything_else_does(text):
    assert fingerprint(text) != fingerprint("a\nb")


def test_half_a_character_is_no_stumbling_block():
    assert len(fingerprint("a\ud800")) == 64


def test_lines_end_in_one_way():
    assert plain_lines("a\r\nb\rc\n") == "a\nb\nc\n"
