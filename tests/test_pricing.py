"""The cost of tokens, and money as text."""

from decimal import Decimal

import pytest

from refinement.pricing import cost_of, money

PRICES = {"cloud/large": ["2.0000", "6.0000"]}


def test_the_cost_of_tokens():
    assert cost_of(PRICES, "cloud", "large", 50_000, 10_000) == Decimal("0.16")
    assert cost_of(PRICES, "cloud", "large", 1, 0) == Decimal("0.000002")
    assert cost_of(PRICES, "cloud", "large", 0, 0) == 0


def test_a_model_without_a_price_has_no_cost():
    assert cost_of(PRICES, "ollama", "large", 50_000, 10_000) is None
    assert cost_of({}, "cloud", "large", 50_000, 10_000) is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "$0.00"),
        ("0.17", "$0.17"),
        ("0.165", "$0.17"),
        ("1234.5", "$1,234.50"),
        ("0.01", "$0.01"),
        ("0.0042", "$0.0042"),
        ("0.00001234", "$0.000012"),
    ],
)
def test_money_as_text(amount, text):
    assert money(Decimal(amount)) == text


def test_another_currency(settings):
    settings.CURRENCY = "CHF "
    assert money(Decimal("0.5")) == "CHF 0.50"
