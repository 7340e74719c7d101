"""Times are shown in the browser's time zone, also in swapped content."""

import re
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from refinement.models import ReviewRequest, Run
from tests.models.given import a_run


@pytest.mark.parametrize(
    ("zone", "words"), [("Asia/Tokyo", "08:30"), ("UTC", "23:30"), ("Asia/Kolkata", "05:00")]
)
def test_an_exact_time_is_the_readers(browser, site, project, owner, as_owner, zone, words):
    run = a_run(project, user=owner)
    Run.objects.filter(pk=run.pk).update(created_at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    context = browser.new_context(base_url=site, timezone_id=zone, locale="en-GB")
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(f"/p/{project.slug}/runs/")
    times = page.locator("time[data-zoned]")
    times.first.wait_for(state="attached")
    assert any(words in (time.get_attribute("title") or "") for time in times.all())
    context.close()


@pytest.fixture
def anywhere(browser, site, as_owner):
    """Opens a page in a zone, with the reader's clock at a moment."""
    contexts = []

    def opened(address: str, zone: str, now: str, script: bool = True) -> Page:
        contexts.append(
            browser.new_context(base_url=site, timezone_id=zone, locale="en-GB", java_script_enabled=script)
        )
        session = as_owner.cookies["sessionid"].value
        contexts[-1].add_cookies([{"name": "sessionid", "value": session, "url": site}])
        page = contexts[-1].new_page()
        page.clock.set_fixed_time(now)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()


# At this moment it is the first of March in Los Angeles and in London, and the second in Tokyo.
MOMENT = "2026-03-01T20:00:00Z"


@pytest.mark.parametrize(
    ("zone", "due", "words", "look"),
    [
        ("America/Los_Angeles", "2026-03-01", "due today", "chip-warn"),
        ("Asia/Tokyo", "2026-03-01", "overdue by 1 day", "chip-bad"),
        ("Asia/Tokyo", "2026-03-02", "due today", "chip-warn"),
        ("Europe/London", "2026-03-02", "due tomorrow", ""),
        ("Europe/London", "2026-03-15", "due in 14 days", ""),
        ("Europe/London", "2026-03-16", "due 16 March 2026", ""),
    ],
)
def test_a_day_is_due_by_the_readers_calendar(anywhere, project, owner, zone, due, words, look):
    run = a_run(project, user=owner)
    ReviewRequest.objects.create(project=project, run=run, reviewer=owner, asked_by=owner, due_on=due)
    chip = anywhere(f"/p/{project.slug}/reviews/", zone, MOMENT).locator("section time[data-due]")
    expect(chip).to_have_text(words)
    expect(chip).to_have_class(f"chip {look}".strip())
    expect(chip).to_have_attribute("title", re.compile("March 2026"))


def test_a_day_is_the_readers(anywhere, project, owner):
    Run.objects.filter(pk=a_run(project, user=owner).pk)
    project.memberships.update(created_at=datetime(2026, 3, 1, 23, 30, tzinfo=UTC))
    page = anywhere(f"/p/{project.slug}/members/", "Asia/Tokyo", MOMENT)
    expect(page.locator("time[data-day]").first).to_have_text("2 March 2026")
    plain = anywhere(f"/p/{project.slug}/members/", "Asia/Tokyo", MOMENT, script=False)
    expect(plain.locator("time[data-day]").first).to_have_text("1 March 2026")
    expect(plain.locator("time[data-day]").first).to_have_attribute("title", "1 March 2026, 23:30 UTC")
