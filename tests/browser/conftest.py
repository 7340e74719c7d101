"""A real browser and a live server. A test fails if a page reports an error on its console."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

# Debian's Chromium. Its headless shell has no window and opens a page in a fifth of the time.
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
    # Browsers report error statuses on the console; error pages have one on purpose.
    "Failed to load resource: the server responded with a status of 4",
    # htmx reports that a later click replaced a request; failed requests have another message.
    "htmx:afterRequest",
    "htmx:sendAbort",
)
expect.set_options(timeout=30_000)  # milliseconds; only a failing test waits that long


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
    """The URL of the live server, which shares its database with the test."""
    return live_server.url


def watched(context: BrowserContext) -> tuple[Page, list[str]]:
    """A page, and a list of all errors that it reports."""
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
    """A page with the app's Content Security Policy; the test fails if the browser reports an error."""
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
