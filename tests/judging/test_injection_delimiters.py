"""The delimiters around data, and what is removed from data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refinement.judging.delimiters import REMOVED, defuse_role_tags, fence, neutralise, new_nonce, plain

NONCE = "7f3a9c5e1b2d4860"


def test_marks_carry_the_label_and_the_nonce():
    marks = fence(NONCE, "SEED")
    assert (marks.opening, marks.closing) == (f"<<<SEED {NONCE}>>>", f"<<<END SEED {NONCE}>>>")
    assert marks.around("text") == f"{marks.opening}\ntext\n{marks.closing}"


def test_nonces_are_fresh_and_valid():
    made = {new_nonce() for _ in range(50)}
    assert len(made) == 50
    assert all(fence(nonce, "X") for nonce in made)


@pytest.mark.parametrize("nonce", ["", "short", "with space 123", "ümlaut1234", "a" * 65, f"{NONCE}\n"])
def test_a_weak_nonce_is_refused(nonce):
    with pytest.raises(ValueError, match="8 to 64"):
        fence(nonce, "X")
    with pytest.raises(ValueError, match="8 to 64"):
        neutralise("text", nonce)


@pytest.mark.parametrize(
    "disguised",
    [
        NONCE,
        NONCE.upper(),
        "\u200b".join(NONCE),
        "\ufe0f".join(NONCE),
        "\U000e0020".join(NONCE),
        "\x07".join(NONCE),
        "".join(chr(ord(letter) + 0xFEE0) for letter in NONCE),
        "".join(chr(0x1D7CE + int(letter)) if letter.isdigit() else letter for letter in NONCE),
    ],
)
def test_the_nonce_is_visibly_replaced_in_every_disguise(disguised):
    assert neutralise(f"before {disguised} after", NONCE) == f"before {REMOVED} after"


def test_ordinary_text_stays_as_it_is():
    text = (
        "Tabs\tand lines\n\nwith “signs”, 日本語, emoji \U0001f469\u200d\U0001f4bb and <<<marks>>> of nobody."
    )
    assert neutralise(text, NONCE) == text
    assert defuse_role_tags(text) == text


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ("a\x00b\x1b[0m\x7f\x85c", "ab[0mc"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("half \ud83d end", "half \ufffd end"),
        ("pair \ud83d\ude00 end", "pair \U0001f600 end"),
    ],
)
def test_what_cannot_be_sent_is_dropped_or_mended(raw, sent):
    assert plain(raw) == sent


@pytest.mark.parametrize(
    ("tag", "defused"),
    [
        ("<|im_start|>", "<\\|im_start|>"),
        ("[INST]", "[\\INST]"),
        ("<<SYS>>", "<\\<SYS>>"),
        ("<end_of_turn>", "<\\end_of_turn>"),
        ("a <b> | c> [x]", "a <b> | c> [x]"),
    ],
)
def test_chat_tags_get_a_visible_backslash_once(tag, defused):
    assert defuse_role_tags(tag) == defused
    assert defuse_role_tags(defused) == defused


@given(st.text(), st.integers(0, 2**64 - 1))
def test_no_text_keeps_the_nonce(text, number):
    nonce = f"{number:016x}"
    safe = neutralise(f"{text}{nonce.upper()}{text}{nonce}", nonce)
    assert nonce not in safe.lower()
    assert neutralise(safe, nonce) == safe
