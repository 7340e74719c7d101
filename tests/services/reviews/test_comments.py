"""Comments: stored data, permissions, concurrent changes and notifications."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from refinement.anchoring import Quotation
from refinement.models import AuditEntry, Comment, CommentEdit, Event, Notice, Thread, ThreadPlace
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import (
    MOST_CHARS,
    CommentConflict,
    comment_add,
    comment_delete,
    comment_edit,
    thread_open,
    thread_resolve,
)
from tests.execution.lifecycle.given import at_once
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
RUN = Spot(ThreadPlace.RUN)
TEXT = "# Title\n\nStart **the container** first.\n\nThen watch it."


@pytest.fixture
def run(project):
    return finished_run(project, ["7", "8"], candidates=[TEXT, TEXT.replace("first", "at last")])


@pytest.fixture
def comment(run, editor):
    return thread_open(run=run, spot=RUN, body="Hello.", user=editor)


def passage(words, number=1, **around):
    return Spot(ThreadPlace.PASSAGE, number, quotation=Quotation(words, **around))


def told():
    return sorted(Notice.objects.values_list("user__name", "kind"))


# --- opening ------------------------------------------------------------------------------------
def test_a_thread_has_a_place_a_first_comment_an_event_and_an_entry(run, editor):
    comment = thread_open(run=run, spot=Spot(ThreadPlace.ROUND, 2), body=" Hello\r\nyou ", user=editor)
    thread = comment.thread
    assert (thread.place, thread.round_number, thread.project) == ("round", 2, run.project)
    assert (comment.body, comment.author, comment.author_name) == ("Hello\nyou", editor, "Edgar Editor")
    event = Event.objects.filter(run=run).last()
    assert (event.kind, event.data) == ("commented", {"thread": thread.pk, "comment": comment.pk})
    entry = AuditEntry.objects.filter(action="comment.create").get()
    assert "Hello" not in str(entry.after)


@pytest.mark.parametrize(
    "spot",
    [
        Spot(ThreadPlace.CRITERION, 1, key="depth"),
        Spot(ThreadPlace.ISSUE, 1, position=1),
        Spot(ThreadPlace.ASI, 2),
        Spot(ThreadPlace.RUN, 2, key="ignored"),
    ],
)
def test_every_place_that_is_there_can_be_talked_about(run, editor, spot):
    thread = thread_open(run=run, spot=spot, body="x", user=editor).thread
    assert thread.place == spot.place


@pytest.mark.parametrize(
    ("spot", "field"),
    [
        (Spot(ThreadPlace.ROUND, 9), "about"),
        (Spot(ThreadPlace.ROUND, None), "about"),
        (Spot(ThreadPlace.CRITERION, 1, key="beauty"), "about"),
        (Spot(ThreadPlace.ISSUE, 1, position=2), "about"),
        (Spot(ThreadPlace.ISSUE, 1), "about"),
        (passage(" "), "quote"),
        (passage("never written anywhere in it"), "quote"),
        (passage("x" * 2001), "quote"),
    ],
)
def test_a_place_that_is_not_there_is_refused_beside_its_field(run, editor, spot, field):
    with pytest.raises(ValidationError) as refused:
        thread_open(run=run, spot=spot, body="x", user=editor)
    assert list(refused.value.message_dict) == [field]
    assert Thread.objects.count() == 0


def test_no_direction_no_thread_on_it(run, editor):
    run.rounds.get(number=1).verdicts.update(asi="")
    with pytest.raises(ValidationError):
        thread_open(run=run, spot=Spot(ThreadPlace.ASI, 1), body="x", user=editor)


def test_a_passage_is_kept_in_the_words_of_the_source(run, editor):
    thread = thread_open(run=run, spot=passage("Start the container first"), body="x", user=editor).thread
    assert thread.quote == "Start **the container** first"
    assert TEXT[thread.quote_start :].startswith(thread.quote)
    assert thread.quote_before.endswith("# Title\n\n")
    assert thread.quote_after.startswith(".\n\nThen")


@pytest.mark.parametrize("body", ["", "  \n\t", "x" * (MOST_CHARS + 1), "x" * 1_000_000])
def test_nothing_and_too_much_are_refused(run, editor, body):
    with pytest.raises(ValidationError):
        thread_open(run=run, spot=RUN, body=body, user=editor)


def test_what_no_column_holds_is_replaced(run, editor):
    comment = thread_open(run=run, spot=RUN, body="a\x00b \ud800 \u202e", user=editor)
    comment.refresh_from_db()
    assert comment.body == "a\ufffdb ? \u202e"


# --- mentions and replies ------------------------------------------------------------------------
def test_a_mention_is_kept_and_told_once(run, editor, viewer, owner, outsider):
    comment = thread_open(run=run, spot=RUN, body="@Vera Viewer @vera @Otto Outsider @Nobody", user=editor)
    assert list(comment.mentioned.all()) == [viewer]
    assert told() == [("Vera Viewer", "mention")]


def test_those_who_talked_there_hear_of_an_answer_and_the_mentioned_only_of_that(
    run, comment, viewer, owner, editor
):
    comment_add(thread=comment.thread, body="An answer.", user=viewer)
    assert told() == [("Edgar Editor", "reply")]
    Notice.objects.all().delete()
    comment_add(thread=comment.thread, body="@edgar see", user=owner)
    assert told() == [("Edgar Editor", "mention"), ("Vera Viewer", "reply")]


def test_a_mention_that_an_edit_adds_is_told_and_the_others_are_not_told_again(run, viewer, owner, editor):
    comment = thread_open(run=run, spot=RUN, body="@vera", user=editor)
    comment_edit(comment=comment, body="@vera @olivia", version=1, user=editor)
    assert told() == [("Olivia Owner", "mention"), ("Vera Viewer", "mention")]


def test_nobody_hears_of_their_own_mention(run, editor):
    thread_open(run=run, spot=RUN, body="@edgar", user=editor)
    assert told() == []


# --- changing ------------------------------------------------------------------------------------
def test_an_edit_keeps_what_was_said_before(comment, editor):
    comment_edit(comment=comment, body="Better.", version=1, user=editor)
    comment_edit(comment=comment, body="Best.", version=2, user=editor)
    comment.refresh_from_db()
    assert (comment.body, comment.version) == ("Best.", 3)
    assert comment.edited_at is not None
    assert list(CommentEdit.objects.values_list("version", "body")) == [(1, "Hello."), (2, "Better.")]
    assert AuditEntry.objects.filter(action="comment.edit").count() == 2


def test_the_same_words_are_no_edit(comment, editor):
    comment_edit(comment=comment, body="Hello. ", version=1, user=editor)
    comment.refresh_from_db()
    assert (comment.version, comment.edited_at) == (1, None)


def test_an_edit_of_an_older_version_is_told_and_loses_nothing(comment, editor):
    comment_edit(comment=comment, body="First.", version=1, user=editor)
    with pytest.raises(CommentConflict, match="edited this comment in another window"):
        comment_edit(comment=comment, body="Second.", version=1, user=editor)
    comment.refresh_from_db()
    assert comment.body == "First."


def test_only_its_author_changes_a_comment(comment, owner):
    with pytest.raises(PermissionDenied):
        comment_edit(comment=comment, body="Mine now.", version=1, user=owner)


def test_an_author_or_an_owner_deletes_and_its_words_are_in_the_history_alone(comment, editor, viewer, owner):
    with pytest.raises(PermissionDenied):
        comment_delete(comment=comment, user=viewer)
    comment_delete(comment=comment, user=owner, is_owner=True)
    comment.refresh_from_db()
    assert comment.deleted_at is not None
    assert comment.body == ""
    assert CommentEdit.objects.get().body == "Hello."
    with pytest.raises(CommentConflict, match="deleted"):
        comment_edit(comment=comment, body="Back.", version=1, user=editor)
    with pytest.raises(CommentConflict, match="deleted"):
        comment_delete(comment=comment, user=editor)


def test_any_member_resolves_and_the_second_is_told_who_was_first(comment, viewer, owner):
    thread_resolve(thread=comment.thread, user=viewer)
    with pytest.raises(CommentConflict, match="Vera Viewer has already resolved this thread"):
        thread_resolve(thread=comment.thread, user=owner)
    thread_resolve(thread=comment.thread, user=owner, resolved=False)
    with pytest.raises(CommentConflict, match="already been reopened"):
        thread_resolve(thread=comment.thread, user=viewer, resolved=False)
    comment.thread.refresh_from_db()
    assert (comment.thread.resolved_at, comment.thread.resolved_by) == (None, None)
    actions = AuditEntry.objects.filter(object_type="thread").order_by("id")
    assert list(actions.values_list("action", flat=True)) == ["thread.resolve", "thread.reopen"]


@pytest.mark.django_db(transaction=True)
def test_two_who_resolve_at_the_same_moment_are_one_and_one_who_is_told(project, owner, viewer, run, editor):
    for _ in range(4):
        thread = thread_open(run=run, spot=RUN, body="x", user=editor).thread
        results = at_once(
            lambda thread=thread: thread_resolve(thread=thread, user=owner),
            lambda thread=thread: thread_resolve(thread=thread, user=viewer),
        )
        assert sorted(type(result).__name__ for result in results) == ["CommentConflict", "Thread"]


@pytest.mark.django_db(transaction=True)
def test_two_edits_at_the_same_moment_lose_no_words(project, run, editor):
    for _ in range(4):
        comment = thread_open(run=run, spot=RUN, body="Old.", user=editor)
        results = at_once(
            lambda comment=comment: comment_edit(comment=comment, body="One.", version=1, user=editor),
            lambda comment=comment: comment_edit(comment=comment, body="Two.", version=1, user=editor),
        )
        assert sorted(type(result).__name__ for result in results) == ["Comment", "CommentConflict"]
        assert Comment.objects.get(pk=comment.pk).version == 2
        assert CommentEdit.objects.filter(comment=comment).count() == 1
