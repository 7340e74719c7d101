"""A board on a run's page: judges answer one by one, details open by keyboard, a plateau is answered."""

import pytest
from playwright.sync_api import Page, expect

from refinement.models import BoardVerdict, Event, Run
from tests.browser.test_accessibility import at_both_widths, in_both_themes
from tests.browser.test_runs_accessibility import opened, tab_to
from tests.views.runs.board_guide import at_plateau, board_rows, under_way
from tests.views.runs.finished import finished_run

__all__ = ["opened"]


def home(run: Run) -> str:
    return f"/p/{run.project.slug}/runs/{run.pk}/"


def test_the_judges_answer_one_by_one_on_an_open_page(signed_in: Page, site, project):
    run = under_way(project, answered=1)
    rubric_keys = [entry["key"] for entry in run.snapshot["criteria"]]
    signed_in.goto(home(run))
    words, judges = signed_in.locator("#live-words"), signed_in.locator(".live-judges li")
    expect(words).to_contain_text("1 of 3 have answered. Waiting for Newcomer and Fact checker.")
    expect(judges.nth(1)).to_contain_text("scoring")
    scores = [{"key": key, "score": "8", "reasoning": "It reads well."} for key in rubric_keys]
    last, newcomer = run.rounds.get(number=3), run.panel.get(seat=2)
    BoardVerdict.objects.create(
        round=last, judge=newcomer, seat=2, scores=scores, asi="Explain what a part is."
    )
    Event.objects.create(run=run, kind="answered", actor="worker", data={"round": 3, "seat": 2})
    expect(words).to_contain_text("2 of 3 have answered. Waiting for Fact checker.")
    expect(judges.nth(1)).to_contain_text("scored")
    expect(judges.nth(1)).to_contain_text("Explain what a part is.")
    expect(signed_in.locator("#live-lanes .lane-before")).to_have_count(12)
    assert in_both_themes(signed_in) == []


def test_a_lane_opens_by_keyboard_to_what_each_judge_says(opened, project):
    page = opened(viewport={"width": 1280, "height": 900})
    page.goto(home(board_rows(project)))
    tab_to(page, ".board-list > li:nth-child(4) summary")
    page.keyboard.press("Enter")
    lane = page.locator(".board-list > li").nth(3)
    expect(lane.locator(".opinions > li")).to_have_count(3)
    expect(lane.locator(".opinions")).to_contain_text("is in no line, so I do not follow.")
    expect(lane.locator(".opinions > li").nth(2)).to_be_visible()


def test_axe_has_nothing_against_a_board(opened, project):
    page = opened(bypass_csp=True, viewport={"width": 1280, "height": 900})
    board = board_rows(project, unreadable="Newcomer")
    addresses = {
        "board": home(board),
        "scoring": home(under_way(project)),
        "deliberating": home(under_way(project, answered=3, deliberated=1)),
        "plateau": home(at_plateau(project)),
        "compare": f"/p/{project.slug}/runs/compare/?run={board.pk}&run={finished_run(project).pk}",
    }
    found = {}
    for name, address in addresses.items():
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details').forEach(fold => { fold.open = true })")
        found[name] = at_both_widths(page)
    assert {name: told for name, told in found.items() if told} == {}


@pytest.mark.parametrize("script", [True, False])
def test_a_plateau_is_answered_on_the_page(opened, project, script):
    page, run = opened(java_script_enabled=script), at_plateau(project)
    page.goto(home(run))
    expect(page.get_by_role("heading", name="No more improvement")).to_be_visible()
    page.get_by_role("button", name="Run 2 more rounds with a board").click()
    expect(page.get_by_text("A board judges 2 more rounds.")).to_be_visible()
    expect(page.get_by_role("heading", name="No more improvement")).to_have_count(0)
    run.refresh_from_db()
    assert (run.status, run.escalated_after) == ("queued", 4)
