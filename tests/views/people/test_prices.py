"""Prices of models: only for administrators."""

from decimal import Decimal

import pytest
from django.test import Client

from refinement.models import AuditEntry, ModelPrice, User
from refinement.selectors.launch.available_models import offers

pytestmark = pytest.mark.django_db
PAGE = "/administration/prices/"
PRICE = {"model": "ollama/mistral-large", "prompt": "2", "completion": "6.5"}


@pytest.fixture(autouse=True)
def _no_models(monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", "http://127.0.0.1:9")
    offers.forget()
    yield
    offers.forget()


@pytest.fixture
def as_boss(db) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("berta@example.org", None, name="Berta Boss"))
    return client


def test_a_price_is_set_changed_and_removed(as_boss):
    empty = as_boss.get(PAGE).content.decode()
    assert "No prices yet" in empty
    assert "Input, $ per million tokens" in empty

    page = as_boss.post(PAGE, PRICE, follow=True).content.decode()
    assert "ollama/mistral-large" in page
    assert "$6.50" in page
    assert 'value="6.5"' in as_boss.get(PAGE, {"model": "ollama/mistral-large"}).content.decode()

    as_boss.post(PAGE, {**PRICE, "prompt": "3"})
    price = ModelPrice.objects.get()
    assert (price.endpoint, price.model, price.prompt) == ("ollama", "mistral-large", Decimal(3))

    as_boss.post(f"{PAGE}{price.pk}/remove/")
    assert not ModelPrice.objects.exists()
    actions = ["price.set", "price.set", "price.remove"]
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == actions


def test_saving_the_same_price_again_is_not_a_change(as_boss):
    as_boss.post(PAGE, PRICE)
    as_boss.post(PAGE, PRICE)
    assert AuditEntry.objects.filter(action="price.set").count() == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": "mistral-large"}, "Enter server/model"),
        ({"prompt": "-1"}, "Enter 0 or more."),
        ({"completion": "many"}, "Enter an amount, such as 0.15."),
        ({"completion": "123456789"}, "no more than 8 digits"),
    ],
)
def test_a_wrong_price_is_explained(as_boss, change, complaint):
    answer = as_boss.post(PAGE, {**PRICE, **change})
    assert answer.status_code == 422
    assert complaint in answer.content.decode()
    assert not ModelPrice.objects.exists()


def test_only_administrators(as_owner, anonymous, as_boss):
    assert as_owner.get(PAGE).status_code == 403
    assert as_owner.post(PAGE, PRICE).status_code == 403
    assert anonymous.post(PAGE, PRICE).status_code == 302
    assert as_boss.get(f"{PAGE}1/remove/").status_code == 405
    assert not ModelPrice.objects.exists()
