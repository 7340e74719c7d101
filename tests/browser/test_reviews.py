"""The review queue by keyboard, steering an open page, and axe."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from refinement.models import Instruction, ReviewRequest, Run
from refinement.services.reviews.requests import reviews_ask
from refinement.services.reviews.rules import review_rule_create
from refinement.services.runs.steering import instruction_give
from tests.browser.test_accessibility import at_both_widths
from tests.views.runs.finished import finished_run

LIST = "/p/alpha/reviews/"


@pytest.fixture
def queue(site, project, owner, editor) -> list[Run]:
    """Three runs that wait for the owner, one of them too long."""
    runs = [finished_run(project) for _ in range(3)]
    for run in runs:
        reviews_ask(run=run, reviewers=[owner], user=editor, note="Is the judge right about depth?")
    late = timezone.localdate() - timedelta(days=2)
    ReviewRequest.objects.filter(run=runs[2]).update(due_on=late)
    return [runs[2], runs[0], runs[1]]  # the most urgent first


def at(page: Page, run: Run, place: str, *, script: bool = True) -> None:
    """The run is open, with its place in the queue; with script, its keys are listened to."""
    expect(page).to_have_url(re.compile(rf"/runs/{run.pk}/\?review=1$"))
    expect(page.locator("#review-bar")).to_contain_text(place)
    if script:
        expect(page.get_by_role("button", name="Keys")).to_be_visible()


def test_the_queue_is_worked_through_by_keyboard_alone(signed_in: Page, queue: list[Run], owner):
    page = signed_in
    page.goto("/p/alpha/")
    reach(page, "Reviews 3 waiting for you")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{page.url.split('/p/')[0]}{LIST}")
    reach(page, "Review")
    page.keyboard.press("Enter")
    at(page, queue[0], "1 of 3")

    page.keyboard.press("j")
    at(page, queue[1], "2 of 3")
    page.keyboard.press("k")
    at(page, queue[0], "1 of 3")
    page.keyboard.press("d")
    at(page, queue[1], "1 of 2")
    expect(page.locator("#messages")).to_contain_text(f"Review of run {queue[0].pk} completed.")

    page.keyboard.press("s")
    page.wait_for_url(f"**/runs/{queue[1].pk}/score/2/")
    page.goto(f"/p/alpha/runs/{queue[1].pk}/?review=1")
    at(page, queue[1], "1 of 2")
    page.keyboard.press("d")
    at(page, queue[2], "1 of 1")
    page.keyboard.press("d")
    expect(page.get_by_text("You’re all caught up.")).to_be_visible()
    assert ReviewRequest.objects.filter(reviewer=owner, closed_at__isnull=True).count() == 0


def reach(page: Page, name: str) -> None:
    """Tabs to the link of this name."""
    link = page.get_by_role("link", name=name, exact=True)
    expect(link).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        if link.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"no way by keyboard to {name}")


def test_the_help_is_a_dialog_and_letters_in_a_field_are_letters(signed_in: Page, queue: list[Run], owner):
    page = signed_in
    page.goto(f"/p/alpha/runs/{queue[0].pk}/?review=1")
    at(page, queue[0], "1 of 3")
    page.get_by_role("button", name="Keys").click()
    dialog = page.get_by_role("dialog", name="Keys while reviewing")
    expect(dialog).to_be_visible()
    page.keyboard.press("d")  # nothing happens behind an open dialog
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    page.keyboard.press("c")
    comment = page.locator("#talk-new textarea[name=body]")
    expect(comment).to_be_focused()
    page.keyboard.type("just kidding?")
    expect(comment).to_have_value("just kidding?")
    at(page, queue[0], "1 of 3")
    assert ReviewRequest.objects.filter(reviewer=owner, closed_at__isnull=True).count() == 3
    page.keyboard.press("Escape")
    page.locator("#review-bar .review-count").click()
    page.keyboard.press("Control+d")
    at(page, queue[0], "1 of 3")


def test_the_score_key_follows_the_round_that_is_open(signed_in: Page, queue: list[Run]):
    page = signed_in
    page.goto(f"/p/alpha/runs/{queue[0].pk}/?review=1")
    page.locator("#run-rounds a").nth(2).click()
    expect(page.locator("#run-rounds a").nth(2)).to_have_attribute("aria-current", "true")
    expect(page.locator('[data-review-key="s"]')).to_have_attribute(
        "href", f"/p/alpha/runs/{queue[0].pk}/score/3/"
    )


def test_it_works_without_script(browser, site, as_owner, queue: list[Run]):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(LIST)
    page.get_by_role("link", name="Review", exact=True).click()
    at(page, queue[0], "1 of 3", script=False)
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()
    page.get_by_role("link", name="Next").click()
    at(page, queue[1], "2 of 3", script=False)
    page.locator("#review-bar").get_by_role("button", name="Close request").click()
    at(page, queue[2], "2 of 2", script=False)
    page.locator("#run-steer > summary").click()
    page.get_by_label("What should the next round do?").fill("Name the owner.")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#run-instructions")).to_contain_text("Name the owner.")
    context.close()


def test_an_open_page_hears_what_others_tell_and_keeps_what_is_being_typed(
    signed_in: Page, project, editor, queue: list[Run]
):
    page, run = signed_in, queue[0]
    Run.objects.filter(pk=run.pk).update(status="paused", outcome="", stop_reason="", finished_at=None)
    page.goto(f"/p/alpha/runs/{run.pk}/")
    page.locator("#run-steer > summary").click()
    page.get_by_label("What should the next round do?").fill("half a sen")
    instruction_give(run=run, text="From somebody else.", user=editor)
    expect(page.locator("#run-instructions")).to_contain_text("From somebody else.")
    field = page.get_by_label("What should the next round do?")
    expect(field).to_have_value("half a sen")
    field.press_sequentially("tence")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#run-instructions")).to_contain_text("half a sentence")
    expect(page.get_by_label("What should the next round do?")).to_have_value("")
    page.get_by_role("button", name="Withdraw the instruction of Olivia Owner").click()
    expect(page.locator("#run-instructions")).not_to_contain_text("half a sentence")
    assert Instruction.objects.filter(withdrawn_at__isnull=False).count() == 1


def test_a_round_is_edited_by_hand(signed_in: Page, queue: list[Run]):
    page, run = signed_in, queue[0]
    page.goto(f"/p/alpha/runs/{run.pk}/rounds/1/")
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_label("Text", exact=True).fill("Edited in the browser.")
    page.get_by_label("More rounds").fill("1")
    page.get_by_role("button", name="Save and continue").click()
    page.wait_for_url(f"**/runs/{run.pk}/rounds/4/")
    expect(page.locator("#round-text")).to_contain_text("Edited in the browser.")
    expect(page.locator("#run-rounds")).to_contain_text("Edited by Olivia Owner")


def test_axe_has_nothing_against_them(browser, site, as_owner, owner, editor, project, queue: list[Run]):
    review_rule_create(project=project, kind="sample", percent=10, reviewers=[editor, owner], user=owner)
    instruction_give(run=queue[0], text="Name the owner.", user=editor)
    reviews_ask(run=queue[0], reviewers=[editor], user=owner)
    # axe is injected as a script of its own, which the pages' policy rightly forbids.
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.set_default_timeout(30_000)
    found, run = {}, queue[0].pk
    for address in (
        "/p/alpha/",
        LIST,
        f"{LIST}rules/",
        f"{LIST}ask/?run={run}",
        f"/p/alpha/runs/{run}/?review=1",
        f"/p/alpha/runs/{run}/rounds/1/edit/",
    ):
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details').forEach(fold => { fold.open = true })")
        found[address] = at_both_widths(page)
    page.goto(f"/p/alpha/runs/{run}/?review=1")
    expect(page.get_by_role("button", name="Keys")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    found["keys"] = at_both_widths(page)
    context.close()
    assert {name: told for name, told in found.items() if told} == {}
