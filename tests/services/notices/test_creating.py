"""Who is notified: members only, not about their own actions, once per event, by their settings."""

from datetime import date, timedelta

import pytest
from django.utils import timezone

from refinement.models import Decision, Membership, Notice, NoticeChoice, Project, ReviewRequest
from refinement.services.notices import reading as notice_reading
from refinement.services.notices.creating import (
    notice_decision,
    notice_review,
    notice_run_asks,
    notice_run_ended,
    notice_run_waits,
)
from refinement.services.notices.reading import notices_clean
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project, editor):
    return finished_run(project, user=editor, task="Write the\nguide \u202e now")


def told(user=None):
    rows = Notice.objects.order_by("id")
    return list((rows.filter(user=user) if user else rows).values_list("user__name", "kind", "text"))


def decision(run, author, kind="approved"):
    number = run.decisions.count() + 1
    return Decision.objects.create(
        run=run, number=number, kind=kind, reason="Good.", author=author, author_name=author.display_name,
        round_number=1 if kind == "result" else None,
    )  # fmt: skip


def review(run, reviewer, asked_by, **fields):
    return ReviewRequest.objects.create(
        project=run.project, run=run, reviewer=reviewer, asked_by=asked_by, **fields
    )


def test_a_reviewer_is_told_who_asks_and_until_when(run, owner, viewer):
    notice_review(review(run, viewer, owner, due_on=date(2026, 5, 4)))
    words = f"Olivia Owner requested your review of run {run.pk}, “Write the”. It is due on 4 May 2026."
    assert told() == [("Vera Viewer", "review", words)]


def test_a_rule_asks_too(run, viewer):
    notice_review(review(run, viewer, None))
    assert told()[0][2] == f"A review rule requested your review of run {run.pk}, “Write the”."


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("approved", "approved"),
        ("rejected", "rejected"),
        ("changes", "requested changes to"),
        ("result", "chose another round as the result of"),
        ("withdrawn", "withdrew a decision on"),
    ],
)
def test_a_decision_is_told_to_whoever_launched_the_run(run, owner, kind, words):
    notice_decision(decision(run, owner, kind))
    assert told() == [
        ("Edgar Editor", "decision", f"Olivia Owner {words} run {run.pk}, “Write the”.")
    ]  # fmt: skip


def test_nobody_is_told_of_their_own_doing(run, editor):
    notice_decision(decision(run, editor))
    notice_review(review(run, editor, editor))
    notice_run_ended(run, outcome="CANCELLED", by=editor)
    assert told() == []


def test_another_persons_cancelling_is_told(run, owner):
    notice_run_ended(run, outcome="CANCELLED", by=owner)
    assert told()[0][2] == f"Run {run.pk}, “Write the”, was stopped by Olivia Owner."


def test_who_left_or_was_never_in_or_has_no_account_any_more_hears_nothing(run, owner, editor, outsider):
    notice_review(review(run, outsider, owner))
    Membership.objects.filter(user=editor).delete()
    notice_decision(decision(run, owner))
    Membership.objects.create(project=run.project, user=editor, role="viewer")
    editor.is_active = False
    editor.save(update_fields=["is_active"])
    notice_decision(decision(run, owner))
    run.created_by = None
    notice_run_ended(run, outcome="PASS")
    assert told() == []


def test_waiting_is_told_once_until_it_is_read(run, editor):
    notice_run_waits(run, reason="Ollama does not answer at\nhttp://127.0.0.1:1.")
    notice_run_waits(run, reason="Ollama does not answer.")
    assert [text for _, _, text in told()] == [
        f"Run {run.pk}, “Write the”, is waiting for a model server: Ollama does not answer at http://127.0.0.1:1."
    ]
    Notice.objects.update(read_at="2026-01-01T00:00Z")
    notice_run_waits(run, reason="Ollama does not answer.")
    assert len(told()) == 2


def test_a_question_is_told_to_whoever_launched_the_run(run, editor):
    notice_run_asks(run, round_number=3)
    assert told() == [
        (
            "Edgar Editor",
            "run_asks",
            f"Run {run.pk}, “Write the”, has not improved lately and is paused after round 3. "
            "Stop it, or continue with two more rounds judged by a board?",
        )
    ]
    run.created_by = None
    notice_run_asks(run, round_number=3)
    assert len(told()) == 1


@pytest.mark.parametrize(
    ("choice", "configured", "inbox", "mail"),
    [
        (None, True, True, True),
        (None, False, True, False),
        ({"inbox": True, "mail": False}, True, True, False),
        ({"inbox": False, "mail": True}, True, False, True),
    ],
)
def test_a_kind_is_told_where_the_person_wants_it(
    run, owner, editor, settings, choice, configured, inbox, mail
):
    settings.MAIL_CONFIGURED = configured
    if choice:
        NoticeChoice.objects.create(user=editor, kind="decision", **choice)
    notice_decision(decision(run, owner))
    (row,) = Notice.objects.all()
    assert (row.inbox, row.mail_due) == (inbox, mail)


@pytest.mark.parametrize("configured", [True, False])
def test_a_kind_that_is_wanted_nowhere_is_not_kept(run, owner, editor, settings, configured):
    settings.MAIL_CONFIGURED = configured
    NoticeChoice.objects.create(user=editor, kind="decision", inbox=False, mail=not configured)
    notice_decision(decision(run, owner))
    assert told() == []


def test_hostile_names_and_titles_stay_in_their_line(run, owner, viewer):
    owner.name = "Eve\r\nBcc: all@example.org\u202e\x07" + "x" * 100
    run.title = "<script>alert(1)</script>\n\u2066turned"
    notice_review(review(run, viewer, owner))
    (_, _, text) = told()[0]
    assert "\n" not in text
    assert "\r" not in text
    assert not set(text) & set("\u202e\u2066\x07")
    assert "<script>alert(1)</script> turned" in text
    assert len(text) < 300


def test_what_was_read_long_ago_is_forgotten_a_part_at_a_time(run, owner, monkeypatch):
    monkeypatch.setattr(notice_reading, "CLEAN_AT_ONCE", 2)
    long_ago = timezone.now() - notice_reading.KEPT - timedelta(minutes=1)
    for read_at in (long_ago, None, long_ago, long_ago, timezone.now()):
        Notice.objects.create(
            user=owner, project=run.project, run=run, kind="mention", text="x", read_at=read_at
        )
    assert [notices_clean(), notices_clean(), notices_clean()] == [2, 1, 0]
    kept = Notice.objects.filter(user=owner, text="x")
    assert sorted(row.read_at is None for row in kept) == [False, True]


def test_a_pass_by_an_unproven_judge_says_so(run, project):
    notice_run_ended(run, outcome="PASS")
    Project.objects.filter(pk=project.pk).update(gate_labels=100)
    run.project.refresh_from_db()
    for outcome in ("PASS", "FAIL"):
        notice_run_ended(run, outcome=outcome)
    plain, doubted, failed = (text.partition("”, ")[2] for _, _, text in told())
    assert plain == "passed."
    assert doubted == "passed. Unproven judge: 0 of 100 texts labelled."
    assert failed == "ended below the pass mark."
