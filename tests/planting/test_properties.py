"""Properties of the copies of any text."""

import re

import cmarkgfm
from hypothesis import example, given, settings
from hypothesis import strategies as st

from refinement.planting.documents import Document
from refinement.planting.edits.synonyms import SYNONYMS, WORDS
from refinement.planting.kinds import Effect
from refinement.planting.planting import plant
from refinement.planting.table import EDITS
from tests.planting.texts import ANYTHING, ENGLISH, MARKDOWN

APOSTROPHES = str.maketrans("’", "'")


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:'\w+)*", text.translate(APOSTROPHES))


def copy_of(text: str, edit: str, seed: int) -> str | None:
    copies = plant(text, seed=seed, edits=[edit]).copies
    return copies[0].text if copies else None


def meaning(text: str) -> list[str]:
    """The words, with one for all of the same meaning."""
    groups = {word: min(word, other) for word, other in SYNONYMS.items()}
    for word, other in SYNONYMS.items():
        groups[other] = groups.get(other, min(word, other))
    pattern = re.compile("|".join(sorted((rf"\b{re.escape(w)}\b" for w in groups), key=len, reverse=True)))
    return words(pattern.sub(lambda match: groups[match.group()], text.lower()))


def rendered(text: str) -> str:
    return " ".join(cmarkgfm.github_flavored_markdown_to_html(text).split())


@settings(max_examples=150, deadline=None)
@given(ANYTHING, st.integers(0, 5))
def test_every_text_gets_different_copies_or_a_reason(text: str, seed: int) -> None:
    planted = plant(text, seed=seed)
    assert {copy.edit for copy in planted.copies} | {skip.edit for skip in planted.skipped} == set(EDITS)
    assert len(planted.copies) + len(planted.skipped) == len(EDITS)
    for copy in planted.copies:
        assert copy.text.strip() != text.strip()
        assert copy.text.strip()
        assert copy.change.endswith(".")
    assert all(skip.reason for skip in planted.skipped)


@settings(max_examples=60, deadline=None)
@given(ANYTHING, st.integers(0, 5))
def test_the_same_seed_makes_the_same_copies(text: str, seed: int) -> None:
    assert plant(text, seed=seed) == plant(text, seed=seed)


@settings(max_examples=200, deadline=None)
@given(MARKDOWN, st.integers(0, 5))
@example(ENGLISH, 0)
def test_typographic_copies_have_the_same_words(text: str, seed: int) -> None:
    if copy := copy_of(text, "typography", seed):
        assert words(copy) == words(text)


@settings(max_examples=200, deadline=None)
@given(MARKDOWN, st.integers(0, 5))
@example(ENGLISH, 0)
@example("the the the the the the the the the the?\nthe  \n|.\n\n", 0)
def test_reflowed_copies_have_the_same_words_and_render_the_same(text: str, seed: int) -> None:
    if copy := copy_of(text, "reflowed", seed):
        assert copy.split() == text.split()
        assert rendered(copy) == rendered(text)


@settings(max_examples=200, deadline=None)
@given(MARKDOWN, st.integers(0, 5))
@example(ENGLISH, 0)
def test_synonyms_keep_the_meaning(text: str, seed: int) -> None:
    if copy := copy_of(text, "synonyms", seed):
        assert meaning(copy) == meaning(text)
        assert len(re.findall(WORDS, text)) > 0


@settings(max_examples=100, deadline=None)
@given(MARKDOWN, st.integers(0, 5))
@example(ENGLISH, 0)
def test_padding_only_adds(text: str, seed: int) -> None:
    if copy := copy_of(text, "padding", seed):
        left = iter(copy.split())
        assert all(word in left for word in text.split())
        assert len(copy.split()) >= len(text.split()) + 40


@settings(max_examples=200, deadline=None)
@given(MARKDOWN, st.integers(0, 5), st.sampled_from([key for key in EDITS if key != "formatting"]))
@example(ENGLISH, 0, "numbers")
@example("the.\n\nthe the the the. ```the.\n\n", 0, "dropped")
def test_code_blocks_stay_as_they_are(text: str, seed: int, edit: str) -> None:
    if copy := copy_of(text, edit, seed):
        assert code_of(copy) == code_of(text)


@settings(max_examples=200, deadline=None)
@given(
    MARKDOWN,
    st.integers(0, 5),
    st.sampled_from(["numbers", "negation", "typography", "synonyms", "reflowed"]),
)
@example(ENGLISH, 0, "typography")
def test_addresses_and_inline_code_stay_as_they_are(text: str, seed: int, edit: str) -> None:
    if copy := copy_of(text, edit, seed):
        assert kept_of(copy) == kept_of(text)


def test_every_edit_fits_a_text_that_has_everything() -> None:
    planted = plant(ENGLISH)
    assert [copy.edit for copy in planted.copies] == list(EDITS)
    assert {copy.effect for copy in planted.copies} == set(Effect)


def code_of(text: str) -> list[str]:
    document = Document(text)
    return [text[block.start : block.end] for block in document.blocks if block.kind == "code"]


def kept_of(text: str) -> list[str]:
    return [text[span.start : span.end] for span in Document(text).protected]
