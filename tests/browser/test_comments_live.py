"""Two people with the same run open, on a real instance: comments of one appear for the other."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from refinement.streaming.hub import MOST_OF_ONE_PERSON
from tests.browser.conftest import watched
from tests.browser.test_comments import SELECT
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy
from tests.streaming.served import Served

FINISHED = """
from refinement.models import Project
from tests.views.comments.given import talked_run
print("told", talked_run(Project.objects.get(slug="alpha")).pk)
"""
PATIENCE = 40_000.0  # milliseconds: the machine may be busy


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    directory = prepared_copy(tmp_path_factory, "talk")
    with LoopbackServer() as server:
        made = Served(directory, server)
        yield made
        made.clean_up()
        assert "Traceback" not in made.instance.said()


@pytest.fixture(scope="module")
def run(served: Served) -> int:
    return int(served.shell(FINISHED))


@pytest.fixture
def pages(browser: Browser, served: Served) -> Iterator[dict[str, Page]]:
    """The same instance before two people."""
    contexts, found, complaints = [], {}, {}
    base = f"http://127.0.0.1:{served.instance.port}"
    for name in ("olivia", "edgar"):
        context = browser.new_context(base_url=base, viewport={"width": 1280, "height": 900})
        context.add_cookies([{"name": "sessionid", "value": served.sessions[name], "url": base}])
        contexts.append(context)
        found[name], complaints[name] = watched(context)
        found[name].set_default_timeout(PATIENCE)
    yield found
    for context in contexts:
        context.close()
    assert complaints == {"olivia": [], "edgar": []}


def comment_on(page: Page, first: str, last: str, words: str) -> None:
    page.evaluate(SELECT, ["#round-text .prose", [first, last]])
    page.locator(".passage-button").click()
    form = page.locator("#talk-passage")
    form.locator("#passage-body").fill(words)
    form.get_by_role("button", name="Comment").click()
    expect(page.locator("#round-text")).to_contain_text(words, timeout=PATIENCE)


def test_a_comment_on_a_passage_comes_by_itself_and_a_mention_leads_to_it(run, pages):
    home = f"/p/alpha/runs/{run}/rounds/2/"
    olivia, edgar = pages["olivia"], pages["edgar"]
    for page in (olivia, edgar):
        with page.expect_response(lambda answer: "/events/" in answer.url, timeout=PATIENCE):
            page.goto(home)
    olivia.locator("#thread-body").fill("What I am about to s")
    asked = []
    olivia.on("request", lambda request: asked.append(request.url))
    for number in range(4):
        words = f"Number {number}, @olivia: which container?"
        comment_on(edgar, "service runs", "takes its", words)
        expect(olivia.locator("#round-text")).to_contain_text(words, timeout=PATIENCE)
    # Her page was told by its stream: one that asks every few seconds asks this address.
    assert not [url for url in asked if url.endswith("/live/")]
    expect(olivia.locator("#thread-body")).to_have_value("What I am about to s")
    expect(olivia.locator("#round-text mark.passage").first).to_be_visible()

    olivia.goto("/inbox/")
    expect(olivia.locator(".notice-unread")).to_have_count(4)
    olivia.get_by_role("link", name="edgar mentioned you").last.click()
    place = olivia.locator(".comment:target")
    expect(place).to_contain_text("Number 0, @olivia: which container?")
    expect(place).to_be_in_viewport()
    assert olivia.url.split("?")[0].endswith(home)


def test_two_who_resolve_the_same_thread_are_one_and_one_who_is_told(run, pages):
    olivia, edgar = pages["olivia"], pages["edgar"]
    home = f"/p/alpha/runs/{run}/rounds/1/"
    edgar.goto(home)
    comment_on(edgar, "Deploying", "ingest", "Settled?")
    # Without a stream her page is behind: as if both pressed at the same moment.
    olivia.route("**/events/**", lambda route: route.fulfill(status=204))
    olivia.goto(home)
    thread = {page: page.locator(".thread", has_text="Settled?") for page in (olivia, edgar)}
    thread[edgar].get_by_role("button", name="Resolve").click()
    expect(thread[edgar].get_by_text("resolved by edgar")).to_be_visible()
    thread[olivia].get_by_role("button", name="Resolve").click()
    expect(olivia.locator("#talk-note")).to_contain_text("edgar has already resolved this thread.")
    expect(thread[olivia].get_by_text("resolved by edgar")).to_be_visible()
    olivia.unroute_all()


def test_a_page_that_is_refused_a_stream_asks_instead_and_says_so(served: Served, browser: Browser):
    run = served.launch(then="from refinement.services.runs.lifecycle import run_pause; run_pause(run=run)")
    readers = [served.listen(run) for _ in range(MOST_OF_ONE_PERSON)]
    base = f"http://127.0.0.1:{served.instance.port}"
    context = browser.new_context(base_url=base)
    context.add_cookies([{"name": "sessionid", "value": served.sessions["olivia"], "url": base}])
    page = context.new_page()
    try:
        with page.expect_response(lambda answer: answer.url.endswith("/live/"), timeout=PATIENCE) as asked:
            page.goto(f"/p/alpha/runs/{run}/")
        assert asked.value.status == 200
        notice = page.locator("[data-live-notice]")
        expect(notice).to_contain_text("This page refreshes every few seconds.", timeout=PATIENCE)
    finally:
        context.close()
        for reader in readers:
            reader.hang_up()
