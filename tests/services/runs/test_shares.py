"""Share links: who creates them, lookup by token only, and one response for every invalid link."""

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from refinement.models import AuditEntry, Membership, ShareLink, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.administration import person_activate
from refinement.services.people.memberships import member_leave, member_remove
from refinement.services.runs import shares
from refinement.services.runs.shares import (
    ShareGone,
    SharingOff,
    TooManyLinks,
    share_link_for,
    share_link_make,
    share_link_opened,
    share_link_revoke,
)
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    return finished_run(project)


def test_the_token_is_long_and_kept_as_a_digest_alone(run, editor):
    link, token = share_link_make(run=run, by=editor, days=7)

    assert len(token) == shares.TOKEN_CHARS  # 43 signs of 6 bits each: 256 bits
    kept = " ".join(str(value) for value in ShareLink.objects.values().get().values())
    assert token not in kept
    assert link.prefix == token[:6]
    assert share_link_for(token) == link


def test_it_is_in_the_audit_log_without_the_token(run, editor, project):
    link, token = share_link_make(run=run, by=editor, days=1, note="For Ada", show_prompts=True)
    share_link_revoke(project=project, number=link.pk, by=editor)

    made, revoked = AuditEntry.objects.filter(object_type="share link").order_by("id")
    assert (made.action, revoked.action) == ("share.create", "share.revoke")
    assert made.after["note"] == "For Ada"
    assert made.after["prompts"] is True
    assert token not in str(made.after) + str(revoked.before)


def test_viewers_and_people_from_elsewhere_make_none(run, viewer, outsider):
    for person in (viewer, outsider):
        with pytest.raises(PermissionDenied):
            share_link_make(run=run, by=person, days=1)
    assert not ShareLink.objects.exists()


def test_whoever_lost_the_role_a_moment_ago_is_refused(run, editor, project):
    Membership.objects.filter(user=editor).update(role="viewer")

    with pytest.raises(PermissionDenied):
        share_link_make(run=run, by=editor, days=1)


def test_none_is_made_where_sharing_is_off(run, editor, project):
    project.sharing = False
    project.save(update_fields=["sharing"])

    with pytest.raises(SharingOff):
        share_link_make(run=run, by=editor, days=1)


@pytest.mark.parametrize("days", [0, -1, 2, 10_000])
def test_it_works_for_one_of_the_offered_times(run, editor, days):
    with pytest.raises(ValueError, match="days"):
        share_link_make(run=run, by=editor, days=days)


def test_a_note_has_an_end(run, editor):
    with pytest.raises(ValidationError):
        share_link_make(run=run, by=editor, days=1, note="x" * 121)


def test_a_run_has_only_so_many(run, editor, project, monkeypatch):
    monkeypatch.setattr(shares, "MOST_OPEN", 2)
    first, _ = share_link_make(run=run, by=editor, days=1)
    share_link_make(run=run, by=editor, days=1)
    with pytest.raises(TooManyLinks):
        share_link_make(run=run, by=editor, days=1)

    share_link_revoke(project=project, number=first.pk, by=editor)
    assert share_link_make(run=run, by=editor, days=1)


@pytest.mark.parametrize("reason", ["revoked", "expired", "switched off"])
def test_what_no_longer_works_is_gone(run, editor, project, reason):
    link, token = share_link_make(run=run, by=editor, days=1)
    if reason == "revoked":
        share_link_revoke(project=project, number=link.pk, by=editor)
    elif reason == "expired":
        ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    else:
        project.sharing = False
        project.save(update_fields=["sharing"])

    with pytest.raises(ShareGone):
        share_link_for(token)


def test_only_the_whole_token_opens_it(run, editor):
    link, token = share_link_make(run=run, by=editor, days=1)
    wrong = [
        token[:-1], f"{token}x", token.swapcase(), f" {token}", "", link.digest, link.prefix, "x" * 10_000
    ]  # fmt: skip
    for guess in wrong:
        with pytest.raises(ShareGone):
            share_link_for(guess)


def test_every_reason_costs_the_same_queries(run, editor, project, django_assert_num_queries):
    link, token = share_link_make(run=run, by=editor, days=1)
    with django_assert_num_queries(1):
        share_link_for(token)
    with django_assert_num_queries(1), pytest.raises(ShareGone):
        share_link_for("x" * 43)
    share_link_revoke(project=project, number=link.pk, by=editor)
    with django_assert_num_queries(1), pytest.raises(ShareGone):
        share_link_for(token)


def test_revoking_twice_is_said_and_recorded_once(run, editor, owner, project):
    link, _ = share_link_make(run=run, by=editor, days=1)

    assert share_link_revoke(project=project, number=link.pk, by=owner)[1] is True
    assert share_link_revoke(project=project, number=link.pk, by=editor)[1] is False
    assert AuditEntry.objects.filter(action="share.revoke").count() == 1


def test_a_link_of_another_project_is_not_found(run, editor, outsider, other_project):
    link, _ = share_link_make(run=run, by=editor, days=1)
    Membership.objects.create(project=other_project, user=editor, role="owner")

    with pytest.raises(NotFound):
        share_link_revoke(project=other_project, number=link.pk, by=editor)


def test_visits_are_counted(run, editor):
    link, _ = share_link_make(run=run, by=editor, days=1)
    share_link_opened(link)
    share_link_opened(link)

    link.refresh_from_db()
    assert link.opened == 2
    assert link.last_opened_at is not None


@pytest.mark.parametrize("how", ["removed", "left", "account closed"])
def test_whoever_goes_takes_no_link_along(run, editor, owner, project, how):
    _, theirs = share_link_make(run=run, by=editor, days=90)
    _, ours = share_link_make(run=run, by=owner, days=90)
    if how == "removed":
        member_remove(project=project, user_id=editor.pk, by=owner)
    elif how == "left":
        member_leave(project=project, user=editor)
    else:
        administrator = User.objects.create_superuser("ada@example.org", "x")
        person_activate(person_id=editor.pk, active=False, by=administrator)

    with pytest.raises(ShareGone):
        share_link_for(theirs)
    assert share_link_for(ours)
