"""Launching in a browser: from the form to the live page, by keyboard, and without scripts."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from refinement.models import Run
from refinement.selectors.launch.available_models import offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.rubrics.editing import default_rubrics_install
from tests.browser.conftest import watched
from tests.browser.test_accessibility import in_both_themes, inspect
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import valid_replies
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy
from tests.streaming.served import Served

__all__ = ["inspect", "ollama_server"]
NEW = "/p/alpha/runs/new/"
A_RUN = re.compile(r"/p/alpha/runs/\d+/$")
TEXT = "".join(f"Sentence {number} of a long draft. " for number in range(80)).strip()


def fill(page: Page) -> None:
    page.get_by_label("What should be written?").fill("Explain our backups.")
    page.get_by_label("Writer", exact=True).select_option("ollama/loopback:1b")
    page.get_by_label("Judge", exact=True).select_option("ollama/loopback:8b")


# --- with a real server, worker and stream --------------------------------------------------------
@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    directory = prepared_copy(tmp_path_factory, "launch")
    with LoopbackServer() as server:
        judged = valid_replies()
        server.replies = lambda asked: judged(asked) if asked.schema else TEXT
        made = Served(directory, server)
        yield made
        made.clean_up()


@pytest.fixture
def live_page(browser, served: Served) -> Iterator[Page]:
    address = f"http://127.0.0.1:{served.instance.port}"
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": served.sessions["olivia"], "url": address}])
    page, complaints = watched(context)
    page.set_default_timeout(30_000)
    yield page
    context.close()
    assert complaints == []


def test_from_the_form_to_a_page_that_moves_by_itself(live_page: Page, served: Served):
    served.server.chunks, served.server.chunk_delay = 80, 0.5  # longer than anybody waits for it here
    live_page.goto(NEW)
    fill(live_page)
    # The estimate follows, and with it what is to be known: then one press launches.
    expect(live_page.get_by_text("Writer and judge are of the same family.")).to_be_visible()
    live_page.get_by_label("What should be written?").press("Control+Enter")
    live_page.wait_for_url(A_RUN, timeout=30_000)
    expect(live_page.get_by_text("the writer is writing the first draft.")).to_be_visible(timeout=30_000)

    text = live_page.locator("[data-live-text]")
    expect(text).to_contain_text("Sentence 0 of a long draft.", timeout=30_000)
    first = len(text.text_content() or "")
    expect(text).to_contain_text("Sentence 6 of a long draft.", timeout=30_000)
    assert len(text.text_content() or "") > first
    expect(live_page.locator(".answer-outcome").get_by_text("RUNNING")).to_be_visible()
    assert live_page.evaluate("localStorage.length") == 0

    served.server.chunk_delay = 0.0
    expect(live_page.locator("#run-chart svg").first).to_be_visible(timeout=30_000)
    live_page.locator("#live-bar").wait_for(state="hidden", timeout=40_000)
    expect(live_page.locator(".answer-outcome")).to_have_text(re.compile("PASS|FAIL"))


def test_a_run_that_is_cancelled_stops_on_the_page(live_page: Page, served: Served):
    served.server.chunks, served.server.chunk_delay = 80, 0.5
    live_page.goto(NEW)
    fill(live_page)
    expect(live_page.get_by_text("Writer and judge are of the same family.")).to_be_visible()
    live_page.get_by_role("button", name="Launch").last.click()
    live_page.wait_for_url(A_RUN, timeout=30_000)
    expect(live_page.locator("[data-live-text]")).to_contain_text("Sentence 3", timeout=30_000)
    live_page.locator("#run-stop > summary").click()
    live_page.get_by_role("button", name="Stop run").click()
    expect(live_page.get_by_text("STOPPED").first).to_be_visible(timeout=30_000)
    served.server.chunk_delay = 0.0


# --- the form alone -------------------------------------------------------------------------------
@pytest.fixture
def ready(project, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    offers.forget()
    contexts.forget()
    yield
    offers.forget()
    contexts.forget()


def test_launch_and_estimate_are_in_sight_on_a_laptop_and_on_a_phone(signed_in: Page, ready):
    signed_in.set_viewport_size({"width": 1440, "height": 900})
    signed_in.goto(NEW)
    for seen in (signed_in.get_by_role("button", name="Launch").last, signed_in.locator("#launch-estimate")):
        box = seen.bounding_box()
        assert box["y"] + box["height"] <= 900
    folds = signed_in.get_by_role("region", name="More settings").bounding_box()
    assert folds["y"] + folds["height"] <= 900
    signed_in.set_viewport_size({"width": 390, "height": 800})
    expect(signed_in.get_by_role("button", name="Launch").last).to_be_in_viewport(ratio=1)
    expect(signed_in.locator("#launch-bar")).to_be_in_viewport(ratio=1)


def test_another_rubric_brings_its_settings_and_keeps_what_was_typed(signed_in: Page, ready):
    signed_in.goto(NEW)
    signed_in.get_by_text("Override the rubric for this run").click()
    rounds = signed_in.get_by_label("Maximum rounds")
    expect(rounds).to_have_attribute("placeholder", "3")
    rounds.fill("6")
    signed_in.locator("#id_rubric").select_option("simmer")
    expect(signed_in.get_by_label("Pass mark")).to_have_attribute("placeholder", "none")
    expect(rounds).to_have_value("6")
    expect(signed_in.locator("#launch-estimate")).to_contain_text("8 to 12")


def test_what_was_typed_is_there_after_the_page_was_left(signed_in: Page, ready):
    signed_in.goto(NEW)
    fill(signed_in)
    expect(signed_in.get_by_text("Writer and judge are of the same family.")).to_be_visible()
    signed_in.goto(NEW)
    expect(signed_in.get_by_label("What should be written?")).to_have_value("")
    signed_in.get_by_role("button", name="Restore").click()
    expect(signed_in.get_by_label("What should be written?")).to_have_value("Explain our backups.")
    expect(signed_in.get_by_label("Judge", exact=True)).to_have_value("ollama/loopback:8b")
    signed_in.goto(NEW)
    signed_in.get_by_role("button", name="Discard").click()
    signed_in.goto(NEW)
    expect(signed_in.get_by_role("button", name="Restore")).to_be_hidden()


def test_two_presses_launch_once(signed_in: Page, ready):
    signed_in.goto(NEW)
    fill(signed_in)
    expect(signed_in.get_by_text("Writer and judge are of the same family.")).to_be_visible()
    signed_in.get_by_role("button", name="Launch").last.dblclick(no_wait_after=True)
    signed_in.wait_for_url(A_RUN)
    assert Run.objects.count() == 1


def test_it_works_without_script(browser, site, as_owner, ready):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(NEW)
    fill(page)
    page.get_by_role("button", name="Launch").last.click()
    expect(page.get_by_text("Nothing was launched yet")).to_be_visible()
    page.get_by_role("button", name="Launch anyway").click()
    page.wait_for_url(A_RUN)
    page.get_by_role("link", name="Reload it every few seconds").click()
    expect(page.get_by_text("Queued.")).to_be_visible()
    context.close()


def test_nothing_serious_is_found(inspect, as_owner, ready):
    assert inspect(NEW, session=as_owner.cookies["sessionid"].value) == []


def test_a_form_with_errors(browser, site, as_owner, ready):
    context = browser.new_context(base_url=site, bypass_csp=True)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(NEW)
    page.get_by_text("Override the rubric for this run").click()
    page.get_by_label("Maximum rounds").fill("many")
    page.get_by_role("button", name="Launch").last.click()
    expect(page.get_by_text("Not a whole number.")).to_be_visible()
    assert in_both_themes(page) == []
    context.close()
