"""Deliveries: signed, retried with longer pauses, given up, resent, swept and deleted."""

import hashlib
import hmac
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.execution import deliveries as webhook_sending
from refinement.execution.deliveries import (
    FIRST_PAUSE,
    MAX_AT_ONCE,
    MAX_TRIES,
    RETENTION,
    deliveries_clean,
    delivery_send,
    pause_after,
)
from refinement.execution.waking import sweep
from refinement.models import QueuedMessage, WebhookAttempt, WebhookDelivery
from refinement.services.upkeep import Upkeep
from refinement.services.webhooks.hooks import (
    HookValues,
    delivery_resend,
    webhook_change,
    webhook_ping,
    webhook_remove,
    webhook_secret_renew,
)
from refinement.webhooks.sending import Attempted
from tests.execution.lifecycle.given import at_once
from tests.webhooks.receiver import redirect, status

pytestmark = pytest.mark.django_db


@pytest.fixture
def delivery(hook, owner):
    return webhook_ping(webhook=hook, by=owner)


def signed_with(secret, got):
    fields = dict(part.split("=", 1) for part in got.headers["Wiggum-Signature"].split(","))
    wanted = hmac.new(secret.encode(), fields["t"].encode() + b"." + got.body, hashlib.sha256)
    return hmac.compare_digest(wanted.hexdigest(), fields["v1"])


def is_due(delivery):
    WebhookDelivery.objects.filter(pk=delivery.pk).update(next_try_at=timezone.now(), woken_at=timezone.now())


def test_it_arrives_signed(made, delivery, receiver, work):
    assert work() == 1
    delivery.refresh_from_db()
    assert (delivery.status, delivery.tries, delivery.lease_until) == ("delivered", 1, None)
    (got,) = receiver.received
    assert got.headers["Wiggum-Event"] == "ping"
    assert got.headers["Wiggum-Delivery"] == str(delivery.key)
    assert got.headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(got.body)["id"] == str(delivery.key)
    assert signed_with(made[1], got)
    assert not signed_with("whsec_other", got)


def test_a_message_that_comes_twice_sends_once(delivery, receiver, work):
    work()
    delivery_send(delivery.pk)
    assert len(receiver.received) == 1


@pytest.mark.django_db(transaction=True)
def test_several_workers_at_once_send_it_once(delivery, receiver):
    assert at_once(*[lambda: delivery_send(delivery.pk)] * 4) == [None] * 4
    assert len(receiver.received) == 1


def test_failures_are_kept_and_tried_again_until_it_is_given_up(delivery, receiver, work):
    receiver.answer = status(500, "broken")
    for number in range(1, MAX_TRIES + 1):
        assert work() == 1, number
        delivery.refresh_from_db()
        assert delivery.tries == number
        if number < MAX_TRIES:
            pause = (delivery.next_try_at - timezone.now()) / (FIRST_PAUSE * 4 ** (number - 1))
            assert 0.7 < pause <= 1.2
            delivery_send(delivery.pk)  # too early
            is_due(delivery)
    assert (delivery.status, len(receiver.received)) == ("failed", MAX_TRIES)
    assert {got.headers["Wiggum-Delivery"] for got in receiver.received} == {str(delivery.key)}
    tried = list(WebhookAttempt.objects.values_list("number", "status", "answer"))
    assert tried == [(number, 500, "broken") for number in range(1, MAX_TRIES + 1)]
    assert work() == 0


def test_one_whose_worker_is_lost_each_time_is_given_up(delivery, receiver, monkeypatch):
    class WorkerKilled(BaseException):
        pass

    def killed(*args, **more):
        raise WorkerKilled

    monkeypatch.setattr(webhook_sending, "post", killed)
    for _ in range(MAX_TRIES):
        with pytest.raises(WorkerKilled):
            delivery_send(delivery.pk)
        WebhookDelivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    delivery_send(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.lease_until) == ("failed", None)
    assert "The worker stopped while sending" in WebhookAttempt.objects.get().error
    WebhookDelivery.objects.update(woken_at=None)
    assert sweep().sent == 0


def test_pauses_are_spread():
    assert len({pause_after(1) for _ in range(20)}) > 1
    assert all(timedelta(seconds=12) <= pause_after(1) <= timedelta(seconds=18) for _ in range(100))


def test_a_redirect_is_a_failure_that_says_where_it_would_lead(delivery, receiver, work):
    receiver.answer = redirect("http://127.0.0.1:9/admin")
    work()
    assert "redirect to http://127.0.0.1:9/admin" in WebhookAttempt.objects.get().error
    assert len(receiver.received) == 1


