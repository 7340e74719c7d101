"""Times are told in the reader's own zone, on the page and in what is swapped into it."""

from datetime import UTC, datetime

import pytest

from refinement.models import Run
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
