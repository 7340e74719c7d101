"""Judge trust from start to end: import labels, read the page, label, clarify the rubric, replay."""

import json
import re
from dataclasses import replace
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion, Scale
from refinement.models import JudgeRecord, Label
from refinement.selectors.launch.available_models import offers
from tests.browser.test_accessibility import inspect
from tests.browser.test_trust import compute_all
from tests.execution.lifecycle.given import worker_threads
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import JUDGE, Table
from tests.execution.wire.stage import verdict
from tests.loopback.replies import Asked

__all__ = ["inspect", "ollama_server", "table"]

TEXTS, WAITING = 40, 5
RUBRIC = replace(
    rubric_for("simmer"),
    name="Guides",
    scale=Scale(Decimal(1), Decimal(10), Decimal(1)),
    criteria=(Criterion("clarity", "Clarity"), Criterion("grounded", "Grounded")),
)
RUBRIC = replace(RUBRIC, policy=replace(RUBRIC.policy, pass_threshold=Decimal(7)))
STRICTER = "Every claim names a source that supports it."


@pytest.fixture(autouse=True)
def _nothing_remembered():
    offers.forget()
    yield
    offers.forget()


def quality(number: int) -> int:
    return 3 + number % 6


def files() -> dict[str, bytes]:
    """Texts by two people and a judge that finds every text grounded, and some that nobody scored."""
    ratings = ["item,criterion,rater,score,reason"]
    for number in range(TEXTS):
        good = quality(number)
        for rater, clarity, grounded in (
            ("Ada", good, good - 1),
            ("Ben", good + number % 2, good - 1 + number % 2),
            ("judge", good, 9),
        ):
            ratings += [
                f"t{number},clarity,{rater},{clarity},",
                f"t{number},grounded,{rater},{grounded},Says {rater}.",
            ]
    texts = [
        {"item": f"t{number}", "text": f"# Guide {number}\n\nIt works."} for number in range(TEXTS + WAITING)
    ]
    return {
        "ratings.csv": "\n".join(ratings).encode(),
        "texts.jsonl": "\n".join(json.dumps(text) for text in texts).encode(),
    }


def strict_judge(asked: Asked) -> str:
    """Scores as people do, once the rubric asks for sources."""
    good = quality(int(re.findall(r"# Guide (\d+)", asked.prompt)[-1]))
    return verdict(RUBRIC, [good, good - 1 if STRICTER in asked.prompt else 9])


def import_labels(page: Page, given: dict[str, bytes]) -> None:
    page.goto("/p/alpha/trust/")
    page.get_by_role("link", name="Label sets").click()
    page.get_by_role("link", name="Import").first.click()
    page.get_by_label("Label set").fill("Guides by hand")
    for label, name in (("Ratings", "ratings.csv"), ("Texts", "texts.jsonl")):
        upload = {"name": name, "mimeType": "text/plain", "buffer": given[name]}
        page.get_by_label(label, exact=True).set_input_files(upload)
    page.get_by_label("Raters that are judges").fill(f"judge={JUDGE.model}")
    page.get_by_role("button", name="Check the files").click()
    expect(page.locator("#preview")).to_contain_text("judge loopback:8b")
    assert not Label.objects.exists()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Guides by hand")).to_be_visible()


def label_by_keyboard(page: Page) -> None:
    page.get_by_role("link", name="Label texts").click()
    page.get_by_role("button", name="Start labelling").click()
    for number in range(WAITING):
        heading = page.get_by_role("heading", name=f"Text {TEXTS + number + 1}", exact=True)
        expect(heading).to_be_visible()
        expect(page.get_by_label("Score for Clarity")).to_be_focused()
        page.keyboard.type("7")
        page.keyboard.press("Enter")
        page.keyboard.type("6")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You're done")).to_be_visible()


def test_from_labels_to_a_better_rubric(signed_in: Page, table: Table, inspect, as_owner):
    page, session = signed_in, as_owner.cookies["sessionid"].value
    table.rubric(RUBRIC)
    table.server.replies = strict_judge

    import_labels(page, files())
    assert inspect("/p/alpha/labels/1/", session) == []
    compute_all()
    record = JudgeRecord.objects.get()
    page.goto(f"/p/alpha/trust/{record.pk}/")
    expect(page.locator(".trust-answer")).to_contain_text("but not on Grounded")
    expect(page.locator(".evidence-number")).to_have_text(str(TEXTS))

    page.get_by_role("link", name="Label 10 more").click()
    page.get_by_role("link", name="Guides by hand").first.click()
    label_by_keyboard(page)
    assert Label.objects.filter(rater__user__isnull=False, blind=True).count() == WAITING

    compute_all()
    page.goto(f"/p/alpha/trust/{record.pk}/")
    page.get_by_role("link", name="Read the text").first.click()
    expect(page.get_by_text("Says Ada.").first).to_be_visible()
    page.get_by_role("link", name="Clarify the rubric").click()
    page.locator(".entry.is-case").locator("textarea").first.fill(STRICTER)
    page.get_by_role("button", name="Replay draft").click()

    page.get_by_label("A label set").check()
    page.locator("#measure-form").get_by_label("Label set", exact=True).select_option("Guides by hand")
    if not page.get_by_label("Judge", exact=True).input_value():
        page.get_by_label("Judge", exact=True).select_option(f"ollama/{JUDGE.model}")
    start = page.get_by_role("button", name=f"Run replay: {TEXTS + WAITING} calls")
    expect(start).to_be_visible()
    start.click()
    with worker_threads(1):
        expect(page.get_by_text("verdicts: ", exact=False).first).to_contain_text("from PASS to FAIL")
    expect(page.locator(".mover-list > li").first).to_contain_text("Grounded 9 →")
    assert inspect(page.url.replace(page.url.split("/p/")[0], ""), session) == []
    page.get_by_role("button", name="Save as v2").click()
    expect(page.get_by_text("Version 2 saved.")).to_be_visible()
