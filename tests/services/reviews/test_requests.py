"""Requesting reviews, closing requests, and concurrent requests."""

from datetime import datetime, timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from refinement.models import AuditEntry, Membership, ReviewRequest, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.memberships import member_leave, member_remove
from refinement.services.reviews.requests import (
    MOST_REVIEWERS,
    NOTE_CHARS,
    earliest_today,
    review_done,
    review_take_back,
    reviews_ask,
)
from tests.conftest import member
from tests.execution.lifecycle.given import at_once
from tests.views.test_role_matrix import run_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    from refinement.services.rubrics.editing import default_rubrics_install

    default_rubrics_install(project=project)
    return run_in(project)


def membership(user: User) -> Membership:
    return Membership.objects.select_related("user").get(user=user)


def kinds(run) -> list[str]:
    return list(run.events.order_by("id").values_list("kind", flat=True))


def test_each_person_is_asked_with_note_date_audit_entry_and_event(run, editor, viewer, owner):
    due = timezone.localdate() + timedelta(days=3)
    asked = reviews_ask(run=run, reviewers=[viewer, owner], user=editor, note=" Look at depth. ", due_on=due)

    assert [(request.reviewer, request.note, request.due_on) for request in asked] == [
        (viewer, "Look at depth.", due),
        (owner, "Look at depth.", due),
    ]
    entries = AuditEntry.objects.filter(action="review.ask").order_by("id")
    assert [entry.after["reviewer"] for entry in entries] == [viewer.email, owner.email]
    assert kinds(run)[-1] == "reviewing"
    assert run.events.last().data == {}


def test_who_is_asked_already_is_not_asked_again(run, editor, viewer, owner):
    reviews_ask(run=run, reviewers=[viewer], user=editor, note="first")
    asked = reviews_ask(run=run, reviewers=[viewer, owner], user=editor, note="second")
    assert [request.reviewer for request in asked] == [owner]
    assert ReviewRequest.objects.get(reviewer=viewer).note == "first"
    before = len(kinds(run))
    assert reviews_ask(run=run, reviewers=[viewer, owner], user=editor) == []
    assert len(kinds(run)) == before


def test_a_closed_request_can_be_followed_by_another(run, editor, viewer):
    reviews_ask(run=run, reviewers=[viewer], user=editor)
    assert review_done(run=run, user=viewer)
    assert len(reviews_ask(run=run, reviewers=[viewer], user=editor)) == 1


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"reviewers": []}, "reviewers", "Choose at least one reviewer."),
        ({"note": "x" * (NOTE_CHARS + 1)}, "note", "The note is longer than 1,000 characters."),
        (
            {"due_on": timezone.localdate() - timedelta(days=2)},
            "due_on",
            "This date is in the past. Choose today or later.",
        ),
    ],
)
def test_what_is_wrong_is_said_and_nobody_is_asked(run, editor, viewer, given, field, words):
    with pytest.raises(ValidationError) as refused:
        reviews_ask(**{"run": run, "reviewers": [viewer], "user": editor, **given})
    assert refused.value.message_dict == {field: [words]}
    assert not ReviewRequest.objects.exists()


def test_outsiders_closed_accounts_and_crowds_are_not_asked(run, project, editor, viewer, outsider):
    with pytest.raises(ValidationError, match="Otto Outsider is not a member of Alpha"):
        reviews_ask(run=run, reviewers=[viewer, outsider], user=editor)
    User.objects.filter(pk=viewer.pk).update(is_active=False)
    with pytest.raises(ValidationError, match="Vera Viewer is not a member"):
        reviews_ask(run=run, reviewers=[viewer], user=editor)
    crowd = [member(project, "viewer", f"p{n}@example.org", f"P{n}") for n in range(MOST_REVIEWERS + 1)]
    with pytest.raises(ValidationError, match="at most 20 reviewers"):
        reviews_ask(run=run, reviewers=crowd, user=editor)
    assert not ReviewRequest.objects.exists()


