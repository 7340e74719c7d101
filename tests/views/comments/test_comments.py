"""One comment: its URL, edits, deletion, history, mentions, and hostile content."""

import pytest

from refinement.models import Comment, Membership, User
from refinement.services.reviews.comments import comment_delete, comment_edit
from tests.views.comments.given import HTMX, address, answer, harm_in, quote, say, talked_run

pytestmark = pytest.mark.django_db
HOSTILE = (
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "<a href='data:text/html,x'>x</a>",
    "\u202egnp.exe",
    "a\x00b",
    "{{ 7|add:7 }}{% now 'Y' %}",
    '"><svg/onload=alert(1)>',
)


@pytest.fixture
def run(project):
    return talked_run(project)


@pytest.fixture
def mine(run, viewer):
    return say(run, viewer, "My *first* words.", "round", 2)


def path(comment, rest=""):
    return address(comment.run, f"comments/{comment.pk}/{rest}")


def page(client, run, rest=""):
    return client.get(address(run, rest)).content.decode()


# --- its address ----------------------------------------------------------------------------------
def test_its_address_leads_to_its_round_and_thread(as_editor, mine):
    response = as_editor.get(path(mine))
    assert response.headers["Location"] == address(
        mine.run, f"rounds/2/?thread={mine.thread_id}#comment-{mine.pk}"
    )


def test_a_comment_on_the_run_is_on_the_runs_page(as_editor, run, viewer):
    comment = say(run, viewer)
    assert as_editor.get(path(comment)).headers["Location"].startswith(address(run, "?thread="))


# --- changed --------------------------------------------------------------------------------------
def test_its_author_changes_it_on_a_page_of_its_own(as_viewer, as_editor, mine):
    form = as_viewer.get(path(mine, "edit/")).content.decode()
    assert "My *first* words.</textarea>" in form
    assert 'name="version" value="1"' in form
    response = as_viewer.post(path(mine, "edit/"), {"body": "My second.", "version": "1"})
    assert response.headers["Location"].endswith(f"#comment-{mine.pk}")
    text = page(as_editor, mine.run)
    assert "My second." in text
    assert ">edited</a>" in text


def test_htmx_gets_the_form_and_then_the_threads(as_viewer, mine):
    form = as_viewer.get(path(mine, "edit/"), headers=HTMX).content.decode()
    assert "<html" not in form
    text = as_viewer.post(
        path(mine, "edit/"), {"body": "Other.", "version": "1", "round": "2"}, headers=HTMX
    ).content.decode()
    assert 'id="run-talk"' in text
    assert "Other." in text


@pytest.mark.parametrize("htmx", [True, False])
def test_who_changed_it_elsewhere_sees_both_and_chooses(as_viewer, viewer, mine, htmx):
    comment_edit(comment=mine, body="From the other window.", version=1, user=viewer)
    headers = HTMX if htmx else {}
    told = as_viewer.post(path(mine, "edit/"), {"body": "From here.", "version": "1"}, headers=headers)
    text = told.content.decode()
    assert told.status_code == 409
    assert "edited this comment in another window" in text
    assert "From the other window." in text
    assert "From here.</textarea>" in text
    assert 'name="version" value="2"' in text
    # On an open page the form comes back in its own place.
    assert told.headers.get("HX-Retarget", "") == (f"#edit-{mine.pk}" if htmx else "")
    as_viewer.post(path(mine, "edit/"), {"body": "From here.", "version": "2"}, headers=headers)
    mine.refresh_from_db()
    assert mine.body == "From here."


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"body": ""}, "Enter a comment."),
        ({"body": "x" * 20_001}, "At most 20,000 characters"),
    ],
)
def test_what_is_wrong_is_said_beside_it(as_viewer, mine, fields, words):
    response = as_viewer.post(path(mine, "edit/"), {"version": "1"} | fields)
    assert response.status_code == 422
    assert words in response.content.decode()


@pytest.mark.parametrize("version", ["", "x", "0", "99999999999999999999"])
def test_an_edit_without_a_version_changes_nothing(as_viewer, mine, version):
    assert as_viewer.post(path(mine, "edit/"), {"body": "Other.", "version": version}).status_code == 422


def test_nobody_else_changes_it(as_owner, mine):
    assert as_owner.get(path(mine, "edit/")).status_code == 403
    assert as_owner.post(path(mine, "edit/"), {"body": "x", "version": "1"}).status_code == 403


# --- deleted --------------------------------------------------------------------------------------
def test_its_author_deletes_it(as_viewer, viewer, mine):
    answer(mine, viewer)
    told = as_viewer.post(path(mine, "delete/"), follow=True).content.decode()
    assert "Comment deleted." in told
    assert "My <em>first</em>" not in told