def test_where_private_networks_are_closed_again_nothing_is_sent(delivery, receiver, work, settings):
    settings.WEBHOOK_NETWORKS = ()
    work()
    assert receiver.connections == 0
    assert "private or reserved network" in WebhookAttempt.objects.get().error


def test_a_person_sends_it_again_with_the_same_bytes(delivery, owner, receiver, work):
    work()
    assert delivery_resend(delivery=delivery, by=owner)
    assert not delivery_resend(delivery=delivery, by=owner)  # the first asking is under way
    work()
    first, second = receiver.received
    assert first.body == second.body
    assert first.headers["Wiggum-Delivery"] == second.headers["Wiggum-Delivery"]
    assert [row.number for row in delivery.attempts.all()] == [1, 2]


def test_one_that_was_given_up_gets_all_its_tries_again(delivery, owner, receiver, work):
    WebhookDelivery.objects.update(status="failed", tries=MAX_TRIES)
    delivery_resend(delivery=delivery, by=owner)
    QueuedMessage.objects.all().delete()
    receiver.answer = status(500)
    delivery_send(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.tries, delivery.most_tries) == ("waiting", 8, 14)
    assert delivery.next_try_at - timezone.now() < FIRST_PAUSE * 1.3


def test_a_new_secret_signs_what_is_sent_from_now_on(made, delivery, owner, receiver, work):
    secret = webhook_secret_renew(webhook=made[0], by=owner)
    work()
    assert signed_with(secret, receiver.received[0])
    assert not signed_with(made[1], receiver.received[0])


def test_a_secret_kept_under_another_key_is_said(delivery, receiver, work, settings):
    settings.SECRET_KEY = "another" * 8
    work()
    assert "Create a new secret" in WebhookAttempt.objects.get().error
    assert receiver.connections == 0


def test_what_waits_is_dropped_when_the_webhook_is_switched_off(hook, delivery, owner, receiver, work):
    values = HookValues(hook.address, hook.events, active=False)
    webhook_change(webhook=hook, by=owner, values=values, version=hook.version)
    work()
    delivery.refresh_from_db()
    assert (delivery.status, receiver.connections) == ("failed", 0)


def test_one_removed_while_it_is_sent_leaves_nothing_behind(hook, delivery, owner, monkeypatch, work):
    def removing(*_, **__):
        webhook_remove(webhook=hook, by=owner)
        return Attempted(200, "", "", 1)

    monkeypatch.setattr(webhook_sending, "post", removing)
    work()
    assert not WebhookDelivery.objects.exists()
    assert not WebhookAttempt.objects.exists()


def test_a_lost_message_is_sent_again_and_a_dead_worker_replaced(delivery, receiver, work):
    QueuedMessage.objects.all().delete()
    assert sweep().sent == 0  # it may still arrive
    long_ago = timezone.now() - timedelta(minutes=1)
    WebhookDelivery.objects.update(woken_at=long_ago, tries=1, lease_until=long_ago)
    assert (sweep().sent, sweep().sent) == (1, 0)
    assert work() == 1
    assert len(receiver.received) == 1


def test_one_that_is_being_sent_is_left_alone(delivery, receiver):
    now = timezone.now()
    WebhookDelivery.objects.update(woken_at=now - timedelta(hours=1), lease_until=now + timedelta(seconds=9))
    assert sweep().sent == 0
    delivery_send(delivery.pk)
    assert receiver.connections == 0


def test_a_server_gets_a_few_at_a_time_and_the_next_follows(hook, owner, receiver, work):
    rows = [webhook_ping(webhook=hook, by=owner) for _ in range(MAX_AT_ONCE + 2)]
    busy = WebhookDelivery.objects.filter(pk__in=[row.pk for row in rows[:MAX_AT_ONCE]])
    busy.update(lease_until=timezone.now() + timedelta(seconds=30))
    work()
    assert receiver.connections == 0
    busy.update(lease_until=None)
    delivery_send(rows[0].pk)
    while work():
        pass
    assert len(receiver.received) == len(rows)


def test_old_ones_are_forgotten_and_those_that_wait_are_not(hook, owner):
    old, waiting, new = (webhook_ping(webhook=hook, by=owner) for _ in range(3))
    before = timezone.now() - RETENTION - timedelta(hours=1)
    WebhookDelivery.objects.filter(pk__in=[old.pk, waiting.pk]).update(created_at=before)
    WebhookDelivery.objects.filter(pk__in=[old.pk, new.pk]).update(status="delivered")
    Upkeep().delete_old()
    assert set(WebhookDelivery.objects.values_list("pk", flat=True)) == {waiting.pk, new.pk}
    assert deliveries_clean() == 0
