"""Each edit on a text that shows what it changes and what it leaves unchanged."""

import re
import time

import pytest

from refinement.planting.edits.numbers import changed
from refinement.planting.planting import NOT_ENGLISH, plant
from refinement.planting.table import EDITS
from tests.planting.texts import CHINESE, ENGLISH, GERMAN


def only(text: str, edit: str, seed: int = 0) -> str:
    copies = plant(text, seed=seed, edits=[edit]).copies
    return copies[0].text if copies else ""


def why_not(text: str, edit: str) -> str:
    return plant(text, edits=[edit]).skipped[0].reason


@pytest.mark.parametrize("seed", range(8))
def test_a_dropped_sentence_is_gone_and_the_rest_stays(seed):
    text = "One thing happened here today. Two things happened there.\nThree people saw it all. Nobody spoke."
    copy = only(text, "dropped", seed)
    left = [part for part in ("One thing", "Two things", "Three people", "Nobody spoke") if part in copy]
    assert len(left) == 3
    assert copy.count(".") == 3


def test_abbreviations_and_initials_do_not_end_sentences():
    text = (
        "It was Dr. J. Smith who came at 3.5 p.m. on Monday. He left, e.g. for lunch, at noon. She stayed on."
    )
    for seed in range(6):
        copy = only(text, "dropped", seed)
        assert copy in (
            text.replace(part, "")
            for part in (
                "It was Dr. J. Smith who came at 3.5 p.m. on Monday. ",
                "He left, e.g. for lunch, at noon. ",
            )
        )


def test_two_sentences_are_too_few_to_drop_one():
    assert why_not("It works well today. It is fast.", "dropped") == "no paragraph has enough sentences"


@pytest.mark.parametrize("seed", range(8))
def test_numbers_change_outside_code_links_versions_and_dates(seed):
    text = (
        "Use `wait 30` and v1.2.3 on 2024-05-06 at 10:30, "
        "see [it](https://a.example/8) and x9. There are 40 of them."
    )
    copy = only(text, "numbers", seed)
    assert re.sub(r"There are \d+ of", "There are 40 of", copy) == text
    assert copy != text


@pytest.mark.parametrize(
    ("number", "after", "form"),
    [
        ("12,500", "", r"\d{1,3}(,\d{3})+"),
        ("3.75", "", r"\d+\.75"),
        ("1999", "", r"(19|20)\d\d"),
        ("98", "%", r"\d{1,2}"),
        ("0", "", r"\d"),
        ("500", "", r"\d+0"),
    ],
)
def test_a_changed_number_keeps_its_form(number, after, form):
    from random import Random

    for seed in range(50):
        new = changed(number, Random(seed), after)
        assert new != number
        assert re.fullmatch(form, new), new


def test_spelled_numbers_change_where_there_are_no_digits():
    assert only("There are three of them, and that is all there is to it.", "numbers").startswith(
        "There are "
    )
    assert "three" not in only("There are three of them, and that is all there is to it.", "numbers")


def test_numbers_of_json_change_and_nothing_else_does():
    text = '{"name": "it\'s 5", "count": 40, "sizes": [1, 2]}'
    planted = plant(text)
    assert [copy.edit for copy in planted.copies] == ["numbers"]
    assert '"it\'s 5"' in planted.copies[0].text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The disk is not full.", "The disk is full."),
        ("You cannot undo this.", "You can undo this."),
        ("It doesn’t matter to the team.", "It does matter to the team."),
        ("They never reply to the mail.", "They always reply to the mail."),
        ("You must restart the server.", "You must not restart the server."),
        ("You can restart the server.", "You cannot restart the server."),
        ("The files have been deleted.", "The files have not been deleted."),
        ("The will of the people, for the `is not` of it.", ""),
        ("Is this the server that is down?", ""),
    ],
)
def test_negations(before, after):
    assert only(before, "negation") == after


def test_a_contradiction_is_added_later_and_nothing_is_removed():
    text = "The server is down for the day.\n\nThat was all there is to it, said one of them."
    copy = only(text, "contradiction")
    assert copy == text.replace("one of them.", "one of them. The server is not down for the day.") or (
        "was not all" in copy
    )


