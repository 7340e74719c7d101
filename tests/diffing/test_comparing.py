"""Diffs: nothing is lost, marks are small, and moves are recognized."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refinement.diffing import compared, comparing, side_by_side
from refinement.diffing.sides import folded

A = "The service starts by itself. It reads its settings from a file on the disk."
B = "Backups are made every night and kept for thirty days in another place."
C = "Restores are tried every month, and the time they took is written down."


def kinds(diff, kind):
    return [piece.text for piece in diff.pieces if piece.kind == kind]


def left_of(diff):
    return "".join(piece.text for piece in diff.pieces if piece.kind in {"same", "deleted", "moved_out"})


def right_of(diff):
    return "".join(
        piece.text for piece in diff.pieces if piece.kind in {"same", "inserted", "moved_in", "copied"}
    )


def test_a_changed_word_is_all_that_is_marked():
    diff = compared(f"{A}\n\n{B}\n", f"{A}\n\n{B.replace('thirty', 'ninety')}\n")
    assert (kinds(diff, "deleted"), kinds(diff, "inserted")) == (["thirty "], ["ninety "])
    assert len(diff.changes) == 1


def test_the_same_text_has_no_change():
    assert compared(A, A).same
    assert compared(A, A).changes == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{A}\n\n{B}\n\n{C}\n", f"{C}\n\n{A}\n\n{B}\n"),
        (f"{A}\n\n{B}\n\n{C}\n", f"{B}\n\n{C}\n\n{A}\n"),
        (f"{A}\n\n{B}\n", f"{B}\n\n{A}\n"),
    ],
)
def test_a_moved_paragraph_is_not_a_wall_of_red(before, after):
    diff = compared(before, after)
    assert diff.moved == 1
    assert "".join(kinds(diff, "deleted")).strip() == ""
    assert "".join(kinds(diff, "inserted")).strip() == ""


def test_a_sentence_that_is_repeated_elsewhere_is_not_new():
    diff = compared(f"{A}\n\n{B}\n", f"{A}\n\n{B}\n\n{C} {B}\n")
    assert "".join(kinds(diff, "copied")).strip() == B
    assert "".join(kinds(diff, "inserted")).strip() == C
    assert [change.after.strip() for change in diff.changes] == [C]


def test_a_short_sentence_moves_along_with_its_neighbour():
    diff = compared(f"{A}\n\n{B} So it is.\n", f"{B} So it is.\n\n{A}\n")
    moved = "".join(kinds(diff, "moved_in")) + "".join(kinds(diff, "same"))
    assert "So it is." in moved
    assert "So it is." not in "".join(kinds(diff, "deleted"))


def test_texts_that_have_nothing_in_common_are_replaced_as_a_whole():
    diff = compared(B, "Completely unrelated: purple elephants dance slowly under seven bright moons.")
    assert kinds(diff, "same") == []
    assert kinds(diff, "deleted") == [B]


def test_long_texts_are_compared_by_sentences_and_say_so():
    before = "\n".join(f"Sentence number {n} says something of its own." for n in range(6000))
    diff = compared(before, before.replace("number 3000 says", "number 3000 tells"))
    assert not diff.by_words
    assert kinds(diff, "deleted") == ["Sentence number 3000 says something of its own."]


def test_texts_beyond_measure_are_not_compared_and_say_so():
    diff = compared("a\n" * 600_000, "b\n" * 600_000)
    assert not diff.compared


def test_too_many_pieces_are_replaced_rather_than_waited_for(monkeypatch):
    monkeypatch.setattr(comparing, "MOST_PAIRS", 10)
    diff = compared("One. Two. Three. Four. Five.", "Six. Seven. Eight. Nine. Ten.")
    assert not diff.by_words
    assert kinds(diff, "deleted") == ["One. Two. Three. Four. Five."]


TEXTS = st.lists(
    st.sampled_from([A, B, C, "Short. ", "\n", "\n\n", "one two ", "| a | b |\n", "\u202e", "é🙂 "])
).map("".join)


@given(TEXTS, TEXTS)
def test_nothing_is_lost_on_either_side(before, after):
    diff = compared(before, after)
    assert right_of(diff) == after
    assert left_of(diff).split() == before.split()


@given(TEXTS, TEXTS)
def test_two_columns_hold_the_same_texts(before, after):
    rows = side_by_side(compared(before, after).pieces)
    assert "".join(piece.text for row in rows for piece in row.right) == after
    assert "".join(piece.text for row in rows for piece in row.left).split() == before.split()


def test_unchanged_stretches_are_folded_beside_a_change():
    long = "\n".join(f"Line {n} stays as it is, word by word." for n in range(100))
    pieces = folded(compared(f"{long}\nThe end is near.", f"{long}\nThe end is far.").pieces)
    assert [piece.kind for piece in pieces][:2] == ["folded", "same"]
    assert (
        "".join(piece.text for piece in pieces if piece.kind not in {"deleted"}) == f"{long}\nThe end is far."
    )


def test_a_long_line_is_folded_between_words():
    long = " ".join(f"Sentence {n} stays as it is." for n in range(200))
    pieces = folded(compared(f"Before. {long} After.", f"Changed. {long} Changed too.").pieces)
    texts = [piece.text for piece in pieces if piece.kind in {"same", "folded"}]
    assert [piece.kind for piece in pieces].count("folded") == 1
    cuts = [f"{left[-1]}{right[0]}" for left, right in pairwise(texts)]
    assert all(" " in cut for cut in cuts), cuts


def test_a_line_without_a_single_blank_is_folded_all_the_same():
    pieces = folded(compared("x\n" + "字" * 2000, "y\n" + "字" * 2000).pieces)
    assert "folded" in [piece.kind for piece in pieces]


def test_lines_that_stay_stand_beside_each_other():
    rows = side_by_side(compared(f"{A}\n{C}\n", f"{A}\n{B}\n{C}\n").pieces)
    same = [row for row in rows if any(C in piece.text for piece in row.right)]
    assert same[0].left == same[0].right
