"""Which feedback asked for a change: matched by words, otherwise left open."""

import pytest

from refinement.diffing import Change, Request, matching_request

PORT = Request("issue 1", "The port on which the service listens is missing.")
LOADS = Request("issue 2", "“Fine for most loads” is not supported.")
DATABASE = Request("ASI", "Say what happens without `INGEST_DB`.")
ALL = (PORT, LOADS, DATABASE)


@pytest.mark.parametrize(
    ("before", "after", "asked"),
    [
        ("", "It listens on port 8080.", PORT),
        ("It should be fine for most loads.", "", LOADS),
        ("", "Set INGEST_DB first.", DATABASE),
        ("", "The weather is nice today.", None),
        ("the", "a", None),
        ("", "", None),
        ("", "The service is good.", None),
    ],
)
def test_a_change_is_traced_by_its_words(before, after, asked):
    assert matching_request(Change(1, before, after), ALL) == asked


def test_two_requests_alike_are_both_named():
    twins = (
        Request("issue 1", "Explain the rollback command."),
        Request("issue 2", "Explain the rollback command."),
    )
    found = matching_request(Change(1, "", "The rollback command is this."), twins)
    assert found.label == "issue 1 or issue 2"


def test_what_was_not_sent_matches_only_where_nothing_else_does():
    unsent = Request("not sent", "Give a worked example of the rollback command.", sent=False)
    change = Change(1, "", "The rollback command restores the image.")
    assert matching_request(change, (*ALL, unsent)) == unsent
    sent = Request("issue 4", "The rollback command is missing.")
    assert matching_request(change, (unsent, sent)) == sent


def test_without_requests_nobody_asked():
    assert matching_request(Change(1, "", "Anything."), ()) is None