def test_an_owner_deletes_it_and_another_member_does_not(as_owner, as_editor, mine):
    assert as_editor.post(path(mine, "delete/")).status_code == 403
    assert as_owner.post(path(mine, "delete/"), headers=HTMX).status_code == 200
    mine.refresh_from_db()
    assert mine.deleted_at is not None


def test_who_deletes_second_is_told(as_owner, viewer, mine):
    comment_delete(comment=mine, user=viewer)
    told = as_owner.post(path(mine, "delete/"), {"round": "2"}, headers=HTMX)
    assert told.status_code == 409
    assert "deleted in the meantime" in told.content.decode()
    assert as_owner.get(path(mine, "edit/")).status_code == 403


# --- history --------------------------------------------------------------------------------------
def test_others_read_what_it_said_before(as_editor, viewer, mine):
    comment_edit(comment=mine, body="Second.", version=1, user=viewer)
    text = as_editor.get(path(mine, "history/")).content.decode()
    assert text.index("Second.") < text.index("My *first* words.")


def test_a_comment_that_was_never_changed_has_no_history(as_editor, mine):
    assert as_editor.get(path(mine, "history/")).status_code == 404


def test_the_words_of_a_deleted_one_are_for_its_author_and_owners(
    as_editor, as_viewer, as_owner, viewer, mine
):
    comment_delete(comment=mine, user=viewer)
    assert as_editor.get(path(mine, "history/")).status_code == 404
    for client in (as_viewer, as_owner):
        assert "My *first* words." in client.get(path(mine, "history/")).content.decode()


def test_another_runs_comment_is_not_found(as_viewer, as_outsider, project, mine):
    other = talked_run(project)
    for rest in ("", "edit/", "history/"):
        assert as_viewer.get(address(other, f"comments/{mine.pk}/{rest}")).status_code == 404
        assert as_outsider.get(path(mine, rest)).status_code == 404
    assert as_viewer.post(address(other, f"comments/{mine.pk}/delete/")).status_code == 404


# --- names under an @ -----------------------------------------------------------------------------
def offered(client, typed):
    return client.get("/p/alpha/mentions/", {"q": typed}).json()["people"]


def test_members_are_offered_by_any_word_of_their_name_or_by_mail(as_viewer, owner, editor, outsider):
    assert offered(as_viewer, "oli") == [{"name": "Olivia Owner", "mail": "olivia", "write": "Olivia Owner"}]
    assert [each["name"] for each in offered(as_viewer, "edi")] == ["Edgar Editor"]
    assert offered(as_viewer, "Otto") == []
    assert offered(as_viewer, "example") == []
    assert len(offered(as_viewer, "")) == 3


def test_two_of_one_name_are_told_apart_by_mail(as_viewer, project):
    for number in (1, 2):
        user = User.objects.create_user(f"sam{number}@example.org", name="Sam Same")
        Membership.objects.create(project=project, user=user, role="viewer")
    assert [each["write"] for each in offered(as_viewer, "sam")] == ["sam1", "sam2"]


@pytest.mark.parametrize("odd", ["%", "_", "'", "x" * 5000, "\u202e", "\\"])
def test_odd_letters_are_no_error(as_viewer, odd):
    assert offered(as_viewer, odd) == []


def test_the_list_is_short(as_viewer, project):
    for number in range(30):
        user = User.objects.create_user(f"n{number}@example.org", name=f"Nora {number}")
        Membership.objects.create(project=project, user=user, role="viewer")
    assert len(offered(as_viewer, "nora")) == 8


# --- nothing in it does harm ----------------------------------------------------------------------
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_names_and_quotations_are_shown_as_text(as_viewer, as_owner, project, owner, hostile):
    owner.name = hostile.replace("\x00", "")[:120]
    owner.save(update_fields=["name"])
    run = talked_run(project)
    run.rounds.filter(number=2).update(candidate=f"Before. {hostile.replace(chr(0), '')} After.")
    first = say(run, owner, hostile, "round", 2)
    quote(run, owner, hostile.replace("\x00", ""), 2, body=f"@{owner.name} {hostile}")
    comment_edit(comment=first, body=f"{hostile} again", version=1, user=owner)
    for text in (
        page(as_viewer, run),
        page(as_viewer, run, "rounds/2/?view=raw"),
        as_viewer.get(path(first, "history/")).content.decode(),
        as_owner.get(path(first, "edit/")).content.decode(),
    ):
        assert harm_in(text) == []
        assert "\x00" not in text
    assert Comment.objects.count() == 2
