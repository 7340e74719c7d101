"""The fate of feedback as a table of verdicts, texts and scores."""

from decimal import Decimal

import pytest

from refinement.ledger import conclude
from refinement.ledger.counting import corrected, counted
from refinement.ledger.types import FATES
from tests.ledger.given import step

RESTORE = "Explain how to restore the database from a backup."
TEXT = "# Guide\n\nDeploy with the script.\n\nWatch the dashboard for errors.\n"
RESTORED = TEXT + "\nTo restore the database, load the newest backup.\n"
OTHER = TEXT + "\nCall the office on Mondays.\n"
NEW = "Something else entirely about gardens, with tulips and roses.\n"
QUOTING = "“Watch the dashboard for errors” names no threshold."


def fates(*steps, noise="0"):
    return [(entry.fate, entry.why) for entry in conclude(steps, noise=Decimal(noise))]


def fate(*steps, noise="0"):
    found = fates(*steps, noise=noise)
    assert len(found) == 1, found
    return found[0][0]


DROPPED = "# Guide\n\nDeploy with the script.\n"
CASES = [
    ("its passage changed and it is gone", (TEXT, "5", RESTORE), (RESTORED, "5", ""), "addressed"),
    ("gone and the score rose, without a word of it", (TEXT, "5", RESTORE), (OTHER, "6", ""), "addressed"),
    ("gone, no change matches, no gain", (TEXT, "5", RESTORE), (OTHER, "5", ""), "overtaken"),
    ("raised again in the same words", (TEXT, "5", RESTORE), (OTHER, "6", RESTORE), "open"),
    ("raised again, passage changed, score held", (TEXT, "5", RESTORE), (RESTORED, "5", RESTORE), "open"),
    ("raised again, passage changed, score fell", (TEXT, "5", RESTORE), (RESTORED, "4", RESTORE), "worse"),
    ("the same text and raised again", (TEXT, "5", RESTORE), (TEXT, "4", RESTORE), "open"),
    ("the same text, the judge forgot", (TEXT, "5", RESTORE), (TEXT, "6", ""), "open"),
    ("another text", (TEXT, "5", RESTORE), (NEW, "5", ""), "overtaken"),
    ("the quoted passage was dropped", (TEXT, "5", QUOTING), (DROPPED, "6", ""), "overtaken"),
    ("it was to be removed", (TEXT, "5", f"Remove this: {QUOTING}"), (DROPPED, "5", ""), "addressed"),
    ("the quoted passage stays as it was", (TEXT, "5", QUOTING), (OTHER, "5", ""), "open"),
]


