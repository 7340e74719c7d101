"""A run page's stream: it reconnects, pauses while the tab is hidden, and ends with the run."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import watched
from tests.loopback.faults import Fault
from tests.loopback.replies import Asked, valid_replies
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy
from tests.streaming.served import Served

PATIENCE = 40_000.0
PAUSE = "from refinement.services.runs.lifecycle import run_pause; run_pause(run=run)"
FINISHED = """
from refinement.models import Project
from tests.views.comments.given import talked_run
print("told", talked_run(Project.objects.get(slug="alpha")).pk)
"""
RESUME = """
from refinement.models import Run
from refinement.services.runs.lifecycle import run_resume
print("told", run_resume(run=Run.objects.get(pk={run})).pk)
"""
# What a service that starts a finished run again writes, without the work of a worker.
EXTEND = """
from refinement.models import Event, Run
Run.objects.filter(pk={run}).update(status="paused", outcome="", stop_reason="", finished_at=None, why="")
print("told", Event.objects.create(run_id={run}, kind="extended", actor="Edgar", data={{}}).pk)
"""
# What a page says, without its times: they go on.
SAID = """() => {
  const main = document.querySelector("main").cloneNode(true);
  main.querySelectorAll("time, script").forEach((part) => part.remove());
  return main.textContent.replace(/\\s+/g, " ");
}"""
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    directory = prepared_copy(tmp_path_factory, "connection")
    with LoopbackServer() as server:
        made = Served(directory, server)
        yield made
        made.clean_up()


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    base = f"http://127.0.0.1:{served.instance.port}"
    context = browser.new_context(base_url=base)
    context.add_cookies([{"name": "sessionid", "value": served.sessions["olivia"], "url": base}])
    opened, complaints = watched(context)
    opened.set_default_timeout(PATIENCE)
    yield opened
    context.close()
    assert [text for text in complaints if "ERR_FAILED" not in text] == []


def test_a_lost_connection_is_said_and_found_again(page: Page, served: Served):
    run = served.launch(then=PAUSE)
    page.route("**/events/**", lambda route: route.abort())
    page.goto(f"/p/alpha/runs/{run}/")
    notice = page.locator("[data-live-notice]")
    expect(notice).to_have_text("Connection lost. Reconnecting…", timeout=PATIENCE)
    page.unroute_all()
    expect(notice).to_be_hidden(timeout=PATIENCE)
    served.shell(RESUME.format(run=run))
    expect(page.locator(".answer-outcome")).to_have_text(re.compile("PASS|FAIL"), timeout=PATIENCE)


def test_a_run_that_fails_at_once_is_shown_with_its_error(page: Page, served: Served):
    run = served.launch(then=PAUSE)
    page.goto(f"/p/alpha/runs/{run}/")
    served.server.faults = [Fault("context_exceeded")]
    served.shell(RESUME.format(run=run))
    expect(page.locator("#run-head")).to_contain_text("ERROR", timeout=PATIENCE)
    expect(page.get_by_role("button", name="Retry")).to_be_visible()
    expect(page.locator("#live-bar")).to_be_hidden()
    served.server.faults = []


def test_a_run_that_ends_looks_as_after_a_reload_at_its_best_round(page: Page, served: Served):
    scores = iter((5, 8, 6))
    text = valid_replies()

    def reply(asked: Asked) -> object:
        return valid_replies(next(scores))(asked) if asked.schema else text(asked)

    served.server.replies = reply
    run = served.launch(rounds=3, then=PAUSE)
    page.goto(f"/p/alpha/runs/{run}/")
    served.shell(RESUME.format(run=run))
    expect(page.locator("#run-rounds [aria-current]")).to_contain_text("Round 2", timeout=PATIENCE)
    expect(page.locator("#run-head")).to_contain_text("FAIL", timeout=PATIENCE)
    expect(page.locator("#run-page.htmx-request")).to_have_count(0)
    said = page.evaluate(SAID)
    page.reload()
    assert page.evaluate(SAID) == said


def test_a_hidden_tab_gives_its_connection_up_and_takes_it_again(page: Page, served: Served):
    run = served.launch(then=PAUSE)
    page.clock.install()
    with page.expect_response(lambda answer: "/events/" in answer.url):
        page.goto(f"/p/alpha/runs/{run}/")
    page.evaluate(HIDE, True)
    page.clock.run_for(10_000)
    with page.expect_event("requestfailed", lambda request: "/events/" in request.url):
        page.clock.run_for(10_000)
    with page.expect_response(lambda answer: "/events/" in answer.url):
        page.evaluate(HIDE, False)


def test_a_run_that_goes_on_again_is_shown_at_work_without_a_new_page(page: Page, served: Served):
    run = int(served.shell(FINISHED))
    with page.expect_response(lambda answer: "/events/" in answer.url):
        page.goto(f"/p/alpha/runs/{run}/")
    expect(page.locator("#live-bar")).to_be_hidden()
    page.evaluate("window.same = true")
    page.locator("#thread-body").fill("Half a thought")
    served.shell(EXTEND.format(run=run))
    expect(page.locator("#live-bar")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_role("button", name="Resume")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#thread-body")).to_have_value("Half a thought")
    assert page.evaluate("window.same")
