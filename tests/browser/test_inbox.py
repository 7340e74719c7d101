"""The inbox in a browser: from the count to the comment by keyboard; axe in both themes."""

import pytest
from playwright.sync_api import expect

from refinement.models import Notice
from tests.browser.test_accessibility import at_both_widths
from tests.browser.test_runs_accessibility import opened, tab_to
from tests.views.comments.given import say, talked_run

__all__ = ["opened"]


@pytest.fixture
def run(site, project, owner, editor):
    run = talked_run(project, user=owner)
    say(run, editor, "Look at **this**, @Olivia Owner.", "round", 3)
    Notice.objects.create(
        user=owner,
        project=project,
        run=run,
        kind="run_ended",
        text="A run has ended.",
        read_at="2026-01-01T00:00Z",
    )
    return run


def test_from_the_count_to_the_comment_by_keyboard_alone(opened, run):
    page = opened(viewport={"width": 1280, "height": 900})
    page.goto("/p/alpha/")
    expect(page.get_by_role("link", name="Inbox 1 unread")).to_be_visible()
    tab_to(page, ".inbox-link")
    page.keyboard.press("Enter")
    page.wait_for_url("**/inbox/")
    tab_to(page, ".notice-unread a")
    page.keyboard.press("Enter")
    expect(page.locator(".comment:target .comment-body")).to_contain_text("Look at this, @Olivia Owner.")
    expect(page.locator(".comment:target")).to_be_in_viewport()
    expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()


def test_read_unread_all_read_without_script(opened, run):
    page = opened(java_script_enabled=False)
    page.goto("/inbox/")
    page.get_by_role("button", name="Mark unread").click()
    expect(page.locator(".notice-unread")).to_have_count(2)
    page.get_by_role("link", name="Unread 2", exact=True).click()
    page.get_by_role("button", name="Mark all read").click()
    expect(page.get_by_role("heading", name="You’re all caught up.")).to_be_visible()
    page.goto("/account/notices/")
    page.get_by_label("Someone mentions you: inbox").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Someone mentions you: inbox")).not_to_be_checked()


def test_axe_has_nothing_against_them(opened, run, settings):
    settings.MAIL_CONFIGURED = True
    page = opened(bypass_csp=True, viewport={"width": 1280, "height": 900})
    found = {}
    for address in ("/inbox/", "/inbox/?show=unread", "/account/notices/"):
        page.goto(address)
        found[address] = at_both_widths(page)
    assert {name: told for name, told in found.items() if told} == {}
