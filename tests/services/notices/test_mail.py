"""Notices by email: at most once each, retried after failures, as plain text."""

from datetime import timedelta
from smtplib import SMTPServerDisconnected

import pytest
from django.core import mail
from django.utils import timezone

from refinement.models import BlindReading, Membership, Notice
from refinement.services.notices.creating import notice_run_asks
from refinement.services.notices.mail import AT_ONCE, MOST_TRIES, mail_is_due, notices_mail
from refinement.services.notices.reading import notice_read
from refinement.services.upkeep import Upkeep
from tests.execution.lifecycle.given import at_once
from tests.views.comments.given import say, talked_run
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def configured(settings):
    settings.MAIL_CONFIGURED = True
    settings.SITE_URL = "https://wiggum.example.org"


@pytest.fixture
def run(project):
    return talked_run(project)


@pytest.fixture
def mention(run, editor, viewer):
    say(run, editor, "Look at this,\n@Vera Viewer.", "round", 3)
    return Notice.objects.get()


def test_a_run_that_asks_is_linked(project, editor):
    run = finished_run(project, user=editor)
    notice_run_asks(run, round_number=2)
    assert notices_mail() == 1
    (sent,) = mail.outbox
    assert sent.to == ["edgar@example.org"]
    assert "Stop it, or continue with two more rounds judged by a board?" in sent.body
    assert f"https://wiggum.example.org/p/alpha/runs/{run.pk}/" in sent.body


class Broken:
    """A server that does not answer."""

    def __init__(self):
        self.asked = 0

    def __call__(self, *args, **kwargs):
        self.asked += 1
        raise SMTPServerDisconnected("gone")


@pytest.fixture
def broken(monkeypatch):
    server = Broken()
    monkeypatch.setattr("django.core.mail.EmailMessage.send", server)
    return server


def test_it_says_what_happened_and_where(mention):
    assert notices_mail() == 1
    (sent,) = mail.outbox
    assert sent.to == ["vera@example.org"]
    assert sent.subject.startswith("[Wiggum] Edgar Editor mentioned you in a comment on run ")
    comment = f"https://wiggum.example.org/p/alpha/runs/{mention.run_id}/comments/{mention.comment_id}/"
    assert f"\n{comment}\n" in sent.body
    assert "\n> Look at this,\n> @Vera Viewer.\n" in sent.body
    assert "https://wiggum.example.org/account/notices/" in sent.body
    assert sent.content_subtype == "plain"
    assert sent.extra_headers == {"Auto-Submitted": "auto-generated"}


def test_without_an_address_of_its_own_it_leads_to_the_inbox(mention, settings):
    settings.SITE_URL = ""
    notices_mail()
    assert "http" not in mail.outbox[0].body
    assert "View it in your Wiggum inbox." in mail.outbox[0].body


def test_each_is_sent_once(mention):
    assert (notices_mail(), notices_mail()) == (1, 0)
    assert len(mail.outbox) == 1
    mention.refresh_from_db()
    assert (mention.mail_due, mention.mail_tries) == (False, 1)


@pytest.mark.django_db(transaction=True)
def test_several_workers_at_once_send_each_once(project, run, editor, viewer):
    for number in range(10):
        say(run, editor, f"@vera {number}")
    at_once(*[notices_mail] * 4)
    while notices_mail():
        pass
    assert len(mail.outbox) == 10


def test_nothing_is_sent_where_mail_is_not_set_up(mention, settings):
    settings.MAIL_CONFIGURED = False
    assert not mail_is_due()
    assert notices_mail() == 0


def test_what_was_read_meanwhile_is_not_mailed(mention):
    notice_read(notice=mention)
    assert notices_mail() == 0


def test_who_left_or_has_no_account_gets_no_mail(mention, viewer):
    Membership.objects.filter(user=viewer).delete()
    assert notices_mail() == 0
    assert mail.outbox == []
    assert not mail_is_due()


def test_one_that_is_only_mailed_is_gone_afterwards(mention):
    Notice.objects.update(inbox=False)
    assert notices_mail() == 1
    assert Notice.objects.count() == 0


def test_a_failure_is_tried_again_later_and_given_up_in_the_end(mention, broken):
    for tries in range(1, MOST_TRIES + 1):
        assert notices_mail() == 0
        mention.refresh_from_db()
        assert (broken.asked, mention.mail_tries) == (tries, tries)
        assert mention.mail_due is (tries < MOST_TRIES)
        assert notices_mail() == 0  # not before its time
        assert broken.asked == tries
        Notice.objects.update(mail_after=timezone.now() - timedelta(seconds=1))
    assert not mail_is_due()


def test_a_server_that_is_away_is_asked_once_and_not_for_each_mail(run, editor, viewer, broken):
    for number in range(5):
        say(run, editor, f"@vera {number}")
    notices_mail()
    assert broken.asked == 1
    assert Notice.objects.filter(mail_due=True).count() == 5


def test_what_failed_once_is_sent_when_the_server_is_back(mention, monkeypatch):
    with monkeypatch.context() as away:
        away.setattr("django.core.mail.EmailMessage.send", Broken())
        notices_mail()
    Notice.objects.update(mail_after=None)
    assert notices_mail() == 1
    assert len(mail.outbox) == 1


def test_a_batch_is_bounded(run, viewer):
    rows = [
        Notice(user=viewer, project=run.project, run=run, kind="run_ended", text="x", mail_due=True)
        for _ in range(AT_ONCE + 5)
    ]
    Notice.objects.bulk_create(rows)
    assert (notices_mail(), notices_mail()) == (AT_ONCE, 5)


def test_hostile_words_stay_in_the_body_and_in_their_lines(run, editor, viewer, project):
    editor.name = "Eve\r\nBcc: all@example.org"
    editor.save(update_fields=["name"])
    project.name = "P\nSubject: other"
    project.save(update_fields=["name"])
    say(run, editor, "@vera <script>alert(1)</script>\r\nFrom: me\u202e\u2066\x07")
    assert notices_mail() == 1
    raw = mail.outbox[0].message()
    assert raw.get_all("Bcc") is None
    assert len(raw.get_all("Subject")) == 1
    assert "\n" not in mail.outbox[0].subject
    assert raw.get_content_type() == "text/plain"
    body = mail.outbox[0].body
    assert "> @vera <script>alert(1)</script>\n> From: me" in body
    assert not set(body) & set("\u202e\u2066\x07\r")
    assert "Project: P Subject: other\n" in body


def test_a_long_comment_is_cut(run, editor, viewer):
    say(run, editor, "@vera\n" + ("word " * 200 + "\n") * 15)
    notices_mail()
    assert len(mail.outbox[0].body) < 10_000


def test_who_scores_blind_is_mailed_nobodys_words(mention, viewer):
    BlindReading.objects.create(run=mention.run, reader=viewer, round_number=1)
    notices_mail()
    assert "Look at this" not in mail.outbox[0].body


@pytest.mark.django_db(transaction=True)
def test_a_workers_upkeep_sends_it_beside_its_other_work(mention):
    upkeep = Upkeep()
    upkeep.send_mail()
    upkeep.mailing.join(20)
    assert len(mail.outbox) == 1
    upkeep.mailing = None
    upkeep.send_mail()
    assert upkeep.mailing is None  # nothing is due: no thread
