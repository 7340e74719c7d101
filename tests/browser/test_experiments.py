"""From runs to a suite, an experiment, its worst regression and the failures page, on a real instance."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import watched
from tests.browser.test_accessibility import at_both_widths
from tests.house.processes import Instance, environment, manage
from tests.loopback.replies import Asked, instance
from tests.loopback.server import LoopbackServer

PATIENCE = 60_000.0  # milliseconds: the machine may be busy
GOOD = "# Backups\n\nThe database is copied at two every night and kept for thirty days on the second server."
WEAK = (
    "# Backups\n\nSomebody copies something sometimes, and it is probably kept on another server somewhere."
)
TIME_ZONE = "The time zone of the nightly copy is missing"
HOW_LONG = "No figure says how long old backups are kept"


def written(asked: Asked) -> str:
    """A small model that writes a weak text, and a judge that sees it."""
    told = "".join(str(message["content"]) for message in asked.body["messages"])
    if asked.schema is None:
        return WEAK if asked.body["model"] == "loopback:1b" else GOOD
    reply = instance(asked.schema, 4 if WEAK in told else 9, 0.5)
    if isinstance(reply, dict) and "issues" in reply:
        # Another task begins with a text of its own, of which the judge says something else.
        reply["issues"] = [f"{TIME_ZONE}." if GOOD in told else f"{HOW_LONG}."]
    return json.dumps(reply)


@pytest.fixture
def page(browser: Browser, data_dir: Path) -> Iterator[Page]:
    """An instance with an account and a few runs, with the loopback server as its Ollama."""
    with LoopbackServer(written, chunks=4, chunk_delay=0.02) as server:
        running = Instance(data_dir, WIGGUM_OLLAMA_URL=server.address)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        opened, complaints = watched(context)
        opened.set_default_timeout(PATIENCE)
        try:
            link = running.wait_until_said(r"(http://127\.0\.0\.1:\d+/welcome/[\w-]{40,}/)\n")[1]
            running.wait_until_said("Wiggum is ready at ")
            opened.goto(link)
            make_the_first_account(opened)
            options = ("--runs", "4", "--chars", "300", "--no-experiment", "--no-calls")
            seeded = manage("seed_demo", *options, env=environment(data_dir))
            assert seeded.returncode == 0, seeded.stderr
            yield opened
        finally:
            context.close()
            running.clean_up()
    assert "Traceback" not in running.said(), running.said()
    assert complaints == []


def make_the_first_account(page: Page) -> None:
    for label, value in {
        "Your name": "Ada Lovelace",
        "Email": "ada@example.org",
        "Password": "seven quiet rivers",
        "Project name": "Docs team",
    }.items():
        page.get_by_label(label, exact=True).fill(value)
    page.get_by_role("button", name="Create account and project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Docs team")


def make_a_suite_from_runs(page: Page) -> None:
    page.goto(re.sub(r"/p/.*", "/p/sample-data/runs/", page.url))
    for box in page.locator('#run-lines input[name="run"]').all()[:2]:
        box.check()
    page.get_by_role("button", name="Add to suite").click()
    page.get_by_label("name", exact=False).last.fill("Night tasks")
    page.get_by_role("button", name="Add to suite").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Night tasks")


def launch_three_configurations(page: Page) -> None:
    page.get_by_role("link", name="New experiment").click()
    page.get_by_label("Name", exact=True).first.fill("Is a small writer enough?")
    first = page.locator("#configuration-0")
    first.get_by_label("Rubric").select_option("release-notes@1")
    first.get_by_label("Writer", exact=True).select_option("ollama/loopback:8b")
    first.get_by_label("Judge", exact=True).select_option("ollama/loopback:8b")
    first.locator("summary", has_text="Settings").click()
    first.get_by_label("Maximum rounds").fill("1")
    page.locator("#configuration-1").get_by_role("button", name="Remove").click()
    expect(page.locator(".configuration")).to_have_count(1)
    for count in (2, 3):
        page.locator("#configuration-0").get_by_role("button", name="Duplicate").click()
        expect(page.locator(".configuration")).to_have_count(count)
    small = page.locator("#configuration-2")
    small.get_by_label("Name", exact=True).first.fill("Small writer")
    small.get_by_label("Writer", exact=True).select_option("ollama/loopback:1b")
    expect(page.locator("#experiment-estimate")).to_contain_text("2 tasks × 3 × 2")
    page.locator("[data-launch]").click()


def watch_it_fill(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Is a small writer enough?")
    # A mark that a load of the page would wipe away: all that follows must come by itself.
    page.evaluate("document.body.dataset.watched = 'yes'")
    expect(page.locator(".experiment-facts")).to_contain_text("Took")
    expect(page.locator("#leaderboard")).to_be_visible()
    # A task with a starting text is judged by that: there the writers make no difference.
    expect(page.locator(".heat-cell [class*=tile-worse]").first).to_be_visible()
    assert page.evaluate("document.body.dataset.watched") == "yes"


def open_the_worst_regression(page: Page) -> None:
    expect(page.locator(".heat-table tbody tr").first.locator("[class*=tile-worse]")).to_have_count(1)
    cell = page.locator(".heat-cell:has([class*=tile-worse])").first
    cell.focus()
    page.keyboard.press("Enter")
    panel = page.locator(".cell-panel")
    expect(panel).to_contain_text("▼")
    expect(panel.locator("ins").first).to_be_visible()
    expect(panel.locator("del").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def open_what_fails_most(page: Page) -> None:
    """Workers read the issues once somebody has looked; the page updates by itself."""
    page.goto(re.sub(r"/experiments/.*", "/failures/?experiments=include", page.url))
    for words in (TIME_ZONE, HOW_LONG):
        expect(category(page, words)).to_be_visible()


def category(page: Page, words: str) -> Locator:
    return page.locator("#categories").get_by_role("link", name=words).first


def name_and_merge_two_categories(page: Page) -> None:
    category(page, TIME_ZONE).click()
    page.get_by_label("Name", exact=True).fill("Facts about copies")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Facts about copies")
    page.goto(re.sub(r"/failures/.*", "/failures/?experiments=include", page.url))
    category(page, HOW_LONG).click()
    page.locator("summary", has_text="Merge into").click()
    choice = page.get_by_label("Category", exact=True)
    target = choice.locator("option", has_text="Facts about copies")
    choice.select_option(target.get_attribute("value"))
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Facts about copies")
    expect(page.locator(".fail-merged")).to_contain_text(HOW_LONG)
    page.goto(re.sub(r"/failures/.*", "/failures/?experiments=include", page.url))
    expect(category(page, "Facts about copies")).to_be_visible()
    expect(category(page, HOW_LONG)).to_have_count(0)


def make_it_a_check(page: Page) -> None:
    """The rubric editor opens with a prepared check, which is saved once it says what to look for."""
    page.locator("summary", has_text="Make it a check").click()
    page.locator("details[open] .menu-item").first.click()
    expect(page.get_by_role("heading", name="Check for: Facts about copies")).to_be_visible()
    check = page.locator("#checks .check").last
    expect(check.get_by_label("Name", exact=True)).to_have_value("Facts about copies")
    check.locator("textarea[name*='-p-texts']").fill("UTC")
    page.get_by_role("button", name=re.compile("^Save as version")).click()
    expect(page.locator("#messages")).to_contain_text("saved")


def open_a_cell(page: Page) -> None:
    page.locator(".heat-cell").first.click()
    expect(page.locator(".cell-panel")).to_be_visible()


@contextmanager
def inspected(page: Page) -> Iterator[Callable[..., None]]:
    """Has axe look at addresses with the same session. The pages' policy rightly forbids to inject it."""
    assert page.context.browser is not None
    state = page.context.storage_state()
    context = page.context.browser.new_context(
        bypass_csp=True, storage_state=state, viewport={"width": 1440, "height": 900}
    )
    other = context.new_page()

    def look(address: str, prepare: Callable[[Page], None] = lambda page: None) -> None:
        other.goto(address)
        prepare(other)
        assert at_both_widths(other) == [], address

    yield look
    context.close()


def test_from_runs_to_the_worst_regression_and_what_fails_most(page: Page) -> None:
    make_a_suite_from_runs(page)
    suite = page.url
    launch_three_configurations(page)
    watch_it_fill(page)
    open_the_worst_regression(page)
    experiment = page.url
    open_what_fails_most(page)
    failures = page.url
    name_and_merge_two_categories(page)
    category(page, "Facts about copies").click()
    expect(page.locator(".fail-merged")).to_be_visible()
    with inspected(page) as look:
        for address in (suite, experiment, failures, page.url):
            look(address)
        look(experiment, open_a_cell)
        make_it_a_check(page)
