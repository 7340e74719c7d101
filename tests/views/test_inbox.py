"""The inbox: owner, order, read state, number of queries, and notification settings."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from refinement.models import (
    AuditEntry,
    BlindReading,
    Comment,
    Membership,
    Notice,
    NoticeChoice,
    NoticeKind,
)
from refinement.services.reviews.comments import comment_delete
from tests.views.comments.given import answer, harm_in, say, talked_run
from tests.views.comments.test_comments import HOSTILE

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    return talked_run(project)


@pytest.fixture
def mention(run, editor, viewer):
    say(run, editor, "Look at **this**, @Vera Viewer.", "round", 3)
    return Notice.objects.get(user=viewer)


def notices(run, user, count, **fields):
    rows = [
        Notice(user=user, project=run.project, run=run, kind="run_ended", text=f"Notice {n}.", **fields)
        for n in range(count)
    ]
    return Notice.objects.bulk_create(rows)


def page(client, query=""):
    response = client.get(f"/inbox/{query}")
    assert response.status_code == 200
    return response.content.decode()


def listed(text):
    return [int(part.split(".")[0]) for part in text.split("<bdi>Notice ")[1:]]


def test_an_empty_inbox_says_what_will_be_in_it(as_viewer):
    assert "You’re all caught up." in page(as_viewer)
    assert "You’re all caught up." in page(as_viewer, "?show=unread")


def test_it_needs_a_person(anonymous):
    for path in ("/inbox/", "/inbox/1/", "/account/notices/"):
        assert anonymous.get(path).headers["Location"].startswith("/account/login/")


def test_a_mention_stands_there_and_its_link_leads_to_the_comment(as_viewer, mention):
    text = page(as_viewer)
    assert f"Edgar Editor mentioned you in a comment on run {mention.run_id}" in text
    assert "Look at this, @Vera Viewer." in text
    assert 'id="inbox-count">1<' in text
    response = as_viewer.get(f"/inbox/{mention.pk}/")
    comment = mention.comment_id
    assert response.headers["Location"] == f"/p/alpha/runs/{mention.run_id}/comments/{comment}/"
    mention.refresh_from_db()
    assert mention.read_at is not None
    assert 'id="inbox-count" hidden>' in page(as_viewer)


def test_a_notice_about_a_run_leads_to_the_run(as_viewer, run, viewer):
    (row,) = notices(run, viewer, 1)
    assert as_viewer.get(f"/inbox/{row.pk}/").headers["Location"] == f"/p/alpha/runs/{run.pk}/"


def test_a_look_ahead_reads_nothing(as_viewer, mention):
    as_viewer.head(f"/inbox/{mention.pk}/")
    mention.refresh_from_db()
    assert mention.read_at is None


def test_others_notices_are_nobody_elses(as_editor, mention):
    assert as_editor.get(f"/inbox/{mention.pk}/").status_code == 404
    assert as_editor.post(f"/inbox/{mention.pk}/read/").status_code == 404
    assert "You’re all caught up." in page(as_editor)


def test_who_has_left_the_project_sees_and_opens_nothing_of_it(as_viewer, viewer, mention):
    Membership.objects.filter(user=viewer).delete()
    assert "Edgar Editor" not in page(as_viewer)
    assert as_viewer.get(f"/inbox/{mention.pk}/").status_code == 404
    assert 'id="inbox-count" hidden>' in page(as_viewer)


def test_what_is_only_mailed_is_in_no_inbox(as_viewer, run, viewer):
    notices(run, viewer, 1, inbox=False)
    assert "You’re all caught up." in page(as_viewer)


def test_unread_ones_come_first_and_pages_follow_one_another(as_viewer, run, viewer):
    rows = notices(run, viewer, 120)
    Notice.objects.filter(pk__in=[row.pk for row in rows[60:]]).update(read_at="2026-01-01T00:00Z")
    seen, query = [], ""
    for _ in range(8):
        text = page(as_viewer, query)
        seen += listed(text)
        if ">Older<" not in text:
            break
        query = text.split('<footer><a href="/inbox/')[1].split('"')[0].replace("&amp;", "&")
    assert seen == [*range(59, -1, -1), *range(119, 59, -1)]
    assert listed(page(as_viewer, "?show=unread")) == list(range(59, 39, -1))


@pytest.mark.parametrize(
    "odd", ["?after=x", "?after=u", "?after=u99999999999999999999", "?after=r-1", "?show=x"]
)
def test_odd_addresses_begin_at_the_top(as_viewer, run, viewer, odd):
    notices(run, viewer, 2)
    assert listed(page(as_viewer, odd)) == [1, 0]


def test_one_is_marked_read_and_unread_again(as_viewer, mention):
    as_viewer.post(f"/inbox/{mention.pk}/read/", {"read": "1"})
    mention.refresh_from_db()
    assert mention.read_at is not None
    back = as_viewer.post(f"/inbox/{mention.pk}/read/", {"read": "0", "show": "unread"})
    assert back.headers["Location"] == "/inbox/?show=unread"
    mention.refresh_from_db()
    assert mention.read_at is None


def test_all_that_was_there_is_marked_read_and_what_came_since_is_not(as_viewer, run, viewer):
    first = notices(run, viewer, 3)
    (later,) = notices(run, viewer, 1)
    as_viewer.post("/inbox/read/", {"newest": first[-1].pk})
    assert list(Notice.objects.filter(read_at=None)) == [later]
    for odd in ("", "x", "9" * 40):
        assert as_viewer.post("/inbox/read/", {"newest": odd}).status_code == 302
    assert Notice.objects.filter(read_at=None).count() == 1


def test_the_count_ends_at_99(as_viewer, run, viewer):
    notices(run, viewer, 99)
    assert 'id="inbox-count">99<' in page(as_viewer)
    notices(run, viewer, 1)
    assert 'id="inbox-count">99+<' in page(as_viewer)
    assert 'id="inbox-count">99+<' in as_viewer.get("/p/alpha/").content.decode()


def test_the_number_of_queries_does_not_grow(as_viewer, run, viewer, editor):
    def queries():
        with CaptureQueriesContext(connection) as captured:
            page(as_viewer)
        return len(captured)

    say(run, editor, "@vera")
    page(as_viewer)
    few = queries()
    notices(run, viewer, 200)
    for _ in range(5):
        say(run, editor, "@vera")
    assert queries() == few


def test_the_words_of_a_deleted_comment_are_gone_from_it(as_viewer, editor, mention):
    comment_delete(comment=Comment.objects.get(), user=editor)
    text = page(as_viewer)
    assert "mentioned you" in text
    assert "Look at" not in text


def test_who_scores_the_run_blind_is_told_nothing_of_it(as_viewer, viewer, mention):
    BlindReading.objects.create(run=mention.run, reader=viewer, round_number=1)
    text = page(as_viewer)
    assert "which you are scoring blind" in text
    assert "Look at" not in text
    assert "Edgar Editor" not in text


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_words_and_names_are_shown_as_text(as_viewer, project, editor, viewer, hostile):
    editor.name = hostile.replace("\x00", "")[:100]
    editor.save(update_fields=["name"])
    run = talked_run(project, task=hostile.replace("\x00", ""))
    answer(say(run, viewer), editor, f"@vera {hostile}")
    text = page(as_viewer)
    assert harm_in(text) == []
    assert "\x00" not in text
    assert "\u202e" not in text


# --- settings ---------------------------------------------------------------------------------------
def test_everything_is_told_until_somebody_chooses(as_viewer):
    text = as_viewer.get("/account/notices/").content.decode()
    assert text.count("checked") == len(NoticeKind)
    assert "Email is not set up" in text
    assert 'name="mail"' not in text


def test_what_is_chosen_is_kept(as_viewer, viewer, settings):
    settings.MAIL_CONFIGURED = True
    assert as_viewer.get("/account/notices/").content.decode().count("checked") == 2 * len(NoticeKind)
    as_viewer.post("/account/notices/", {"inbox": ["mention", "odd"], "mail": ["review"]})
    chosen = {row.kind: (row.inbox, row.mail) for row in NoticeChoice.objects.filter(user=viewer)}
    assert chosen.pop("mention") == (True, False)
    assert chosen.pop("review") == (False, True)
    assert set(chosen.values()) == {(False, False)}
    assert len(chosen) == len(NoticeKind) - 2
    assert as_viewer.get("/account/notices/").content.decode().count("checked") == 2
    assert AuditEntry.objects.filter(action="person.notices").count() == 1


def test_without_mail_what_was_chosen_for_it_stays(as_viewer, viewer, settings):
    NoticeChoice.objects.create(user=viewer, kind="mention", mail=False)
    as_viewer.post("/account/notices/", {"inbox": ["mention", "reply"]})
    chosen = dict(NoticeChoice.objects.filter(user=viewer).values_list("kind", "mail"))
    assert chosen["mention"] is False
    assert chosen["reply"] is True
