"""Launching a board in a browser, with and without scripts."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from refinement.engine.codec import rubric_from_json
from refinement.engine.panels import panel_for
from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges
from refinement.models import Run
from refinement.services.rubrics.editing import rubric_create
from tests.browser.test_accessibility import at_both_widths
from tests.browser.test_launch import A_RUN, NEW, fill, ready
from tests.loopback.fixtures import ollama_server

__all__ = ["ollama_server", "ready"]


@pytest.fixture
def board(project, ready):
    """A rubric whose runs a board judges, and one with a background."""
    panel = panel_for("document")
    panel = (panel[0], replace(panel[1], model="ollama/loopback:1b"), panel[2])
    judged = replace(rubric_for("wiggum"), name="Board", judges=Judges(JudgeMode.BOARD, panel))
    rubric_create(project=project, slug="board", definition=judged)
    told = replace(rubric_for("simmer"), name="Told", background="Readers run the service themselves.")
    rubric_create(project=project, slug="told", definition=told)


def test_who_judges_follows_the_form(signed_in: Page, board):
    signed_in.goto(NEW)
    fill(signed_in)
    judging = signed_in.locator("#launch-judging")
    expect(signed_in.locator("#launch-sentence")).to_have_text("One judge")
    signed_in.locator("#launch-sentence").click()
    signed_in.get_by_label("Who judges").select_option("board")
    expect(judging).to_contain_text("the clerk chooses 3 judges for this text")
    expect(signed_in.locator("#launch-estimate")).to_contain_text("a board round takes up to 9")
    signed_in.locator("#id_rubric").select_option("board")
    expect(judging).to_contain_text("Domain expert")
    signed_in.locator("#id_clerk").select_option("ollama/loopback:1b")
    expect(judging).to_contain_text(re.compile(r"Clerk:\s*ollama/loopback:1b"))
    # The rubric's texts come with it; a changed one is the run's.
    signed_in.get_by_text("Override the rubric for this run").click()
    signed_in.get_by_label("Background").fill("Mine.")
    signed_in.locator("#id_rubric").select_option("told")
    expect(signed_in.locator("#launch-value-changes")).to_have_text("Background")
    signed_in.get_by_text("Override the rubric for this run").click()
    signed_in.get_by_label("Background").fill("")
    signed_in.get_by_label("What should be written?").press("Control+Enter")
    signed_in.wait_for_url(A_RUN)
    run = Run.objects.get()
    used = rubric_from_json(run.snapshot)
    assert (used.judges.mode, used.background) == (JudgeMode.BOARD, "")
    assert (run.clerk_model, run.rubric.slug) == ("loopback:1b", "told")


def test_it_works_without_script(browser, site, as_owner, board):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(NEW)
    fill(page)
    page.locator("#id_rubric").select_option("board")
    page.get_by_role("button", name="Update estimate").click()
    expect(page.locator("#launch-sentence")).to_contain_text("A board of 3")
    page.get_by_role("button", name="Launch").last.click()
    page.wait_for_url(A_RUN)
    assert Run.objects.get().panel.count() == 3
    context.close()


def test_nothing_serious_is_found(browser, site, as_owner, board):
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(f"{NEW}?rubric=board")
    page.get_by_text("Override the rubric for this run").click()
    assert at_both_widths(page) == []
    context.close()