@pytest.mark.parametrize(
    ("before", "after", "expected"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_two_rounds(before, after, expected):
    one, two = (
        step(number, text, score, issues=[issue] if issue else [])
        for number, (text, score, issue) in enumerate((before, after), 1)
    )
    assert fate(one, two) == expected


def test_other_words_for_the_same_are_recognised():
    again = "It still does not explain how the database is restored from backups."
    assert fate(step(1, TEXT, issues=[RESTORE]), step(2, OTHER, "6", issues=[again])) == "open"
    assert (
        fate(step(1, TEXT, issues=[RESTORE]), step(2, OTHER, "6", issues=["Name the owner."])) == "addressed"
    )


def test_it_came_back_and_says_when():
    rounds = [step(1, TEXT, issues=[RESTORE]), step(2, RESTORED), step(3, OTHER, issues=[RESTORE])]
    assert fates(*rounds) == [("came_back", "Gone in round 2, raised again in round 3.")]


def test_what_takes_two_revisions_is_addressed_in_the_end():
    rounds = [step(1, TEXT, issues=[RESTORE]), step(2, OTHER, issues=[RESTORE]), step(3, RESTORED)]
    assert fates(*rounds) == [
        ("addressed", "Not raised again after round 2."),
        ("addressed", "Round 3 changed its passage, and it was not raised again."),
    ]


def test_an_improvement_goes_by_its_own_criterion():
    said = {"depth": "Explain how to restore the database."}
    one = step(1, TEXT, "5", improvements=said, scores={"depth": "8"})
    fell = step(2, RESTORED, "6", scores={"depth": "7"})
    assert fates(one, fell) == [("worse", "Its passage changed, and Depth fell by 1.")]
    assert fate(one, step(2, RESTORED, "4", scores={"depth": "8"})) == "addressed"
    elsewhere = step(2, RESTORED, "6", improvements={"style": said["depth"]}, scores={"depth": "8"})
    assert fates(one, elsewhere)[0][0] == "addressed"


def test_a_fall_within_the_noise_is_no_fall():
    rounds = [step(1, TEXT, "5", issues=[RESTORE]), step(2, RESTORED, "4.5", issues=[RESTORE])]
    assert fate(*rounds) == "worse"
    assert fate(*rounds, noise="0.5") == "open"


def test_another_judge_is_no_rise_and_no_fall():
    board = step(2, RESTORED, "3", issues=[RESTORE], other_judge=True)
    (entry,) = conclude([step(1, TEXT, issues=[RESTORE]), board])
    assert (entry.fate, entry.raised) == ("open", None)


def test_a_revision_from_an_older_round_overtakes_it():
    rounds = [step(1, TEXT), step(2, OTHER, "4", issues=[RESTORE]), step(3, TEXT + "\nAlso this.\n", base=1)]
    assert fates(*rounds) == [("overtaken", "Round 3 was written from round 1, not from this text.")]
    kept = [*rounds[:2], step(3, RESTORED, base=1)]
    assert fate(*kept) == "addressed"


def test_a_fresh_start_is_compared_with_the_judged_text():
    assert fate(step(1, TEXT, issues=[RESTORE]), step(2, RESTORED, base=None)) == "addressed"


def test_only_what_the_writer_was_sent_is_in_it():
    one = step(1, TEXT, issues=[RESTORE, "Name the owner."], asi="Add a table of contents.")
    found = conclude([one, step(2, RESTORED, told=[RESTORE])])
    assert [entry.item.key for entry in found] == [(1, "issue", 0)]


def test_nothing_is_concluded_without_a_verdict():
    one = step(1, TEXT, issues=[RESTORE])
    assert conclude([one]) == ()
    assert conclude([one, step(2, RESTORED, asked_by=None)]) == ()  # a person's own edit
    (entry,) = conclude([one, step(2, RESTORED, None)])
    assert (entry.fate, entry.raised) == ("", None)


def test_texts_that_are_too_long_are_judged_by_verdicts_and_scores(monkeypatch):
    monkeypatch.setattr("refinement.ledger.revisions.MOST_CHARS", 50)
    assert fate(step(1, TEXT, issues=[RESTORE]), step(2, RESTORED, "6")) == "addressed"
    assert fate(step(1, TEXT, issues=[RESTORE]), step(2, RESTORED, "5")) == "overtaken"


def test_counts_follow_corrections():
    one = step(
        1, TEXT, "5", issues=[RESTORE, "Name the owner of the service."], asi="Explain the restore steps."
    )
    found = conclude([one, step(2, RESTORED, "6", issues=["Name the owner of the service."])])
    counts = counted(found)
    assert (counts.suggestions, counts.suggestions_followed, counts.suggestions_raised) == (1, 1, 1)
    assert (counts.items, counts.items_followed, counts.items_raised) == (3, 2, 2)
    changed = counted(corrected(found, {(1, "issue", 1): "addressed", (1, "suggestion", 0): "overtaken"}))
    assert (changed.suggestions_followed, changed.items_followed) == (0, 2)
    assert {entry.fate for entry in found} <= set(FATES)


def test_many_rounds_with_many_issues_take_little_time():
    issues = [
        f"Point {n}: the part about item {n * 7} lacks reason {n * 13} and place {n}." for n in range(60)
    ]
    rounds = [step(n, f"{TEXT}\nVersion {n}.\n", issues=issues) for n in range(1, 41)]
    found = conclude(rounds)
    assert len(found) == 39 * 40  # bounded: 40 of each round
    assert {entry.fate for entry in found} == {"open"}