def test_paragraphs_change_places_and_headings_stay():
    text = "# A\n\nFirst.\n\n# B\n\nSecond.\n\n- item\n\nThird."
    for seed in range(10):
        copy = only(text, "shuffled", seed)
        assert re.sub("First|Second|Third", "X", copy) == re.sub("First|Second|Third", "X", text)
        assert sorted(re.findall("First|Second|Third", copy)) == ["First", "Second", "Third"]


@pytest.mark.parametrize("seed", range(6))
def test_removed_steps_leave_no_gap_in_the_numbers(seed):
    copy = only("Do this:\n\n1. Open it\n2. Read it\n3. Close it\n4. Leave\n\nDone.", "steps", seed)
    assert re.findall(r"^(\d)\.", copy, re.MULTILINE) == ["1", "2", "3"]
    assert copy.startswith("Do this:\n\n1. Open it\n")
    assert copy.endswith("\n\nDone.")


def test_items_go_where_there_are_no_steps():
    copy = only("- one\n- two\n- three", "steps")
    assert copy in ("- one\n- three", "- one\n- two")


def test_formatting_breaks_whatever_there_is():
    copy = only(ENGLISH, "formatting")
    assert "\n# " not in f"\n{copy}"
    assert copy.count("```") == 1
    assert "1. Stop the server. 2. Copy" in copy
    assert copy.count("**") == 1
    assert only("One is here.\n\nTwo is here.\n\nThree is here.", "formatting") == (
        "One is here. Two is here. Three is here."
    )


def test_reflow_leaves_verse_and_hard_breaks_alone():
    verse = "Shall I compare thee\nto a summer's day\nthou art more lovely"
    hard = (
        "This line ends with two spaces and is as long as it needs to be  \nso that it is not joined to this."
    )
    assert only(verse, "reflowed") == ""
    assert only(hard, "reflowed") == ""
    assert "\n" in only("word " * 60 + "end.", "reflowed")


def test_synonyms_keep_capitals_and_leave_articles_right():
    assert only("Often it is big for the team. A big one is it, and an entirely new one.", "synonyms") == (
        "Frequently it is large for the team. A big one is it, and an entirely new one."
    )


@pytest.mark.parametrize(("text", "edits"), [(GERMAN, 7), (CHINESE, 5)])
def test_other_languages_skip_edits_that_need_english(text, edits):
    planted = plant(text)
    reasons = {skip.edit: skip.reason for skip in planted.skipped}
    assert {key for key, reason in reasons.items() if reason == NOT_ENGLISH} == {
        key for key, edit in EDITS.items() if edit.english
    }
    assert len(planted.copies) == edits


@pytest.mark.parametrize(
    ("criteria", "hit"),
    [
        ([("completeness", "Completeness"), ("depth", "Depth")], "completeness"),
        ([("k1", "How thorough"), ("k2", "Style")], "k1"),
        ([("clarity", "Clarity")], ""),
        ([("coverage", "Coverage of tasks"), ("cover_letter", "Cover letter")], ""),
        ([("coverage", "Coverage, in depth"), ("covers", "Covers all")], "coverage"),
        ([], ""),
    ],
)
def test_the_criterion_that_a_dropped_sentence_hits(criteria, hit):
    copy = plant(ENGLISH, edits=["dropped"], criteria=criteria).copies[0]
    assert copy.criterion == hit


def test_harmless_copies_hit_no_criterion():
    criteria = [("structure", "Structure"), ("completeness", "Completeness")]
    planted = plant(ENGLISH, edits=["typography", "padding"], criteria=criteria)
    assert [copy.criterion for copy in planted.copies] == ["", ""]


@pytest.mark.parametrize(
    "text",
    [
        "The word is here. " * 60_000,
        "a" * 1_000_000,
        "`" * 500_000 + "x",
        "](" * 400_000,
        "<a " * 300_000,
        '"' * 500_000,
        "1,000" * 200_000,
        "1. x\n" * 200_000,
        "www." * 250_000,
        "a@" * 400_000,
        "$$ \\( " * 150_000,
        ". " * 400_000,
        "\n" * 1_000_000 + "x",
        "# \n" * 300_000,
        "[" * 500_000 + "1",
        "> " * 300_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_huge_texts_take_little_time(text):
    began = time.process_time()
    plant(text)
    assert time.process_time() - began < 5
