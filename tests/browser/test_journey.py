"""From an empty database to an exported comparison, on a real instance."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import watched
from tests.house.processes import Instance
from tests.loopback.replies import Asked, instance
from tests.loopback.server import LoopbackServer
from tests.prepared import prepared_copy

NOWHERE = "http://127.0.0.1:9"  # the port of a service that no machine runs any more
SCORES = (5, 7, 8)
TEXTS = (
    "# Backups\n\nEvery night at two the database and the shared folders are copied to the second server.",
    "# Backups\n\nEvery night at two the database and the shared folders are copied to the second server "
    "in the cellar. Copies are kept for thirty days.\n\nTo get a file back, write to operations.",
)
PATIENCE = 40_000.0  # milliseconds: the machine may be busy
SLOW = 300_000.0
Begin = Callable[..., Page]


def written(asked: Asked) -> str:
    """Texts that get better, and a judge that sees it; the same whenever the same is asked again."""
    told = "".join(message["content"] for message in asked.body["messages"])
    written_so_far = max((number for number, text in enumerate(TEXTS, 1) if text in told), default=0)
    if asked.schema is None:
        return TEXTS[min(written_so_far, len(TEXTS) - 1)]
    return json.dumps(instance(asked.schema, SCORES[written_so_far], 0.5))


@pytest.fixture
def begin(browser: Browser, data_dir: Path) -> Iterator[Begin]:
    """Starts an instance, on an empty database unless given another, and opens the link that it prints."""
    started: list[Instance] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page, complaints = watched(context)

    def start(ollama: str, directory: Path = data_dir) -> Page:
        started.append(Instance(directory, WIGGUM_OLLAMA_URL=ollama))
        link = started[0].wait_until_said(r"(http://127\.0\.0\.1:\d+/welcome/[\w-]{40,}/)\n")[1]
        started[0].wait_until_said("Wiggum is ready at ")
        page.set_default_timeout(PATIENCE)
        page.goto(link)
        return page

    yield start
    context.close()
    for running in started:
        running.clean_up()
    for running in started:
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
    expect(page.get_by_role("heading", level=1)).to_have_text("Docs team", timeout=PATIENCE)


def run_the_example(page: Page, *, demo: bool = False) -> None:
    if demo:
        page.get_by_role("link", name="Try the demo model").first.click()
        page.locator("[data-launch]").click()
    else:
        page.get_by_role("button", name="Run a sample task").click()
    expect(page).to_have_url(re.compile(r"/p/docs-team/runs/1/$"), timeout=PATIENCE)
    # A mark that a load of the page would wipe away: all that follows must come by itself.
    page.evaluate("document.body.dataset.watched = 'yes'")
    expect(page.locator("#live-bar")).to_be_visible()


def watch_it_to_its_end(page: Page, patience: float) -> None:
    why = page.locator(".answer")
    expect(why).to_contain_text("Stopped after round", timeout=patience)
    expect(page.locator("#live-bar")).to_be_hidden()
    assert page.evaluate("document.body.dataset.watched") == "yes"


def compare_first_and_best(page: Page) -> None:
    page.locator("#run-rounds a").last.click()
    expect(page).to_have_url(re.compile(r"/rounds/\d/$"))
    page.locator("#round-text").get_by_role("link", name="From the start").click()
    expect(page).to_have_url(re.compile(r"/rounds/\d/\?view=start$"))


def saved(page: Page, name: str, tmp_path: Path) -> Path:
    """The file behind a link of the page."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name=name).click()
    target = tmp_path / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target


def test_from_nothing_to_an_exported_comparison(begin: Begin, tmp_path: Path) -> None:
    with LoopbackServer(written, chunks=12, chunk_delay=0.2) as server:
        page = begin(server.address)
        make_the_first_account(page)
        run_the_example(page)

        expect(page.locator("[data-live-text]")).to_contain_text("Every night at two", timeout=PATIENCE)
        expect(page.locator("#run-rounds [hx-get]")).to_have_count(3, timeout=PATIENCE)
        watch_it_to_its_end(page, PATIENCE)
        expect(page.locator(".run-sentence")).to_contain_text("reached the 3-round limit")
        expect(page.locator(".answer")).to_contain_text("8.0")

        compare_first_and_best(page)
        text = page.locator("#round-text")
        expect(text.locator("ins").first).to_be_visible()
        expect(text.locator("del").first).to_be_visible()
        page.go_back()
        expect(page.locator("#round-text")).to_be_visible()

        page.goto(page.url.split("/runs/")[0] + "/runs/1/")
        launch_again_with_another_judge(page)
        expect(page).to_have_url(re.compile(r"/runs/2/$"))
        expect(page.locator(".answer")).to_contain_text("Stopped after round", timeout=PATIENCE)

        compare_with_the_first(page)
        rows = list(csv.DictReader(saved_from_menu(page, "Table (CSV)", tmp_path).open(newline="")))
        assert [(row["run"], row["outcome"], row["best"]) for row in rows] == [
            ("2", "DONE", "8"),
            ("1", "DONE", "8"),
        ]
        export_everything(page, tmp_path)


