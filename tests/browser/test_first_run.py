"""From the printed link to the project's home."""

import pytest
from playwright.sync_api import Page, expect

from refinement.models import User
from refinement.services.people.setup_links import setup_link_make


@pytest.fixture
def link(site) -> str:
    return f"/welcome/{setup_link_make()}/"


def fill(page: Page, **values: str) -> None:
    given = {
        "Your name": "Ada Lovelace",
        "Email": "ada@example.org",
        "Password": "seven quiet rivers",
        "Project name": "Docs team",
    } | values
    for label, value in given.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Create account and project").click()


def test_the_link_makes_the_first_account_once(page, link, site):
    page.goto(link)
    fill(page)

    expect(page).to_have_url(f"{site}/p/docs-team/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Docs team")
    expect(page.get_by_role("status")).to_contain_text("Welcome, Ada Lovelace")

    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("This link no longer works")
    assert User.objects.count() == 1


def test_what_was_typed_is_kept_when_something_is_wrong(page, link):
    page.goto(link)
    fill(page, Password="0123456789")

    expect(page.get_by_text("This password is too common.")).to_be_visible()
    expect(page.get_by_label("Project name")).to_have_value("Docs team")
    password = page.get_by_label("Password", exact=True)
    expect(password).to_have_value("")
    expect(password).to_have_attribute("aria-invalid", "true")
