"""A webhook in a browser: create it, test it over a real socket, read its log."""

import pytest
from playwright.sync_api import expect

from refinement.execution.deliveries import delivery_send
from refinement.models import WebhookDelivery
from refinement.webhooks.networks import PRIVATE
from tests.browser.test_accessibility import inspect
from tests.webhooks.receiver import receiving, status

__all__ = ["inspect"]


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_NETWORKS = PRIVATE
    with receiving() as server:
        yield server


def test_an_owner_makes_one_and_sees_what_came_back(signed_in, inspect, receiver, as_owner):
    page = signed_in
    page.goto("/p/alpha/settings/webhooks/")
    page.get_by_role("textbox", name="URL").fill(receiver.address)
    page.get_by_label("Run finished").check()
    page.get_by_role("button", name="Add webhook").click()
    secret = page.get_by_label("Secret", exact=True).input_value()
    assert secret.startswith("whsec_")

    receiver.answer = status(500, "The database is down.")
    page.get_by_role("button", name="Send ping").click()
    expect(page.get_by_text("Not sent yet.")).to_be_visible()
    delivery = WebhookDelivery.objects.get()
    delivery_send(delivery.pk)
    page.reload()
    expect(page.get_by_text("Status 500. Only 200 to 299 counts as delivered.")).to_be_visible()
    page.get_by_text("Response", exact=True).click()
    expect(page.get_by_text("The database is down.")).to_be_visible()

    receiver.answer = status(204)
    page.get_by_role("button", name="Resend").click()
    delivery_send(delivery.pk)
    page.reload()
    expect(page.get_by_text("Delivered", exact=True).first).to_be_visible()
    assert {got.headers["Wiggum-Delivery"] for got in receiver.received} == {str(delivery.key)}
    assert len(receiver.received) == 2

    session = as_owner.cookies["sessionid"].value
    log = f"/p/alpha/settings/webhooks/{delivery.webhook_id}/"
    assert inspect("/p/alpha/settings/webhooks/", session) == []
    assert inspect(log, session) == []
    assert inspect(f"{log}deliveries/{delivery.pk}/", session) == []
