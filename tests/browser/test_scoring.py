"""Scoring and deciding in a browser: keyboard, drafts, two people at the same time, light and dark."""

from decimal import Decimal

import pytest
from playwright.sync_api import expect

from refinement.models import Decision, HumanScore
from refinement.services.reviews.blind_readings import blind_reading_begin
from refinement.services.reviews.decisions import decision_make
from refinement.services.reviews.human_scores import Reading, human_score_give
from tests.browser.conftest import watched
from tests.browser.test_accessibility import at_both_widths
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.finished import finished_run

KEYS = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")


@pytest.fixture
def run(site, project, owner):
    return finished_run(project, user=owner)


@pytest.fixture
def home(run):
    return f"/p/{run.project.slug}/runs/{run.pk}/"


@pytest.fixture
def another(browser, site, viewer, as_viewer):
    """A second person's browser; the test fails if it complained."""
    context = browser.new_context(base_url=site)
    context.add_cookies([{"name": "sessionid", "value": as_viewer.cookies["sessionid"].value, "url": site}])
    page, complaints = watched(context)
    page.set_default_timeout(15_000)
    yield page
    context.close()
    assert complaints == []


def scored(run, user, score="6", *, number=2, note=""):
    said = Reading(dict.fromkeys(KEYS, Decimal(score)), {"depth": note}, note)
    return human_score_give(
        run=run, row=run.rounds.get(number=number), user=user, submitted=said, seen_version=0
    )


def fill_by_keyboard(page, score="7"):
    """From the first score on, which has the focus, with nothing but the keyboard."""
    expect(page.get_by_label("Score for Depth")).to_be_focused()
    for _ in KEYS[1:]:
        page.keyboard.type(score)
        page.keyboard.press("Enter")
    page.keyboard.type(score)


def test_a_round_is_scored_by_keyboard_alone(signed_in, run, home):
    signed_in.goto(f"{home}score/2/")
    expect(signed_in.locator(".score-criterion").last).to_be_in_viewport(ratio=1)  # all at once
    signed_in.keyboard.type("74688")
    for key in ("Enter", "Tab"):
        signed_in.keyboard.press(key)  # out of the scale's range: it stays there, to be replaced
    fill_by_keyboard(signed_in)
    signed_in.keyboard.press("Tab")
    signed_in.keyboard.press("Tab")
    signed_in.keyboard.type("Said at the end.")
    signed_in.keyboard.press("Control+Enter")
    expect(signed_in.get_by_text("Your scores of round 2 are saved.")).to_be_visible()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("You are 1.60 below the judge")
    expect(signed_in.get_by_role("row", name="Depth 7")).to_be_visible()
    kept = HumanScore.objects.get()
    assert [entry["score"] for entry in kept.scores] == ["7"] * 6
    assert kept.note == "Said at the end."
    expect(signed_in).not_to_have_url(f"{home}rounds/2/?scored=2")


def test_arrow_keys_set_a_score(signed_in, home):
    signed_in.goto(f"{home}score/2/")
    field = signed_in.get_by_label("Score for Depth")
    field.focus()
    signed_in.keyboard.type("7")
    signed_in.keyboard.press("ArrowUp")
    expect(field).to_have_value("8")
    signed_in.keyboard.press("ArrowDown")
    signed_in.keyboard.press("ArrowDown")
    expect(field).to_have_value("6")


def test_a_draft_survives_leaving_and_goes_with_the_submission(signed_in, run, home):
    signed_in.goto(f"{home}score/2/")
    signed_in.get_by_label("Score for Depth").fill("4")
    signed_in.get_by_label("Note").fill("Half a thought")
    signed_in.goto(home)
    signed_in.goto(f"{home}score/2/")
    expect(signed_in.get_by_label("Note")).to_have_value("Half a thought")
    expect(signed_in.get_by_label("Score for Depth")).to_have_value("4")
    expect(signed_in.get_by_text("Restored your draft.")).to_be_visible()
    fill_by_keyboard(signed_in, "5")
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_text("are saved.")).to_be_visible()
    assert (
        signed_in.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('wiggum:score:'))")
        == []
    )
    signed_in.goto(f"{home}score/2/")
    expect(signed_in.get_by_text("Restored your draft.")).to_be_hidden()


def test_one_person_sees_at_once_what_another_scores_and_decides(signed_in, another, run, home, editor):
    signed_in.goto(home)
    people = signed_in.locator("#round-people")
    expect(people).to_be_hidden()
    another.goto(f"{home}score/2/")
    fill_by_keyboard(another, "6")
    another.keyboard.press("Control+Enter")
    expect(another.get_by_text("are saved.")).to_be_visible()
    people.get_by_text("People’s scores").click()
    expect(people.get_by_role("columnheader", name="Vera Viewer")).to_be_visible()
    decision_make(run=run, kind="approved", reason="Fine.", seen=0, user=editor, round_number=3)
    expect(signed_in.get_by_text("approved round 3").first).to_be_visible()


