"""The test bench in a browser: live results, keyboard, light and dark."""

import pytest
from playwright.sync_api import Page, expect

from refinement.models import Bench
from refinement.selectors.launch.available_models import offers
from refinement.services.rubrics.bench import Candidate
from tests.browser.test_accessibility import in_both_themes, inspect
from tests.execution.lifecycle.given import worker_threads
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import EXAMPLE, TEXT, Table, calibrated
from tests.loopback.replies import valid_replies

__all__ = ["inspect", "ollama_server", "table"]

BENCH = "/p/alpha/rubrics/guides/bench/"


@pytest.fixture(autouse=True)
def _nothing_remembered():
    offers.forget()
    yield
    offers.forget()


@pytest.fixture
def table_ready(table: Table) -> Table:
    table.rubric(calibrated())
    return table


def start(page: Page, times: str, text: str = TEXT) -> None:
    page.goto(BENCH)
    page.get_by_label("Paste text").check()
    page.get_by_label("Pasted text", exact=True).fill(text)
    page.get_by_label("Judge", exact=True).select_option("ollama/loopback:8b")
    page.get_by_label("Trials").fill(times)
    page.get_by_role("button", name="Start").click()


def test_results_come_in_by_themselves(signed_in: Page, table_ready: Table):
    server = table_ready.server
    server.latency, server.replies = 0.4, valid_replies()
    start(signed_in, "4")
    expect(signed_in.get_by_text("0 of 4 trials have ended.")).to_be_visible()
    with worker_threads(1):
        # What a reader has opened stays open while further results arrive.
        first = signed_in.locator("#trial-1-ended details")
        first.locator("summary").click()
        expect(signed_in.get_by_role("heading", name="Can this judge be relied on here?")).to_be_visible()
        expect(signed_in.get_by_text("Stop", exact=True)).to_have_count(0)
    expect(first).to_have_attribute("open", "")
    expect(signed_in.locator("svg.plot")).to_have_count(7)
    expect(signed_in.locator("#bench-results[hx-trigger]")).to_have_count(0)
    signed_in.locator("#trial-1-ended").get_by_text("What was asked and answered").click()
    expect(signed_in.locator("#said-1").get_by_text("Instructions", exact=True)).to_be_visible()
    assert Bench.objects.get().status == "finished"


def test_a_bench_can_be_stopped(signed_in: Page, table_ready: Table):
    start(signed_in, "3")
    signed_in.get_by_role("button", name="Stop").click()
    expect(signed_in.get_by_text("This test was stopped after 0 of 3 trials.")).to_be_visible()


def test_only_what_the_choice_needs_is_shown(signed_in: Page, table_ready: Table):
    signed_in.goto(BENCH)
    text = signed_in.get_by_label("Pasted text", exact=True)
    expect(text).to_be_hidden()
    signed_in.get_by_label("The rubric's calibration example").focus()
    signed_in.keyboard.press("ArrowUp")
    expect(text).to_be_visible()


def test_it_works_without_script(browser, site, as_owner, table_ready: Table):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    table_ready.server.replies = valid_replies()
    start(page, "2")
    with worker_threads(1):
        table_ready.server.wait_for(lambda: Bench.objects.get().status == "finished")
    page.get_by_role("link", name="Check again").click()
    expect(page.locator("svg.plot")).to_have_count(7)
    page.locator("#trial-1-ended").get_by_text("What was asked and answered").click()
    expect(page.get_by_role("heading", name="Trial 1: what was asked and answered")).to_be_visible()
    context.close()


def test_nothing_serious_is_found_on_any_page(inspect, as_owner, table_ready: Table):
    first = table_ready.judged(6, 7, 8, candidate=Candidate(EXAMPLE, "calibration"))
    second = table_ready.judged(6, "No.", "No.", "No.", text=EXAMPLE, repeats=2)
    running = table_ready.bench()
    session = as_owner.cookies["sessionid"].value
    for path in (
        BENCH,
        *(f"{BENCH}{bench.pk}/" for bench in (first, second, running)),
        f"{BENCH}{second.pk}/trials/2/",
        f"{BENCH}compare/",
        f"{BENCH}compare/?a={first.pk}&b={second.pk}",
    ):
        assert inspect(path, session=session) == [], path


def test_a_form_with_errors(browser, site, as_owner, table_ready: Table):
    context = browser.new_context(base_url=site, bypass_csp=True)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    start(page, "7", text="  ")
    expect(page.get_by_text("Paste the text to judge.")).to_be_visible()
    expect(page.get_by_label("Trials")).to_have_value("7")
    assert in_both_themes(page) == []
    context.close()
