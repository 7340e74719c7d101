"""A board in the browser, on a real instance: set up, launch, watch, read, compare and answer."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import watched
from tests.browser.test_accessibility import serious
from tests.browser.test_journey import make_the_first_account
from tests.house.processes import Instance
from tests.loopback.replies import Asked
from tests.loopback.server import LoopbackServer

PATIENCE = 180_000.0  # milliseconds: the machine may be busy
TEXTS = (
    "# Reset your password\n\nIf you cannot sign in, click the link on the sign-in page. We write to you.",
    "# Reset your password\n\n1. Select **Forgot password?**\n2. Enter your address.\n3. Open the mail.",
    "# Reset your password\n\n1. Select **Forgot password?**\n2. Enter your address.\n3. Open the mail."
    "\n\n## If no email arrives\n\nLook in the spam folder, or ask your administrator for a new link.",
)
LEVELS = (4, 6, 8)
REMARKS = {
    "First-time reader": "I never learned what happens after I click the link.",
    "Domain expert": "Single sign-on is missing, and it generates most of our tickets.",
    "Editor": "The fallback is one vague sentence at the end.",
}
CONCESSION = "The expert is right about single sign-on."


def said(asked: Asked) -> str:
    """Texts that get better twice, and a board whose editor concedes to the expert."""
    level = max((number for number, text in enumerate(TEXTS) if text[-40:] in asked.prompt), default=-1)
    if asked.schema is None:
        return TEXTS[min(level + 1, 2)]
    wanted = asked.schema["properties"]
    if "artifact_type" in wanted:
        return json.dumps(PROPOSAL)
    if "working" in wanted:
        asi = "Add a section for readers who get no email."
        return json.dumps(
            {"working": ["Steps"], "not_working": [], "direction": "Cover failures.", "asi": asi}
        )
    if "change" in wanted:
        return json.dumps({"change": "numbered steps" if level < 2 else "a section for a missing email"})
    name = (re.findall(r"Your seat: (.+?)\.\n", asked.prompt) or ["Editor"])[-1]
    keys = list(wanted["criteria"]["properties"])
    deliberates = "stance" in wanted["criteria"]["properties"][keys[0]]["properties"]
    scored = {key: stance(name, LEVELS[level]) if deliberates else score(name, LEVELS[level]) for key in keys}
    verdict = {"criteria": scored, "issues": [REMARKS[name]], "asi": f"{REMARKS[name]} Add it."}
    return json.dumps({"criteria": scored} if deliberates else verdict)


def score(name: str, level: int) -> dict[str, object]:
    given = level - 1 if name == "Domain expert" else level + (name == "Editor")
    return {"reasoning": REMARKS[name], "score": given, "improvement": "Name the next step."}


def stance(name: str, level: int) -> dict[str, object]:
    if name == "Editor":
        return {"reasoning": CONCESSION, "stance": "concede", "score": level - 1}
    return {"reasoning": "No quarrel.", "stance": "agree", "score": level}


PROPOSAL = {
    "name": "Help center answers",
    "artifact_type": "document",
    "criteria": [
        {"name": "Findability", "description": "How fast the step is found.", "ideal": "At first glance."},
        {"name": "Completeness", "description": "Which failures are covered.", "ideal": "All common ones."},
    ],
    "output_contract": "Markdown with one heading.",
    "checks": [{"kind": "max_words", "value": "300"}],
    "judges": "single",
}


@pytest.fixture
def page(browser: Browser, data_dir: Path) -> Iterator[Page]:
    """A new instance with an account, and models that answer as above."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened, complaints = watched(context)
    opened.set_default_timeout(PATIENCE)
    models = ("qwen3:14b", "gemma3:27b")
    with LoopbackServer(said, chunks=4, chunk_delay=0.1, models=models) as server:
        running = Instance(data_dir, WIGGUM_OLLAMA_URL=server.address)
        try:
            link = running.wait_until_said(r"(http://127\.0\.0\.1:\d+/welcome/[\w-]{40,}/)\n")[1]
            running.wait_until_said("Wiggum is ready at ")
            opened.goto(link)
            make_the_first_account(opened)
            yield opened
        finally:
            context.close()
            running.clean_up()
    assert "Traceback" not in running.said(), running.said()
    assert complaints == []


