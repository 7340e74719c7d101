"""Owners create, change, test and remove webhooks, and read their logs."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from refinement.models import BlindReading, QueuedMessage, Webhook, WebhookAttempt, WebhookDelivery
from refinement.selectors.webhooks import PAGE_SIZE
from refinement.services.webhooks.hooks import HookValues, webhook_change, webhook_create, webhook_ping
from tests.views.comments.given import harm_in, say
from tests.views.runs.finished import finished_run

pytestmark = pytest.mark.django_db
LIST = "/p/alpha/settings/webhooks/"
TYPED = {
    "address": "https://hooks.example.org/hook",
    "format": "wiggum",
    "events": ["run.finished", "run.waiting"],
    "active": "on",
}


@pytest.fixture
def hook(project, owner):
    values = HookValues("https://hooks.example.org/hook", ["run.finished", "comment.created"])
    return webhook_create(project=project, by=owner, values=values)[0]


@pytest.fixture
def page(hook):
    return f"{LIST}{hook.pk}/"


def attempted(delivery, **fields):
    values = {
        "number": 1,
        "at": timezone.now(),
        "status": 500,
        "milliseconds": 12,
        "error": "Status 500.",
    }
    return WebhookAttempt.objects.create(delivery=delivery, **values | fields)


def test_the_settings_lead_there(as_owner):
    assert f'href="{LIST}"' in as_owner.get("/p/alpha/settings/").content.decode()
    assert "No webhooks yet" in as_owner.get(LIST).content.decode()


def test_the_secret_is_shown_once(as_owner, project, owner):
    answer = as_owner.post(LIST, TYPED | {"note": "For the chat"})
    assert answer.status_code == 201
    assert "no-store" in answer.headers["Cache-Control"]
    secret = re.search(r"whsec_[\w-]{43}", answer.content.decode()).group(0)

    hook = Webhook.objects.get()
    assert (hook.events, hook.note, hook.active) == (["run.finished", "run.waiting"], "For the chat", True)
    assert secret not in as_owner.get(LIST).content.decode()
    assert secret not in as_owner.get(f"{LIST}{hook.pk}/").content.decode()

    again = as_owner.post(f"{LIST}{hook.pk}/secret/")
    assert again.status_code == 201
    assert re.search(r"whsec_[\w-]{43}", again.content.decode()).group(0) != secret


def test_a_chat_has_no_secret_to_show(as_owner):
    answer = as_owner.post(LIST, TYPED | {"format": "slack"}, follow=True)
    text = answer.content.decode()

    assert Webhook.objects.get().format == "slack"
    assert "Webhook created." in text
    assert "whsec_" not in text
    assert "New secret" not in text
    assert '<option value="slack" selected>' in text


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"address": "http://127.0.0.1:8000/"}, "private or reserved network"),
        ({"address": "https://me:word@hooks.example.org/"}, "Remove the user name and password"),
        ({"address": "https://[fe80::1%25lo]/"}, "Remove the zone"),
        ({"address": "https://[::ffff:0:10.0.0.1]/"}, "private or reserved network"),
        ({"address": ""}, "This field is required"),
        ({"events": []}, "Choose at least one event"),
        ({"events": ["run.exploded"]}, "run.exploded is not one of the available choices"),
        ({"note": "x" * 121}, "at most 120 characters"),
    ],
)
def test_what_cannot_be_used_is_said_beside_its_field(as_owner, page, hook, typed, said):
    for address in (LIST, page):
        answer = as_owner.post(address, TYPED | {"version": "1"} | typed)
        assert answer.status_code == 422
        assert said in answer.content.decode()
    hook.refresh_from_db()
    assert hook.version == 1
    assert Webhook.objects.count() == 1


def test_a_change_on_top_of_another_is_shown_as_a_choice(as_owner, owner, hook, page):
    webhook_change(webhook=hook, by=owner, values=HookValues(hook.address, ["review.asked"]), version=1)

    answer = as_owner.post(page, TYPED | {"version": "1", "note": "Mine"})
    text = answer.content.decode()
    assert answer.status_code == 409
    assert "Events: review.asked" in text
    assert 'value="Mine"' in text
    assert as_owner.post(page, TYPED | {"version": "2", "note": "Mine"}).status_code == 302
    hook.refresh_from_db()
    assert (hook.note, hook.version) == ("Mine", 3)


def test_a_ping_is_sent_and_its_page_says_what_came_back(as_owner, hook, page):
    answer = as_owner.post(f"{page}ping/", follow=True)
    delivery = WebhookDelivery.objects.get()
    assert answer.redirect_chain == [(f"{page}deliveries/{delivery.pk}/", 302)]
    assert "Not sent yet" in answer.content.decode()
    assert QueuedMessage.objects.count() == 1

    attempted(delivery, answer="<script>alert(1)</script>")
    text = as_owner.get(f"{page}deliveries/{delivery.pk}/").content.decode()
    assert "Status 500." in text
    assert "&lt;script&gt;alert(1)" in text
    assert harm_in(text) == []
    assert str(delivery.key) in text


def test_sending_again(as_owner, hook, page, owner):
    delivery = webhook_ping(webhook=hook, by=owner)
    WebhookDelivery.objects.update(status="failed", tries=7)
    address = f"{page}deliveries/{delivery.pk}/resend/"

    assert "Resending." in as_owner.post(address, follow=True).content.decode()
    assert "already being sent" in as_owner.post(address, follow=True).content.decode()


def test_removing(as_owner, hook, page):
    assert "Webhook deleted." in as_owner.post(f"{page}remove/", follow=True).content.decode()
    assert as_owner.get(page).status_code == 404


def test_of_another_project_nothing_is_found(as_outsider, hook, owner):
    delivery = webhook_ping(webhook=hook, by=owner)
    theirs = f"/p/beta/settings/webhooks/{hook.pk}/"
    for address in (theirs, f"{theirs}deliveries/{delivery.pk}/"):
        assert as_outsider.get(address).status_code == 404
    for act in ("ping", "secret", "remove", f"deliveries/{delivery.pk}/resend"):
        assert as_outsider.post(f"{theirs}{act}/").status_code == 404
    assert Webhook.objects.count() == 1


def test_the_log_has_pages_states_and_a_fixed_number_of_queries(as_owner, hook, page, owner):
    def asked(address) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert as_owner.get(address).status_code == 200
        return len(queries)

    attempted(webhook_ping(webhook=hook, by=owner))
    asked(page)  # the session is brought up to date by the first page
    few = {address: asked(address) for address in (page, LIST)}
    for _ in range(PAGE_SIZE):
        attempted(webhook_ping(webhook=hook, by=owner))
    first = WebhookDelivery.objects.order_by("id").first()
    WebhookDelivery.objects.filter(pk=first.pk).update(status="failed")
    assert {address: asked(address) for address in (page, LIST)} == few

    text = as_owner.get(page).content.decode()
    assert f"deliveries/{first.pk}/" not in text
    older = re.search(r'rel="next" href="([^"]+)"', text).group(1)
    assert f"deliveries/{first.pk}/" in as_owner.get(older).content.decode()
    failed = as_owner.get(f"{page}?status=failed").content.decode()
    assert re.findall(r"/deliveries/(\d+)/", failed) == [str(first.pk)]
    assert as_owner.get(f"{page}?status=x&before=y").status_code == 200


def test_who_scores_a_run_blind_is_not_shown_what_was_sent_about_it(as_owner, hook, page, owner, project):
    run = finished_run(project)
    say(run, owner)
    delivery = WebhookDelivery.objects.get()
    assert "8.6" in as_owner.get(f"{page}deliveries/{delivery.pk}/").content.decode()

    BlindReading.objects.create(run=run, reader=owner, round_number=1)
    assert as_owner.get(f"{page}deliveries/{delivery.pk}/").status_code == 404
    assert f"deliveries/{delivery.pk}/" not in as_owner.get(page).content.decode()
