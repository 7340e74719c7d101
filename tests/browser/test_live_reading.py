"""A judge's reply on a run's page while it is written, and its raw text."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from refinement.models import Event, LiveText, Run
from tests.browser.conftest import watched
from tests.browser.test_accessibility import in_both_themes
from tests.judging.test_partial import WHOLE
from tests.loopback.replies import Asked, instance
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy
from tests.streaming.served import Served
from tests.views.runs.finished import finished_run

PATIENCE = 30_000.0
GOES_ON = {
    "status": "running",
    "outcome": "",
    "stop_reason": "",
    "finished_at": None,
    "attempt": 1,
    "lease_owner": "a worker",
}


@pytest.fixture
def run(site, project) -> Run:
    made = finished_run(project, ["7.15", "8.6"], **GOES_ON)
    made.rounds.filter(number=2).update(judged_at=None, composite=None, scores=None, signals=[])
    Event.objects.create(run=made, kind="claimed", actor="worker", data={"step": "judge", "round": 2})
    return made


def home(run: Run) -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/"


def test_it_comes_by_itself_where_there_is_no_stream(signed_in: Page, run: Run):
    text = WHOLE
    LiveText.objects.create(run=run, attempt=1, position=0, text=text[:60])
    signed_in.goto(home(run))
    reading, raw = signed_in.locator("#live-reading"), signed_in.locator("[data-live-text]")
    expect(reading.locator(".live-entry")).to_have_count(1)
    expect(raw).to_be_hidden()
    signed_in.get_by_label("Show the raw reply").check()
    expect(raw).to_be_visible()
    LiveText.objects.create(run=run, attempt=1, position=1, text=text[60:])
    expect(raw).to_have_text(text)
    expect(reading).to_be_hidden()
    signed_in.get_by_label("Show the raw reply").uncheck()
    expect(reading).to_contain_text("Nothing on rollback.")
    assert in_both_themes(signed_in) == []


# --- with a stream --------------------------------------------------------------------------------
@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Its producer writes until the test lets it end, and its judge takes some time."""

    def slowly(asked: Asked) -> str:
        server.chunk_delay = 0.5 if asked.schema else 2.0
        if asked.schema is None:
            return '{"a producer": "may write JSON"}'
        return json.dumps(instance(asked.schema, 7, 0.9))

    with LoopbackServer(slowly, chunks=30) as server:
        made = Served(prepared_copy(tmp_path_factory, "reading"), server)
        yield made
        made.clean_up()


def test_it_is_read_as_it_is_written_and_also_from_its_middle(browser: Browser, served: Served):
    run = served.launch(rounds=1)
    base = f"http://127.0.0.1:{served.instance.port}"
    context = browser.new_context(base_url=base)
    context.add_cookies([{"name": "sessionid", "value": served.sessions["olivia"], "url": base}])
    page, complaints = watched(context)
    page.set_default_timeout(PATIENCE)
    page.goto(f"/p/alpha/runs/{run}/")
    expect(page.locator("[data-live-text]")).to_contain_text("a producer", timeout=PATIENCE)
    expect(page.locator("[data-live-text]")).to_be_visible()
    expect(page.locator("#live-reading")).to_be_hidden()
    served.server.chunk_delay = 0.0

    entries = page.locator("#live-reading .live-entry")
    expect(entries).to_have_count(2, timeout=PATIENCE)
    expect(page.locator("[data-live-text]")).to_be_hidden()
    expect(entries.first).to_contain_text("Depth")
    page.reload()
    expect(entries.nth(3)).to_be_visible(timeout=PATIENCE)
    expect(entries.first).to_contain_text("Depth")
    expect(entries.first.locator("b")).to_have_text("7")
    served.server.chunk_delay = 0.0
    context.close()
    assert complaints == []