def test_a_note_may_hold_anything_a_database_takes(run, editor, viewer):
    (request,) = reviews_ask(run=run, reviewers=[viewer], user=editor, note="a\x00b<script>\u202e\ud800")
    request.refresh_from_db()
    assert request.note == "a\ufffdb<script>\u202e?"


def test_done_closes_ones_own_request_and_no_other(run, editor, viewer, owner):
    reviews_ask(run=run, reviewers=[viewer, owner], user=editor)
    assert review_done(run=run, user=viewer)
    assert not review_done(run=run, user=viewer)
    assert not review_done(run=run, user=editor)

    closed = ReviewRequest.objects.get(reviewer=viewer)
    assert closed.closed_at is not None
    assert not closed.taken_back
    assert ReviewRequest.objects.get(reviewer=owner).closed_at is None
    entry = AuditEntry.objects.get(action="review.done")
    assert (entry.user, entry.before) == (viewer, {"reviewer": viewer.email, "run": run.pk})


def test_the_asker_and_owners_take_back_and_nobody_else(run, project, editor, viewer, owner):
    other = member(project, "editor", "erna@example.org", "Erna Editor")
    asked = reviews_ask(run=run, reviewers=[viewer, owner], user=editor)
    with pytest.raises(PermissionDenied, match="Only Edgar Editor or a project owner"):
        review_take_back(project=project, number=asked[0].pk, membership=membership(other))
    assert review_take_back(project=project, number=asked[0].pk, membership=membership(editor))
    assert review_take_back(project=project, number=asked[1].pk, membership=membership(owner))
    assert not review_take_back(project=project, number=asked[1].pk, membership=membership(owner))
    assert ReviewRequest.objects.filter(taken_back=True, closed_at__isnull=False).count() == 2
    assert AuditEntry.objects.filter(action="review.take_back").count() == 2


def test_a_request_of_another_project_is_not_found(run, editor, viewer, outsider, other_project):
    (request,) = reviews_ask(run=run, reviewers=[viewer], user=editor)
    with pytest.raises(NotFound):
        review_take_back(project=other_project, number=request.pk, membership=membership(outsider))


@pytest.mark.parametrize("leaving", ["leaves", "is removed"])
def test_who_leaves_the_project_owes_it_nothing(run, project, editor, viewer, owner, leaving):
    (request,) = reviews_ask(run=run, reviewers=[viewer], user=editor)
    if leaving == "leaves":
        member_leave(project=project, user=viewer)
    else:
        member_remove(project=project, user_id=viewer.pk, by=owner)
    request.refresh_from_db()
    assert request.closed_at is not None
    assert request.taken_back


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_the_same_person_at_once_ask_once(run, editor, viewer, owner):
    def ask(user: User) -> object:
        return len(reviews_ask(run=run, reviewers=[viewer], user=user))

    results = at_once(*[lambda user=user: ask(user) for user in (editor, owner, editor)])
    assert sorted(results) == [0, 0, 1]
    assert ReviewRequest.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_done_against_taking_back_counts_once(run, project, editor, viewer):
    (request,) = reviews_ask(run=run, reviewers=[viewer], user=editor)
    done, back = at_once(
        lambda: review_done(run=run, user=viewer),
        lambda: review_take_back(project=project, number=request.pk, membership=membership(editor)),
    )
    assert sorted([done, back]) == [False, True]
    request.refresh_from_db()
    assert request.taken_back == back
    assert AuditEntry.objects.filter(action__in=["review.done", "review.take_back"]).count() == 1


@pytest.mark.parametrize(
    ("now", "first"), [("2026-03-02T11:59", "2026-03-01"), ("2026-03-02T12:01", "2026-03-02")]
)
def test_a_day_is_not_past_while_it_is_today_somewhere(monkeypatch, now, first):
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromisoformat(f"{now}+00:00"))
    assert earliest_today().isoformat() == first