def launch_again_with_another_judge(page: Page) -> None:
    page.locator("#run-menu > summary").click()
    page.get_by_role("link", name="Edit and rerun").click()
    expect(page.get_by_label("What should be written?")).to_have_value(re.compile("nightly backups"))
    judge = page.get_by_label("Judge", exact=True)
    used = judge.input_value()
    other = next(
        value
        for value in judge.locator("option").evaluate_all("all => all.map(one => one.value)")
        if "loopback" in value and value != used
    )
    judge.select_option(other)
    page.get_by_role("button", name="Launch", exact=True).last.click()
    again = page.get_by_role("button", name="Launch anyway")
    expect(again.or_(page.locator(".answer")).first).to_be_visible()
    if again.is_visible():
        again.click()


def compare_with_the_first(page: Page) -> None:
    page.locator("#run-more > summary").click()
    page.get_by_role("link", name="Compare with other runs").click()
    page.get_by_role("checkbox", name=re.compile(r"^Run 1 ")).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", level=1).first).to_have_text("Compare 2 runs")
    expect(page.get_by_text("judged by loopback:1b")).to_be_visible()
    expect(page.locator(".chart-wide .chart")).to_be_visible()


def saved_from_menu(page: Page, name: str, tmp_path: Path) -> Path:
    page.locator("main details.menu > summary").click()
    return saved(page, name, tmp_path)


def export_everything(page: Page, tmp_path: Path) -> None:
    page.locator(".compare-runs").get_by_role("link", name="Run 1", exact=True).click()
    page.locator("#run-export > summary").click()
    document = json.loads(saved(page, "Whole run as JSON", tmp_path).read_text())
    assert document["wiggum_run"] == 1
    assert [entry["composite"] for entry in document["rounds"]] == ["5.000000", "7.000000", "8.000000"]
    assert document["run"]["snapshot"]["name"]
    assert len(document["calls"]) == 5
    report = saved(page, "Report as Markdown", tmp_path).read_text()
    assert "Round 3 is the result." in report
    assert saved(page, "Result as text", tmp_path).read_text() == TEXTS[1]


def test_the_model_that_comes_along_writes_real_rounds(
    begin: Begin, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = begin(NOWHERE, prepared_copy(tmp_path_factory, "along"))
    make_the_first_account(page)
    run_the_example(page, demo=True)

    expect(page.locator("[data-live-text]")).to_have_text(re.compile(r"\w+ \w+"), timeout=SLOW)
    # It is slow where it shares the machine: two candidates and one verdict are enough to see it work.
    expect(page.locator("#run-rounds [hx-get]")).to_have_count(2, timeout=SLOW)
    page.locator("#run-stop > summary").click()
    page.get_by_role("button", name="Stop run").click()
    why = page.locator(".answer")
    expect(why).to_contain_text("STOPPED", timeout=PATIENCE)
    expect(why).to_contain_text("Ada Lovelace")

    page.locator("#run-rounds a").nth(1).click()
    expect(page).to_have_url(re.compile(r"/rounds/2/$"))
    page.locator("#round-text").get_by_role("link", name="Changes from").click()
    expect(page.locator("#round-text ins").first).to_be_visible(timeout=PATIENCE)
    page.locator("#run-export > summary").click()
    document = json.loads(saved(page, "Whole run as JSON", tmp_path).read_text())
    assert document["run"]["producer"]["endpoint"] == "embedded"
    assert document["run"]["rounds_judged"] >= 1
    first, second = document["calls"][:2]
    assert (first["role"], second["role"]) == ("judge", "producer")
    assert first["reply"]
    assert second["reply"].strip() == document["rounds"][1]["candidate"].strip()
