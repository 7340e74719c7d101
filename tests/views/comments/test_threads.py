"""Threads on a run's page: their place; start, reply and resolve, with and without htmx."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import Comment, Instruction, Membership, Thread, User
from refinement.selectors.reviews import comments
from refinement.services.reviews.comments import comment_delete, thread_resolve
from tests.views.comments.given import HTMX, SECOND, address, answer, quote, say, talked_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    return talked_run(project)


def page(client, run, rest=""):
    response = client.get(address(run, rest))
    assert response.status_code == 200
    return response.content.decode()


def new(client, run, htmx=False, **fields):
    given = {"round": "2", "about": "round", "body": "A *first* word."} | fields
    return client.post(address(run, "threads/"), given, headers=HTMX if htmx else {})


# --- shown ---------------------------------------------------------------------------------------
def test_a_page_without_comments_offers_the_form(as_viewer, run):
    text = page(as_viewer, run)
    assert 'placeholder="Comment on round 2, @ to mention"' in text
    assert "<article" not in text
    assert "data-to-talk" not in text
    assert "at most 20,000 characters" in text


def test_threads_of_the_round_and_of_the_run_are_shown_and_those_of_others_are_not(as_viewer, run, editor):
    say(run, editor, "About the run.")
    say(run, editor, "About round two.", "round", 2)
    say(run, editor, "About round three.", "round", 3)
    text = page(as_viewer, run)
    assert "About the run." in text
    assert "About round two." in text
    assert "About round three." not in text
    assert "About round three." in page(as_viewer, run, "rounds/3/")


def test_open_passages_of_other_rounds_say_whether_they_are_still_there(as_viewer, run, editor):
    quote(run, editor, "runs in a container and reads its settings", 1)
    assert "This passage is not in this round’s text." in page(as_viewer, run, "rounds/3/")
    assert "in a container" in page(as_viewer, run, "rounds/3/")  # the quotation is still shown
    assert "The passage has changed; it was at about" in page(as_viewer, run, "rounds/2/")
    own = page(as_viewer, run, "rounds/1/")
    assert "The passage has changed" not in own
    assert "is not in this round" not in own


def test_a_passage_is_marked_at_its_line_and_leads_to_its_thread(as_viewer, run, editor):
    thread = quote(run, editor, "Watch the log until it says ready", 2).thread
    text = page(as_viewer, run, "rounds/2/?view=raw")
    line = SECOND.split("\n").index("Watch the log until it says *ready*.") + 1
    marked = re.search(rf'id="r2-L{line}".*', text)[0]
    assert f'href="#thread-{thread.pk}"' in marked
    assert text.count("line-thread") == 1


def test_counts_stand_on_rounds_and_open_threads_in_the_pane(as_viewer, run, editor):
    first = say(run, editor, "x", "round", 2)
    answer(first, editor)
    text = page(as_viewer, run)
    shown = re.findall(r'data-talk-count="2"> <b>(\d+)</b>', text)
    assert shown == ["2"]
    assert "<span data-open-count>1 open comment</span>" in text
    assert re.search(r'data-talk-count="1" hidden', text)


def test_another_round_brings_its_threads_along(as_viewer, run, editor):
    say(run, editor, "About round three.", "round", 3)
    part = as_viewer.get(address(run, "rounds/3/"), headers=HTMX).content.decode()
    assert part.count('id="run-talk"') == 1
    assert "About round three." in part


VIEWS = ("", "?view=raw", "?view=changes", "?view=start", "?view=sides", "?view=calls")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("headers", [{}, HTMX | {"HX-Target": "round-text"}])
def test_every_view_of_a_round_shows_its_threads(as_viewer, run, editor, view, headers):
    say(run, editor, "About round two.", "round", 2)
    quote(run, editor, "Watch the log", 2, body="Which log?")
    text = as_viewer.get(address(run, f"rounds/2/{view}"), headers=headers).content.decode()
    assert text.count("About round two.") == 1
    assert text.count("Which log?") == 1
    assert 'id="talk-new"' in text
    assert ("<html" in text) is not headers


def test_threads_on_passages_stand_beside_the_text_in_its_order(as_viewer, run, editor):
    quote(run, editor, "Watch the log", 2, body="The later one.")
    quote(run, editor, "The service", 2, body="The earlier one.")
    text = page(as_viewer, run, "rounds/2/")
    beside, below = text.index('id="talk-margin"'), text.index('id="run-talk"')
    assert beside < text.index("The earlier one.") < text.index("The later one.") < below


def test_a_comment_becomes_an_instruction(as_editor, as_viewer, run, editor):
    thread = quote(run, editor, "Watch the log", 2, body="Which log?").thread
    path = address(run, f"threads/{thread.pk}/instruct/")
    assert "Add as instruction" in page(as_editor, run, "rounds/2/")
    assert "Add as instruction" not in page(as_viewer, run, "rounds/2/")
    told = as_editor.post(path, {"round": "2"}, headers=HTMX)
    assert "Added to the instructions for the next round." in told.content.decode()
    given = Instruction.objects.get()
    assert (given.text, given.author) == ("About “Watch the log”: Which log?", editor)
    again = as_editor.post(path, follow=True)
    assert "already has this instruction" in again.content.decode()
    assert Instruction.objects.count() == 1


def test_a_run_without_rounds_can_be_talked_about(as_viewer, project, editor):
    run = talked_run(project)
    run.rounds.all().delete()
    say(run, editor, "Why nothing?")
    text = page(as_viewer, run)
    assert "Why nothing?" in text
    assert new(as_viewer, run, round="", about="run").status_code == 302


def test_a_deleted_comment_leaves_its_place_and_a_thread_without_words_is_gone(as_viewer, run, editor):
    first = say(run, editor, "Secret one.")
    answer(first, editor, "Still here.")
    comment_delete(comment=first, user=editor)
    alone = say(run, editor, "Alone.")
    comment_delete(comment=alone, user=editor)
    text = page(as_viewer, run)
    assert "Secret one." not in text
    assert "This comment was deleted." in text
    assert "Still here." in text
    assert f"thread-{alone.thread_id}" not in text


# --- the page stays the same size -----------------------------------------------------------------
def crowd(project, count):
    people = [User(email=f"p{number}@example.org", name=f"Person {number}") for number in range(count)]
    User.objects.bulk_create(people)
    people = list(User.objects.filter(email__startswith="p"))
    Membership.objects.bulk_create([Membership(project=project, user=user, role="viewer") for user in people])
    return people


def queries(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as captured:
        response = client.get(path)
    assert response.status_code == 200
    return len(captured), len(response.content)


def test_five_hundred_comments_of_twenty_people_cost_no_query_and_little_room(
    as_viewer, run, project, editor
):
    say(run, editor, "@Vera Viewer one", "round", 2)
    quote(run, editor, "Watch the log", 1)
    few, small = queries(as_viewer, address(run))
    people = crowd(project, 20)
    threads = [
        say(run, people[number % 20], f"Thread {number} @Person 3", "round", 2).thread for number in range(60)
    ]
    rows = [
        Comment(thread=thread, run=run, author=people[n % 20], author_name="x", body=f"**Words** {n} " * 20)
        for n in range(8)
        for thread in threads
    ]
    Comment.objects.bulk_create(rows)
    assert Comment.objects.count() > 500
    many, large = queries(as_viewer, address(run))
    assert many == few
    assert large < small + 400_000
    text = page(as_viewer, run)
    assert text.count('class="comment"') <= 10 * 3
    assert "Show all threads" in text
    assert "Show 6 earlier comments" in text
    everything, _ = queries(as_viewer, address(run, "?all=1"))
    assert everything == few
    assert page(as_viewer, run, "?all=1").count("<article") == 62


def test_all_threads_have_their_newest_comments_and_the_page_an_end(as_viewer, run, editor, monkeypatch):
    monkeypatch.setattr(comments, "ALL_COMMENTS", 10)
    quiet, loud = (say(run, editor, f"{word} begins.", "round", 2) for word in ("Quiet", "Loud"))
    for number in range(8):
        answer(quiet, editor, f"Quiet {number}.")
    for number in range(12):
        answer(loud, editor, f"Loud {number}.")
    text = page(as_viewer, run, "?all=1")
    assert text.count('class="comment"') == 10 + 3
    assert "Show 3 earlier comments" in text  # of Loud, whose newest ten are there
    assert "Show 6 earlier comments" in text  # of Quiet, whose newest three are
    assert "Quiet 5." in text
    assert "Quiet 4." not in text
    assert page(as_viewer, run, f"?all=1&thread={quiet.thread_id}").count("Quiet ") == 9


def test_the_thread_asked_for_is_whole_and_first(as_viewer, run, editor):
    old = say(run, editor, "The oldest.", "round", 2)
    for number in range(9):
        answer(old, editor, f"Answer {number}.")
    for number in range(30):
        say(run, editor, f"Later {number}.", "round", 2)
    assert "The oldest." not in page(as_viewer, run)
    text = page(as_viewer, run, f"rounds/2/?thread={old.thread_id}")
    assert "The oldest." in text
    assert text.index("The oldest.") < text.index("Later 29.")
    elsewhere = say(run, editor, "In another round.", "round", 3)
    assert "In another round." in page(as_viewer, run, f"rounds/2/?thread={elsewhere.thread_id}")


def test_odd_addresses_are_no_error(as_viewer, run):
    for odd in (
        "?thread=x",
        "?thread=99999999999999999999999",
        "?thread=5&all=2",
        "?about=<b>",
        "?about=issue:99",
    ):
        assert as_viewer.get(address(run, odd)).status_code == 200, odd


# --- opened --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({}, ("round", 2, "", None)),
        ({"about": "run"}, ("run", None, "", None)),
        ({"about": "criterion:depth"}, ("criterion", 2, "depth", None)),
        ({"about": "issue:1"}, ("issue", 2, "", 1)),
        ({"about": "asi"}, ("asi", 2, "", None)),
        ({"about": "passage", "quote": "it says ready"}, ("passage", 2, "", None)),
        ({"about": "round", "quote": "it says ready"}, ("passage", 2, "", None)),
    ],
)
def test_every_place_by_a_plain_form(as_viewer, run, fields, place):
    response = new(as_viewer, run, **fields)
    thread = Thread.objects.get()
    assert (thread.place, thread.round_number, thread.key, thread.position) == place
    comment = thread.comments.get()
    round_part = "" if place[0] == "run" else "rounds/2/"
    assert response.status_code == 302
    assert response.headers["Location"] == address(
        run, f"{round_part}?thread={thread.pk}#comment-{comment.pk}"
    )


def test_htmx_gets_the_threads_alone(as_viewer, run):
    response = new(as_viewer, run, htmx=True)
    text = response.content.decode()
    assert response.status_code == 200
    assert "<em>first</em>" in text
    assert 'id="run-talk"' in text
    assert "<html" not in text
    assert 'id="run-head"' not in text


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"body": " "}, "Enter a comment."),
        ({"body": "x" * 20_001}, "At most 20,000 characters"),
        ({"body": "x" * 1_000_000}, "At most 20,000 characters"),
        ({"about": "criterion:beauty"}, "Select a valid choice"),
        ({"about": ""}, "Choose a subject."),
        ({"about": "passage"}, "Quote the passage you want to comment on."),
        ({"quote": "never written"}, "This passage is not in the round&#x27;s text."),
        ({"quote": "y" * 2001}, "Quote at most 2,000 characters."),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(as_viewer, run, fields, words, htmx):
    response = new(as_viewer, run, htmx=htmx, **fields)
    text = response.content.decode()
    assert response.status_code == 422
    assert words in text
    assert ("<html" in text) is not htmx
    if len(fields.get("body", "A *first* word.").strip()) in range(1, 1000):
        assert "A *first* word.</textarea>" in text
    assert Thread.objects.count() == 0


def test_a_round_that_is_not_there_is_not_found(as_viewer, run):
    assert new(as_viewer, run, round="9").status_code == 404
    assert as_viewer.get(address(run, "threads/?round=9"), headers=HTMX).status_code == 404


def test_without_htmx_the_threads_are_on_the_round(as_viewer, run):
    assert as_viewer.get(address(run, "threads/?round=3")).headers["Location"] == address(run, "rounds/3/")
    assert as_viewer.get(address(run, "threads/")).headers["Location"] == address(run)


# --- answered and resolved ------------------------------------------------------------------------
def test_an_answer_stands_below_and_leads_to_itself(as_viewer, run, editor):
    thread = say(run, editor, "Why?", "round", 2).thread
    response = as_viewer.post(address(run, f"threads/{thread.pk}/reply/"), {"body": "Because."})
    comment = thread.comments.last()
    assert response.headers["Location"] == address(run, f"rounds/2/?thread={thread.pk}#comment-{comment.pk}")
    text = as_viewer.post(
        address(run, f"threads/{thread.pk}/reply/"), {"body": "And so."}, headers=HTMX
    ).content.decode()
    assert text.index("Why?") < text.index("Because.") < text.index("And so.")


@pytest.mark.parametrize("htmx", [True, False])
def test_an_answer_that_is_too_long_stays_in_its_form(as_viewer, run, editor, htmx):
    thread = say(run, editor, "Why?", "round", 2).thread
    body = "z" * 20_001
    response = as_viewer.post(
        address(run, f"threads/{thread.pk}/reply/"), {"body": body}, headers=HTMX if htmx else {}
    )
    assert response.status_code == 422
    assert f"{body}</textarea>" in response.content.decode()
    assert thread.comments.count() == 1


def test_any_member_resolves_and_reopens(as_viewer, run, editor):
    thread = say(run, editor, "Why?", "round", 2).thread
    path = address(run, f"threads/{thread.pk}/resolve/")
    assert as_viewer.post(path, {"resolved": "1"}).status_code == 302
    assert "Resolved</b> by <bdi>Vera Viewer</bdi>" in page(as_viewer, run)
    text = as_viewer.post(path, {"resolved": "0"}, headers=HTMX).content.decode()
    assert "thread-open" in text


def test_who_resolves_second_is_told_who_was_first(as_viewer, run, editor, owner):
    thread = say(run, editor, "Why?", "round", 2).thread
    thread_resolve(thread=thread, user=owner)
    path = address(run, f"threads/{thread.pk}/resolve/")
    told = as_viewer.post(path, {"resolved": "1", "round": "2"}, headers=HTMX)
    assert told.status_code == 409
    assert "Olivia Owner has already resolved this thread." in told.content.decode()
    plain = as_viewer.post(path, {"resolved": "1"}, follow=True)
    assert "Olivia Owner has already resolved this thread." in plain.content.decode()


def test_a_thread_of_another_run_or_project_is_not_found(as_viewer, as_outsider, run, project, editor):
    other = say(talked_run(project), editor).thread
    for rest in ("reply/", "resolve/"):
        path = address(run, f"threads/{other.pk}/{rest}")
        assert as_viewer.post(path, {"body": "x"}).status_code == 404
        assert (
            as_outsider.post(address(other.run, f"threads/{other.pk}/{rest}"), {"body": "x"}).status_code
            == 404
        )
