"""The first minutes, with clicks and seconds counted, without and with a model server."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from refinement.models import Run, WorkerBeat
from refinement.selectors.health import endpoint_health, health_cache
from refinement.selectors.launch.available_models import offers
from refinement.selectors.launch.model_lists import contexts
from refinement.services.people.setup_links import setup_link_make
from tests.browser.test_first_run import fill
from tests.loopback.fixtures import forget_earlier_server
from tests.loopback.server import LoopbackServer

MOST_CLICKS, MOST_SECONDS = 2, 20


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    for cache in (health_cache, offers, contexts):
        cache.forget()
    yield
    for cache in (health_cache, offers, contexts):
        cache.forget()


class Counted:
    """Counts what a newcomer does on a page."""

    def __init__(self, page: Page) -> None:
        self.page, self.clicks, self.began = page, 0, time.monotonic()

    def click(self, role: str, name: str) -> None:
        self.clicks += 1
        self.page.get_by_role(role, name=name).first.click()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began


def set_up(page: Page) -> None:
    page.goto(f"/welcome/{setup_link_make()}/")
    fill(page)
    page.wait_for_url("**/p/docs-team/")


def wait_until_found(endpoint: str) -> None:
    """The first look also loads the providers, which a busy machine does not finish in time."""
    until = time.monotonic() + 30
    while not any(state["ok"] and state["name"] == endpoint for state in endpoint_health()["endpoints"]):
        assert time.monotonic() < until, health_cache._seen
        health_cache.forget()


def test_without_a_model_server_a_result_is_understood_in_one_click(page, site, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", "http://127.0.0.1:9")
    page.goto("/")
    expect(page.get_by_text("manage.py setup_link").first).to_be_visible()
    set_up(page)
    newcomer = Counted(page)
    newcomer.click("button", "Open the example run")
    head = page.locator("#run-head")
    expect(head).to_contain_text("Prepared example")
    expect(head).to_contain_text("no model ran")
    expect(head).to_contain_text("9.20")
    expect(page.get_by_role("heading", name="Wait or roll back?")).to_be_visible()  # of the best text
    assert newcomer.clicks <= MOST_CLICKS
    assert newcomer.seconds <= MOST_SECONDS


def test_the_example_plays_and_pauses_by_keyboard(page, site, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", "http://127.0.0.1:9")
    set_up(page)
    page.get_by_role("link", name="Play the example").click()
    now = page.locator(".player-now")
    expect(now).to_contain_text("writes the first draft")
    expect(now).to_contain_text("Checks run on the text.")  # by itself
    page.locator("#player-play").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#player-play")).to_have_text("Play")
    stopped = now.inner_text()
    page.locator("#player-next").focus()
    page.keyboard.press("Enter")
    expect(now).not_to_have_text(stopped)


def test_with_ollama_a_run_is_three_decisions_from_home(page, site, monkeypatch):
    with LoopbackServer(models=("qwen3:4b", "gemma3:4b")) as server:
        forget_earlier_server(server.address)
        monkeypatch.setenv("WIGGUM_OLLAMA_URL", server.address)
        soon = timezone.now() + timedelta(minutes=5)
        WorkerBeat.objects.create(name="one", started_at=soon, seen_at=soon, threads=1, version="1")
        wait_until_found("ollama")
        set_up(page)
        newcomer = Counted(page)
        newcomer.click("link", "New run")
        # Each of these is a decision; everything else is preset.
        page.get_by_label("What should be written?").fill("Explain our backups.")
        page.get_by_label("Writer", exact=True).select_option("ollama/qwen3:4b")
        page.get_by_label("Judge", exact=True).select_option("ollama/gemma3:4b")
        newcomer.click("button", "Launch")
        expect(page).to_have_url(re.compile(r"/p/docs-team/runs/\d+/$"))
    assert newcomer.clicks <= MOST_CLICKS
    assert newcomer.seconds <= MOST_SECONDS
    run = Run.objects.get()
    assert (run.producer_model, run.judge_model) == ("qwen3:4b", "gemma3:4b")
