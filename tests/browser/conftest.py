"""A real browser against a live server; every page's console is watched for broken rules."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

# Debian's Chromium. Its headless shell opens a page in a fifth of the time: it draws no window around it.
BROWSERS = [Path("/usr/bin/chromium-headless-shell"), Path("/usr/bin/chromium")]
CHROMIUM = next((path for path in BROWSERS if path.exists()), BROWSERS[-1])
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
EXPECTED = (
    # A browser says on its console that an answer had such a status; error pages are meant to have one.
    "Failed to load resource: the server responded with a status of 4",
    # htmx says that a later click took the place of a request; a failed one is said in other words.
    "htmx:afterRequest",
    "htmx:sendAbort",
)
expect.set_options(timeout=30_000)  # milliseconds: only a failure takes so long


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}: install Debian's chromium package")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def site(transactional_db, live_server) -> str:
    """The address of the live server, on a database that it shares with the test."""
    return live_server.url


def watched(context: BrowserContext) -> tuple[Page, list[str]]:
    """A page, and the list that fills with every error it reports."""
    page, complaints = context.new_page(), []
    page.on(
        "console",
        lambda entry: (
            complaints.append(entry.text)
            if entry.type == "error" and not entry.text.startswith(EXPECTED)
            else None
        ),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


@pytest.fixture
def page(browser, site) -> Iterator[Page]:
    """A page under the product's own policy; the test fails if the browser complained."""
    context = browser.new_context(base_url=site, viewport={"width": 1280, "height": 900})
    opened, complaints = watched(context)
    yield opened
    context.close()
    assert complaints == []


@pytest.fixture
def signed_in(page, site, owner, as_owner) -> Page:
    """The same page, signed in as the project's owner."""
    page.context.add_cookies(
        [{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}]
    )
    return page
