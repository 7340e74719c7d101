"""Webhooks by the API: the secret is shown once, changes need an ETag, the log, and refused addresses."""

import pytest

from refinement.execution.deliveries import delivery_send
from refinement.models import IdempotencyKey, Webhook, WebhookDelivery
from refinement.webhooks.networks import PRIVATE
from tests.webhooks.receiver import receiving

pytestmark = pytest.mark.django_db
ROOT = "/projects/alpha/webhooks"
NEW = {"address": "https://hooks.example.org/hook", "events": ["run.finished"]}


def test_the_secret_is_shown_once_and_kept_nowhere(api_owner):
    made = api_owner.post(ROOT, NEW, Idempotency_Key="w")
    secret = made.json()["secret"]
    assert (made.status_code, secret[:6]) == (201, "whsec_")
    again = api_owner.post(ROOT, NEW, Idempotency_Key="w")
    assert again.json() == made.json() | {"secret": None}
    assert Webhook.objects.count() == 1
    assert secret not in str(list(IdempotencyKey.objects.values()))
    here = made.headers["Location"].removeprefix("/api/v1")
    assert "secret" not in api_owner.get(here).json()
    assert api_owner.post(f"{here}/secret").json()["secret"] != secret


def test_a_change_is_made_on_top_of_what_was_read(api_owner):
    made = api_owner.post(ROOT, NEW)
    here, tag = made.headers["Location"].removeprefix("/api/v1"), made.headers["ETag"]
    assert api_owner.patch(here, {"note": "x"}).status_code == 428
    done = api_owner.patch(here, {"active": False}, If_Match=tag)
    assert (done.json()["active"], done.json()["events"]) == (False, ["run.finished"])
    assert api_owner.patch(here, {"active": True}, If_Match=tag).status_code == 412
    assert api_owner.delete(here).status_code == 204
    assert api_owner.get(here).status_code == 404


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"address": "http://127.0.0.1/"}, "body.address"),
        ({"address": "http://[::ffff:10.0.0.1]/"}, "body.address"),
        ({"address": "http://169.254.169.254/latest/meta-data"}, "body.address"),
        ({"address": "https://me:key@hooks.example.org/"}, "body.address"),
        ({"address": "gopher://hooks.example.org/"}, "body.address"),
        ({"address": "https://[fe80::1%25lo]/"}, "body.address"),
        ({"address": "https://[::ffff:0:10.0.0.1]/"}, "body.address"),
        ({"events": []}, "body.events"),
        ({"events": ["run.exploded"]}, "body.events"),
    ],
)
def test_what_cannot_be_used_is_refused(api_owner, change, where):
    answer = api_owner.post(ROOT, NEW | change, Idempotency_Key="w")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["where"] == where
    assert not Webhook.objects.exists()


def test_a_ping_is_delivered_logged_and_sent_again(api_owner, settings):
    settings.WEBHOOK_NETWORKS = PRIVATE
    with receiving() as receiver:
        made = api_owner.post(ROOT, NEW | {"address": receiver.address})
        here = made.headers["Location"].removeprefix("/api/v1")
        ping = api_owner.post(f"{here}/ping")
        assert (ping.status_code, ping.json()["status"]) == (201, "queued")
        delivery_send(WebhookDelivery.objects.get().pk)

        (line,) = api_owner.get(f"{here}/deliveries", {"status": "delivered"}).json()["items"]
        read = api_owner.get(f"{here}/deliveries/{line['id']}").json()
        assert (read["payload"]["event"], read["attempts"][0]["status"]) == ("ping", 200)
        assert read["attempts"][0]["answer"] == "ok"
        assert api_owner.post(f"{here}/deliveries/{line['id']}/resend").json()["status"] == "queued"
        assert api_owner.post(f"{here}/deliveries/{line['id']}/resend").status_code == 409
        assert receiver.received[0].headers["Wiggum-Delivery"] == line["delivery"]
