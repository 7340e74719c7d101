"""Who wrote each passage."""

from refinement.diffing import Request
from refinement.ledger import blame
from refinement.ledger.passages import MOST_CHARS
from tests.ledger.given import step

FIRST = "# Guide\n\nDeploy with the script. Watch the dashboard for errors.\n\nThen rest.\n"
SECOND = FIRST.replace("Then rest.", "To restore the database, load the newest backup. Then rest.")
ASKED = Request("issue 1", "Explain how to restore the database from a backup.")


def told(steps, number, requests=None):
    found = blame(steps, number, requests or {})
    assert "".join(passage.text for passage in found.passages) == steps[number - 1].text
    return [
        (passage.text.strip(), passage.round, passage.asked.label if passage.asked else "")
        for passage in found.passages
    ]


def test_a_sentence_belongs_to_the_round_that_wrote_it_and_what_asked_for_it():
    found = told([step(1, FIRST), step(2, SECOND)], 2, {2: [ASKED]})
    assert found == [
        ("# Guide\n\nDeploy with the script. Watch the dashboard for errors.", 1, ""),
        ("To restore the database, load the newest backup.", 2, "issue 1"),
        ("Then rest.", 1, ""),
    ]


def test_a_small_edit_and_a_move_keep_the_writer():
    third = SECOND.replace("newest backup", "newest backups")
    moved = (
        third.replace("Watch the dashboard for errors.", "").rstrip() + " Watch the dashboard for errors.\n"
    )
    found = told([step(1, FIRST), step(2, SECOND), step(3, third), step(4, moved)], 4)
    assert {number for _, number, _ in found} == {1, 2}
    assert found[-1][1] == 1


def test_what_an_abandoned_round_wrote_is_not_blamed():
    third = FIRST.replace("Then rest.", "Call the owner before the weekend. Then rest.")
    found = told([step(1, FIRST), step(2, SECOND), step(3, third, base=1)], 3)
    assert {number for _, number, _ in found} == {1, 3}


def test_a_fresh_start_is_followed_back_to_the_round_before():
    found = told([step(1, FIRST), step(2, SECOND, base=None)], 2)
    assert {number for _, number, _ in found} == {1, 2}


def test_one_round_is_one_passage():
    assert told([step(1, FIRST)], 1) == [(FIRST.strip(), 1, "")]
    assert told([step(1, "\n\n  \n")], 1) == [("", 1, "")]


def test_huge_texts_are_not_followed_back():
    found = blame([step(1, "a" * MOST_CHARS), step(2, "b")], 2, {})
    assert found.cut
    assert [passage.round for passage in found.passages] == [2]


def test_a_text_of_other_sentences_is_bounded(monkeypatch):
    monkeypatch.setattr("refinement.ledger.passages.MOST_PAIRS", 4)
    found = told([step(1, FIRST), step(2, SECOND.replace("Deploy", "Roll out"))], 2)
    assert found[0][1] == 1


def test_a_paragraph_is_matched_as_a_whole_and_each_paragraph_by_itself():
    backup = "Load the newest backup.\nThen restore the tables."
    second = f"{FIRST}\n{backup}\n\nCall Ada, who owns the service.\n"
    requests = [ASKED, Request("issue 2", "Name who owns the service.")]
    found = told([step(1, FIRST), step(2, second)], 2, {2: requests})
    assert found[1:] == [
        (backup, 2, "issue 1"),
        ("Call Ada, who owns the service.", 2, "issue 2"),
    ]
