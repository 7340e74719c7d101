"""What owners do with webhooks, and the audit log of it."""

import pytest
from django.core.exceptions import PermissionDenied, ValidationError

from refinement.models import AuditEntry, Webhook
from refinement.selectors.projects.lists import NotFound
from refinement.services.people.memberships import member_leave, member_role_change
from refinement.services.webhooks.hooks import (
    MOST_HOOKS,
    HookValues,
    WebhookChanged,
    delivery_resend,
    webhook_change,
    webhook_create,
    webhook_ping,
    webhook_remove,
    webhook_secret_renew,
)
from tests.conftest import member

pytestmark = pytest.mark.django_db
VALUES = HookValues("https://hooks.example.org/hook", ["run.finished"])


def test_the_secret_is_kept_encrypted(made):
    hook, secret = made
    assert secret.startswith("whsec_")
    assert len(secret) > 40
    assert secret not in str(Webhook.objects.values().get())
    assert secret not in str(list(AuditEntry.objects.values()))
    assert hook.created_by.email == "olivia@example.org"


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        (HookValues("http://127.0.0.1/", ["run.finished"]), "address", "private or reserved"),
        (HookValues("http://localhost/", ["run.finished"]), "address", "private or reserved"),
        (HookValues("ftp://hooks.example.org/", ["run.finished"]), "address", "must start with https://"),
        (HookValues("https://hooks.example.org/", []), "events", "at least one"),
        (
            HookValues("https://hooks.example.org/", ["run.finished", "run.exploded"]),
            "events",
            "run.exploded",
        ),
        (HookValues("https://hooks.example.org/", ["run.finished"], "x" * 121), "note", "longer than 120"),
    ],
)
def test_what_cannot_be_used_is_refused_when_it_is_saved(project, owner, values, field, said):
    with pytest.raises(ValidationError) as refused:
        webhook_create(project=project, by=owner, values=values)
    assert said in refused.value.message_dict[field][0]
    hook, _ = webhook_create(project=project, by=owner, values=VALUES)
    with pytest.raises(ValidationError):
        webhook_change(webhook=hook, by=owner, values=values, version=1)
    hook.refresh_from_db()
    assert hook.address == VALUES.address


def test_a_project_has_so_many_at_most(project, owner):
    for _ in range(MOST_HOOKS):
        webhook_create(project=project, by=owner, values=VALUES)
    with pytest.raises(ValidationError, match="Remove one first"):
        webhook_create(project=project, by=owner, values=VALUES)


def test_nobody_overwrites_a_change_unseen(hook, owner):
    changed = HookValues(hook.address, ["run.waiting"])
    assert webhook_change(webhook=hook, by=owner, values=changed, version=1)
    with pytest.raises(WebhookChanged) as conflict:
        webhook_change(webhook=hook, by=owner, values=HookValues(hook.address, ["run.finished"]), version=1)
    assert conflict.value.webhook.events == ["run.waiting"]
    assert not webhook_change(webhook=hook, by=owner, values=changed, version=1)  # nothing to overwrite


def test_only_owners_of_the_moment_do_any_of_it(hook, project, owner, editor):
    member(project, "owner", "ondine@example.org", "Ondine Owner")
    delivery = webhook_ping(webhook=hook, by=owner)
    member_role_change(project=project, user_id=owner.pk, role="editor", by=owner)
    for by in (owner, editor):
        for act in (
            lambda by: webhook_create(project=project, by=by, values=VALUES),
            lambda by: webhook_change(webhook=hook, by=by, values=VALUES, version=1),
            lambda by: webhook_secret_renew(webhook=hook, by=by),
            lambda by: webhook_ping(webhook=hook, by=by),
            lambda by: delivery_resend(delivery=delivery, by=by),
            lambda by: webhook_remove(webhook=hook, by=by),
        ):
            with pytest.raises(PermissionDenied):
                act(by)


def test_it_stays_when_its_maker_leaves(hook, project, owner):
    member(project, "owner", "ondine@example.org", "Ondine Owner")
    member_leave(project=project, user=owner)
    hook.refresh_from_db()
    assert hook.active


def test_everything_is_in_the_audit_log(hook, owner, work):
    delivery = webhook_ping(webhook=hook, by=owner)
    work()
    delivery_resend(delivery=delivery, by=owner)
    webhook_change(webhook=hook, by=owner, values=HookValues(hook.address, ["run.waiting"]), version=1)
    webhook_secret_renew(webhook=hook, by=owner)
    webhook_remove(webhook=hook, by=owner)

    kept = AuditEntry.objects.filter(object_type="webhook").order_by("id")
    assert list(kept.values_list("action", flat=True)) == [
        "webhook.create",
        "webhook.ping",
        "webhook.resend",
        "webhook.change",
        "webhook.secret",
        "webhook.remove",
    ]
    change = kept.get(action="webhook.change")
    assert (len(change.before["events"]), change.after["events"]) == (5, ["run.waiting"])
    with pytest.raises(NotFound):
        webhook_ping(webhook=hook, by=owner)