def rubric_from_a_sample(page: Page) -> None:
    page.get_by_role("link", name="Rubrics").click()
    page.get_by_role("link", name="New rubric").first.click()
    page.get_by_role("link", name="Start from a sample").click()
    page.get_by_label("Goal").fill("Customers can reset their password without writing to us.")
    page.get_by_label("Sample").fill(TEXTS[0])
    page.get_by_role("button", name="Propose a rubric").click()
    expect(page).to_have_url(re.compile(r"/new/sample/1/edit/$"), timeout=PATIENCE)
    page.wait_for_load_state()  # the editor's script listens now
    expect(page.get_by_text("nothing is saved yet")).to_be_visible()
    expect(page.locator("#criteria li [data-title]")).to_contain_text(["Findability", "Completeness"])


def set_up_the_board(page: Page) -> None:
    """With the keyboard alone; then saves the new rubric."""
    page.locator("#judges-mode").focus()
    page.keyboard.press("ArrowRight")  # single judge, board, automatic
    expect(page.get_by_role("radio", name="Board")).to_be_checked()
    page.get_by_role("button", name="Use this board").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#judges [data-row=judge]")).to_have_count(3)
    page.locator("#stopping > summary").click()
    page.get_by_label("On a plateau").select_option("ask")
    page.locator("[name='policy-max_rounds'], [name='max_rounds']").first.fill("8")
    page.get_by_role("button", name="Create rubric").last.press("Enter")
    expect(page).to_have_url(re.compile(r"/rubrics/help-center-answers/edit/$"), timeout=PATIENCE)


def launch(page: Page, judges: str = "") -> None:
    page.goto(f"{page.url.split('/p/')[0]}/p/docs-team/runs/new/?rubric=help-center-answers")
    page.get_by_label("What should be written?").fill("Explain how to reset a password.")
    page.locator("select[name=producer]").select_option("ollama/qwen3:14b")
    page.locator("select[name=judge]").select_option("ollama/gemma3:27b")
    if judges:
        page.locator("#launch-sentence").click()
        page.locator("select[name=judges]").select_option(judges)
    page.get_by_role("button", name="Launch").first.click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/$"), timeout=PATIENCE)


def axe_finds_nothing(page: Page) -> None:
    """In a page of its own: axe is a script that the product's policy rightly forbids."""
    context = page.context.browser.new_context(bypass_csp=True, viewport={"width": 390, "height": 844})
    context.add_cookies(page.context.cookies())
    narrow = context.new_page()
    narrow.goto(page.url)
    assert serious(Axe().run(narrow).response["violations"]) == []
    wide = narrow.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    context.close()


def test_a_board_from_its_setup_to_the_question_at_its_plateau(page: Page) -> None:
    rubric_from_a_sample(page)
    set_up_the_board(page)
    launch(page)
    # Watch the judges answer, one by one and without a load of the page.
    page.evaluate("document.body.dataset.watched = 'yes'")
    for name in REMARKS:
        expect(page.locator("#live-judging")).to_contain_text(name, timeout=PATIENCE)
    expect(
        page.locator("#live-judging .chip", has_text=re.compile("scored|deliberating")).first
    ).to_be_visible(timeout=PATIENCE)

    # The scores level off, and the run asks.
    expect(page.get_by_role("heading", name="No more improvement")).to_be_visible(timeout=PATIENCE)
    assert page.evaluate("document.body.dataset.watched") == "yes"
    axe_finds_nothing(page)

    # Who conceded, and why.
    for words in (CONCESSION, "Add a section for readers who get no email."):
        expect(page.get_by_text(words).locator("visible=true").first).to_be_visible()
    page.get_by_role("button", name="Stop here").press("Enter")
    expect(page.locator(".answer")).to_contain_text("none of the last 3", timeout=PATIENCE)
    axe_finds_nothing(page)

    # Beside a single judge's run.
    launch(page, judges="single")
    expect(page.get_by_role("heading", name="No more improvement")).to_be_visible(timeout=PATIENCE)
    page.goto(f"{page.url.split('/runs/')[0]}/runs/compare/?run=1&run=2")
    expect(page.get_by_role("heading", level=1).first).to_have_text("Compare 2 runs")
    expect(page.get_by_text("different judges").locator("visible=true").first).to_be_visible()
    axe_finds_nothing(page)
