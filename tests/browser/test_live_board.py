"""A board on a real instance: an open page follows its judges by the event stream, up to the merge."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from refinement.engine.profiles import rubric_for
from tests.browser.conftest import watched
from tests.loopback.replies import Asked
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy
from tests.streaming.served import Served
from tests.views.runs.board_guide import SEED, board_replies

PATIENCE = 60_000.0
LAUNCH = f"""
from refinement.models import Project
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create
from tests.views.runs.board_guide import board_rubric
project = Project.objects.get(slug="alpha")
version = rubric_create(project=project, slug="board", definition=board_rubric())
run = run_create(project=project, version=version, task="Write the release notes.", seed={SEED!r},
                 producer=Target("ollama", "loopback:1b"), judge=Target("ollama", "loopback:8b"))
print("told", run.pk)
"""


class Gates:
    """The judges' replies, held back until the test lets them through."""

    def __init__(self) -> None:
        self.said = board_replies(rubric_for("wiggum"))
        self.newcomer, self.clerk = threading.Event(), threading.Event()

    async def reply(self, asked: Asked) -> str:
        if asked.schema is None or "Your seat: Newcomer." in asked.prompt:
            await asyncio.to_thread(self.newcomer.wait, PATIENCE / 1000)
        elif "You are the clerk" in asked.prompt:
            await asyncio.to_thread(self.clerk.wait, PATIENCE / 1000)
        return self.said(asked)


@pytest.fixture
def gates() -> Gates:
    return Gates()


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory, gates: Gates) -> Iterator[Served]:
    with LoopbackServer(gates.reply) as server:
        made = Served(prepared_copy(tmp_path_factory, "board"), server)
        yield made
        gates.newcomer.set()
        gates.clerk.set()
        made.clean_up()


def test_a_page_follows_the_judges_to_the_merge(browser: Browser, served: Served, gates: Gates):
    run = int(served.shell(LAUNCH))
    base = f"http://127.0.0.1:{served.instance.port}"
    context = browser.new_context(base_url=base, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": served.sessions["olivia"], "url": base}])
    page, complaints = watched(context)
    page.set_default_timeout(PATIENCE)
    page.goto(f"/p/alpha/runs/{run}/")
    words, judges = page.locator("#live-words"), page.locator(".live-judges li")
    expect(words).to_contain_text("Waiting for", timeout=PATIENCE)
    expect(words).to_contain_text("Newcomer")
    expect(judges.first).to_contain_text("scored", timeout=PATIENCE)
    expect(judges.nth(1)).to_contain_text("scoring")
    gates.newcomer.set()
    expect(words).to_contain_text("the clerk is merging", timeout=PATIENCE)
    expect(judges.nth(1)).to_contain_text("deliberated", timeout=PATIENCE)
    gates.clerk.set()
    expect(page.locator("#run-head")).to_contain_text("reached the 3-round limit", timeout=PATIENCE)
    expect(page.locator(".board-list > li").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#run-so-far")).to_contain_text("Promise only what the changelog says")
    expect(page.locator(".live-judges")).to_have_count(0)
    context.close()
    assert complaints == []
