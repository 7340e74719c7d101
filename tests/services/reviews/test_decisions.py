"""Decisions: separate from the judge's record, in order, and safe for two people at once."""

import threading
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from refinement.models import AuditEntry, Decision, Event, Notice, ReviewRequest
from refinement.services.reviews.decisions import REASON_CHARS, DecisionConflict, decision_make
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project, owner):
    return finished_run(project, user=owner)


def decide(run, user, kind="approved", number=3, *, seen=0, reason="It reads well."):
    return decision_make(run=run, kind=kind, round_number=number, reason=reason, seen=seen, user=user)


def test_the_newest_decision_holds_and_the_judge_is_not_touched(run, editor, owner):
    decide(run, editor, "result", 3)
    run.refresh_from_db()
    assert (run.decision, run.chosen_round) == ("result", 3)
    decide(run, owner, "changes", None, seen=1)
    run.refresh_from_db()
    assert (run.decision, run.chosen_round) == ("changes", None)
    assert (run.outcome, run.best_round, run.best) == ("FAIL", 2, Decimal("8.6"))
    assert [row.number for row in run.decisions.all()] == [1, 2]


def test_withdrawing_leaves_the_judges_result(run, editor):
    decide(run, editor, "rejected", None)
    decide(run, editor, "withdrawn", None, seen=1)
    run.refresh_from_db()
    assert (run.decision, run.chosen_round) == (None, None)
    with pytest.raises(ValidationError, match="no decision to withdraw"):
        decide(run, editor, "withdrawn", None, seen=2)


@pytest.mark.parametrize(
    ("kind", "number", "reason", "field"),
    [
        ("approved", None, "Good.", "round"),
        ("approved", 9, "Good.", "round"),
        ("result", 2, "Good.", "round"),
        ("rejected", None, " \n", "reason"),
        ("rejected", None, "x" * (REASON_CHARS + 1), "reason"),
        ("praised", None, "Good.", "kind"),
    ],
)
def test_what_cannot_be_decided_is_said_beside_its_field(run, editor, kind, number, reason, field):
    with pytest.raises(ValidationError) as wrong:
        decide(run, editor, kind, number, reason=reason)
    assert list(wrong.value.message_dict) == [field]
    assert not Decision.objects.exists()


def test_it_is_recorded_told_and_closes_a_review(run, project, editor, owner):
    request = ReviewRequest.objects.create(run=run, project=project, reviewer=editor, asked_by=owner)
    decide(run, editor, reason="a\x00<b>")
    assert Event.objects.get(kind="decided").data == {"decision": 1}
    entry = AuditEntry.objects.get(action="run.decide")
    assert entry.before == {"decision": "", "chosen_round": None}
    assert entry.after == {"decision": "approved", "chosen_round": 3, "reason": "a\ufffd<b>"}
    assert Notice.objects.filter(user=owner, kind="decision", run=run).count() == 1
    request.refresh_from_db()
    assert request.closed_at is not None


def test_on_top_of_what_was_not_seen_it_is_refused(run, editor, owner):
    decide(run, owner, "rejected", None)
    with pytest.raises(DecisionConflict) as meanwhile:
        decide(run, editor)
    assert meanwhile.value.newest.author_name == "Olivia Owner"
    run.refresh_from_db()
    assert run.decision == "rejected"


@pytest.mark.django_db(transaction=True)
def test_of_two_people_at_once_one_decides_and_one_is_told(project, editor, owner):
    run = finished_run(project)
    ready, results = threading.Barrier(2), []

    def person(user):
        ready.wait()
        try:
            decide(run, user)
            results.append("decided")
        except DecisionConflict as meanwhile:
            results.append(f"told of {meanwhile.newest.number}")
        finally:
            connection.close()

    threads = [threading.Thread(target=person, args=(user,)) for user in (editor, owner)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["decided", "told of 1"]
    assert Decision.objects.count() == 1
