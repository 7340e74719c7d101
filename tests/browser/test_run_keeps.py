"""Live updates of a run's page keep open menus, choices, focus and selections."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from refinement.models import Event, Round, Run
from tests.views.runs.finished import finished_run

GOES_ON = {"status": "running", "outcome": "", "stop_reason": "", "finished_at": None, "why": ""}
UNJUDGED = {"judged_at": None, "composite": None, "scores": None, "signals": []}
# The test marks elements by script: replaced elements do not have the mark.
MARK = "(places) => places.forEach((place) => { document.querySelector(place).marked = 'by the reader'; })"
MARKED = "(places) => places.map((place) => document.querySelector(place)?.marked ?? place)"
SELECT = """() => {
  const words = document.querySelector("#round-text .prose p").firstChild;
  getSelection().setBaseAndExtent(words, 0, words, 9);
}"""


@pytest.fixture
def run(site, project) -> Run:
    """A run at work whose last round waits for its verdict."""
    made = finished_run(project, ["7.15", "8.6", "8.3"], **GOES_ON)
    Round.objects.filter(run=made, number=3).update(**UNJUDGED)
    return made


def home(run: Run) -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/"


def it_ends(run: Run) -> None:
    """As a worker writes it: the verdict, the end, and the event that open pages hear of."""
    Round.objects.filter(run=run, number=3).update(
        judged_at=timezone.now(), composite="8.3", scores={"depth": "8.3"}
    )
    Run.objects.filter(pk=run.pk).update(
        status="finished", outcome="FAIL", stop_reason="max_rounds", finished_at=timezone.now()
    )
    Event.objects.create(run=run, kind="stopped", actor="worker", data={})


def ended_on(page: Page, score: str = "8.60") -> None:
    """The best round is open, unless the reader chose another one."""
    expect(page.locator(".answer-outcome")).to_contain_text("FAIL")
    expect(page.locator("#run-stop")).to_have_count(0)
    expect(page.locator("#run-rounds")).to_contain_text("0.30")
    expect(page.locator("#round .composite")).to_contain_text(score)


def test_an_open_menu_stays_open_and_works_when_the_run_ends(signed_in: Page, run: Run):
    signed_in.goto(home(run))
    signed_in.locator("#run-more > summary").click()
    signed_in.evaluate(MARK, ["#run-more", "#run-more .menu-panel"])
    it_ends(run)
    ended_on(signed_in)
    assert signed_in.evaluate(MARKED, ["#run-more", "#run-more .menu-panel"]) == ["by the reader"] * 2
    expect(signed_in.locator("#run-more .menu-panel")).to_be_visible()
    signed_in.get_by_role("button", name="Archive").click()
    expect(signed_in.get_by_role("status").first).to_contain_text("Run archived.")


def test_what_is_opened_chosen_and_selected_stays(signed_in: Page, run: Run):
    signed_in.goto(f"{home(run)}rounds/3/")
    signed_in.locator("#chart-lines > summary").click()
    signed_in.get_by_role("checkbox", name="Depth").uncheck()
    signed_in.locator("#chart-table > summary").click()
    signed_in.locator("#round-text .prose").wait_for()
    signed_in.evaluate(SELECT)
    it_ends(run)
    ended_on(signed_in, "8.30")
    expect(signed_in.get_by_role("table", name="").first).to_contain_text("8.30")
    expect(signed_in.locator("#series-1")).not_to_be_checked()
    expect(signed_in.locator(".chart-wide .chart-line.chart-series-1")).to_be_hidden()
    assert signed_in.evaluate("getSelection().toString()") == "Version 2"


def test_the_focus_stays_on_what_stays_and_near_what_goes(signed_in: Page, run: Run):
    signed_in.goto(home(run))
    card = signed_in.get_by_role("navigation", name="Rounds").get_by_role("link").nth(1)
    card.focus()
    Event.objects.create(run=run, kind="judged", actor="worker", data={})
    with signed_in.expect_response("**part=page*"):
        pass
    expect(card).to_be_focused()
    signed_in.locator("#run-stop > summary").focus()
    it_ends(run)
    ended_on(signed_in)
    expect(signed_in.locator("#run-head")).to_be_focused()
    signed_in.keyboard.press("Tab")
    assert signed_in.evaluate("document.getElementById('run-head').contains(document.activeElement)")


def test_buttons_that_came_by_themselves_work(signed_in: Page, run: Run):
    signed_in.goto(home(run))
    it_ends(run)
    ended_on(signed_in)
    signed_in.locator("#run-menu > summary").click()
    signed_in.get_by_label("More rounds").fill("many")
    signed_in.locator("#act-continue").get_by_role("button").click()
    expect(signed_in.get_by_text("Enter the number of rounds")).to_be_visible()


def test_who_looks_at_a_difference_sees_the_verdict_come_in_beside_it(signed_in: Page, run: Run):
    signed_in.goto(f"{home(run)}rounds/3/")
    difference = signed_in.locator("#round-text").get_by_role("link", name="Changes from round 2")
    difference.click()
    expect(difference).to_have_attribute("aria-current", "true")
    it_ends(run)
    ended_on(signed_in, "8.30")
    expect(difference).to_have_attribute("aria-current", "true")


def test_times_that_came_by_themselves_are_the_reader_s(signed_in: Page, run: Run):
    signed_in.goto(home(run))
    it_ends(run)
    ended_on(signed_in)
    expect(signed_in.locator("time:not([data-zoned])")).to_have_count(0)