def test_blind_until_submitted(another, run, home):
    another.goto(f"{home}score/2/?choose=1")
    another.get_by_role("button", name="Score blind").click()
    expect(another.get_by_text("You are scoring blind")).to_be_visible()
    another.goto(home)
    expect(another.get_by_role("heading", name="Score round 2")).to_be_visible()
    assert "8.60" not in another.content()
    another.goto("/p/alpha/runs/")
    another.get_by_role("link", name="Continue scoring").click()
    fill_by_keyboard(another)
    another.get_by_role("button", name="Save and compare").click()
    expect(another.get_by_text("8.60").first).to_be_visible()
    expect(another.get_by_text("You scored it blind.")).to_be_visible()


def test_looking_is_asked_about_first(another, viewer, run, home):
    blind_reading_begin(run=run, number=2, user=viewer)
    another.goto(f"{home}score/2/")
    another.get_by_role("button", name="Cancel blind scoring…").click()
    expect(another.get_by_role("heading", name="Cancel blind scoring of run")).to_be_visible()
    another.get_by_role("link", name="Keep scoring blind").click()
    another.get_by_role("button", name="Cancel blind scoring…").click()
    another.get_by_role("button", name="Cancel and show scores").click()
    expect(another.get_by_text("Scores are visible now.")).to_be_visible()


def test_a_decision_of_somebody_else_is_shown_and_nothing_typed_is_lost(signed_in, run, home, editor):
    signed_in.goto(home)
    signed_in.locator("#decide summary").click()
    signed_in.get_by_label("Reject the run").check()
    signed_in.get_by_label("Reason", exact=True).fill("I typed this.")
    decision_make(run=run, kind="approved", reason="I was first.", seen=0, user=editor, round_number=3)
    signed_in.locator("#decide").get_by_role("button", name="Decide").click()
    alert = signed_in.get_by_role("alert")
    expect(alert).to_contain_text("Edgar Editor approved round 3 while you were deciding")
    expect(signed_in.get_by_label("Reason", exact=True)).to_have_value("I typed this.")
    expect(signed_in.get_by_label("Reject the run")).to_be_checked()
    signed_in.locator("#decide").get_by_role("button", name="Decide").click()
    expect(signed_in.get_by_text("You rejected the run.")).to_be_visible()
    assert list(Decision.objects.values_list("kind", flat=True)) == ["approved", "rejected"]


def test_a_decision_being_typed_outlives_news_of_the_run(signed_in, run, home, viewer, editor):
    signed_in.goto(home)
    signed_in.locator("#decide summary").click()
    signed_in.get_by_label("Reason", exact=True).fill("Being typed.")
    scored(run, viewer)
    decision_make(run=run, kind="approved", reason="Fine.", seen=0, user=editor, round_number=3)
    expect(signed_in.locator("#run-decision .chip")).to_be_visible()
    expect(signed_in.get_by_label("Reason", exact=True)).to_have_value("Being typed.")


def test_no_serious_findings(signed_in, run, home, viewer, editor, owner):
    scored(run, viewer, note=HOSTILE[:1500])
    scored(run, editor, "9", note="Good.")
    decision_make(run=run, kind="approved", reason=HOSTILE[:1500], seen=0, user=editor, round_number=3)
    for address in (home, f"{home}score/2/", "/p/alpha/runs/?decision=approved"):
        signed_in.goto(address)
        assert at_both_widths(signed_in) == [], address
    blind_reading_begin(run=finished_run(run.project), number=1, user=owner)
    for address in ("/p/alpha/runs/", home.replace(f"/{run.pk}/", f"/{run.pk + 1}/")):
        signed_in.goto(address)
        assert at_both_widths(signed_in) == [], address


def test_without_script_everything_still_works(browser, site, run, home, as_owner):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(f"{home}score/2/?choose=1")
    page.get_by_role("button", name="Score blind").click()
    for key in KEYS:
        page.locator(f'[name="score-{key}"]').fill("6")
    page.get_by_role("button", name="Save, next round blind").click()
    expect(page.get_by_role("heading", name="Score round 3")).to_be_visible()
    page.get_by_role("button", name="Cancel blind scoring…").click()
    page.get_by_role("button", name="Cancel and show scores").click()
    expect(page.get_by_text("−2.60").first).to_be_visible()
    context.close()
