"""Times on pages."""

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from django.template import Context, Template
from django.utils import timezone as clock

from refinement.templatetags.wording import ago_text, exact_text

NOW = datetime(2026, 3, 29, 12, 30, 30, 500, tzinfo=UTC)


def shown(tag, value):
    return Template(f"{{% load wording %}}{{% {tag} value %}}").render(Context({"value": value}))


@pytest.fixture(autouse=True)
def at_noon(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NOW)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(seconds=60), "1\N{NO-BREAK SPACE}minute ago"),
        (timedelta(hours=25), "1\N{NO-BREAK SPACE}day ago"),
        (timedelta(days=40), "1\N{NO-BREAK SPACE}month ago"),
    ],
)
def test_how_long_ago_is_said_in_one_unit(span, words):
    assert ago_text(NOW - span) == words


@pytest.mark.parametrize("seconds", [0, 59, 59.999, -1, -86_400])
def test_what_has_hardly_happened_is_just_now(seconds):
    assert ago_text(NOW - timedelta(seconds=seconds)) == "just now"


@pytest.mark.parametrize("month", range(1, 13))
def test_the_exact_time_is_said_as_the_calendar_says_it(month):
    moment = datetime(2025, month, 3, 7, 5, tzinfo=timezone(timedelta(hours=-5)))
    for zone in (UTC, ZoneInfo("Europe/Berlin")):
        with clock.override(zone):
            assert exact_text(moment) == f"{moment.astimezone(zone):%-d %B %Y, %H:%M %Z}"


def test_both_stand_in_one_element():
    assert shown("ago", NOW - timedelta(minutes=5)) == (
        '<time datetime="2026-03-29T12:25:30.000500+00:00" title="29 March 2026, 12:25 UTC">'
        "5\N{NO-BREAK SPACE}minutes ago</time>"
    )
    assert shown("ago", None) == ""


@pytest.mark.parametrize(
    ("day", "words"),
    [
        (date(2026, 3, 27), ">overdue by 2 days<"),
        (date(2026, 3, 28), ">overdue by 1 day<"),
        (date(2026, 3, 29), ' chip-warn" datetime="2026-03-29" title="29 March 2026" data-due>due today<'),
        (date(2026, 3, 30), ">due tomorrow<"),
        (date(2026, 4, 12), ">due in 14 days<"),
        (date(2026, 4, 13), ">due 13 April 2026<"),
    ],
)
def test_how_far_off_a_due_day_is(day, words):
    assert words in shown("due", day)


def test_a_day_has_its_exact_time_with_it():
    assert shown("exact_day", NOW) == (
        f'<time datetime="{NOW.isoformat()}" title="29 March 2026, 12:30 UTC" data-day>29 March 2026</time>'
    )
