"""Preview, calibration and files in a browser: with and without scripts, keyboard, axe."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges, PanelJudge
from refinement.models import Membership, Round, Verdict
from refinement.services.rubrics.editing import rubric_create
from tests.browser.test_accessibility import in_both_themes
from tests.models.given import a_run


@pytest.fixture
def version(project):
    """A rubric with a calibration example, and a run of it with one judged round."""
    criteria = rubric_for("wiggum").criteria
    definition = replace(
        rubric_for("wiggum"),
        name="House style",
        background="Readers are new here.",
        calibration_text="A middling text.",
        calibration_scores={criterion.key: Decimal("4.5") for criterion in criteria},
    )
    made = rubric_create(project=project, slug="house", definition=definition)
    run = a_run(project, made, seed="A judged text about backups.")
    scores = {criterion.key: "6" for criterion in criteria}
    Round.objects.filter(run=run).update(judged_at=timezone.now(), composite=6, scores=scores)
    entries = [{"key": key, "score": score} for key, score in scores.items()]
    Verdict.objects.create(round=run.rounds.get(), judge="judge:8b", scores=entries, issues=["Too short."])
    return made


def test_a_preview_is_swapped_in_place_and_its_legend_leads_to_the_parts(signed_in, version):
    page = signed_in
    page.goto("/p/alpha/rubrics/house/preview/")
    page.get_by_role("textbox", name="Text", exact=True).fill("A text <b>of mine</b>.")
    page.get_by_role("spinbutton", name="Round").fill("2")
    page.get_by_role("button", name="Preview").click()
    judge = page.get_by_role("region", name="User message").first
    expect(judge).to_contain_text("A text <b>of mine</b>.")
    expect(judge).to_contain_text("A middling text.")
    assert page.url.endswith("/preview/")
    link = page.locator("#judge .legend-link", has_text="Text").first
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#judge-2-candidate")).to_be_focused()
    page.get_by_role("textbox", name="Text", exact=True).fill("")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Enter a text to judge. Or choose a run above.")).to_be_visible()
    expect(page.get_by_text("No preview")).to_be_visible()


def test_a_run_is_previewed_without_script(browser, site, as_owner, version):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto("/p/alpha/rubrics/house/preview/")
    page.get_by_label("Example").select_option(index=1)
    page.get_by_role("spinbutton", name="Round").fill("")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="User message").first).to_contain_text(
        "A judged text about backups."
    )
    context.close()


@pytest.fixture
def board(project):
    """A rubric whose runs a board of two judges judges."""
    panel = (PanelJudge("Ada", "You count words."), PanelJudge("Ben", "You doubt."))
    definition = replace(rubric_for("simmer"), judges=Judges(JudgeMode.BOARD, panel))
    return rubric_create(project=project, slug="board", definition=definition)


def test_a_judge_of_a_board_is_chosen_by_keyboard(signed_in, board):
    page = signed_in
    page.goto("/p/alpha/rubrics/board/preview/")
    page.get_by_role("textbox", name="Text", exact=True).fill("A text of mine.")
    page.get_by_role("button", name="Judge 2").focus()
    page.keyboard.press("Enter")
    message = page.get_by_role("region", name="User message").first
    expect(message).to_contain_text("You doubt.")
    expect(message).to_contain_text("A text of mine.")
    expect(page.get_by_role("button", name="Judge 2")).to_be_focused()
    page.get_by_role("spinbutton", name="Round").fill("2")
    page.get_by_role("button", name="Clerk").click()
    expect(page.get_by_role("heading", name="Clerk, key change")).to_be_visible()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Clerk", pressed=True)).to_be_visible()


def test_a_board_is_previewed_without_script(browser, site, as_owner, board):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto("/p/alpha/rubrics/board/preview/")
    page.get_by_role("button", name="Deliberation").click()
    expect(page.get_by_role("heading", name="Deliberation, judge 2: Ben")).to_be_visible()
    expect(page.get_by_role("button", name="Deliberation", pressed=True)).to_be_visible()
    context.close()


def test_a_calibration_example_is_taken_from_a_round_corrected_and_saved(signed_in, version):
    page = signed_in
    page.goto("/p/alpha/rubrics/house/calibration/")
    page.get_by_role("button", name="Fill in").click()
    expect(page.get_by_label("Text", exact=True)).to_have_value("A judged text about backups.")
    page.get_by_label("Depth").fill("5.5")
    page.get_by_role("button", name="Save as version 2").click()
    expect(page.get_by_text("Calibration example saved: version 2.")).to_be_visible()
    expect(page.get_by_role("row", name="Depth")).to_contain_text("5.5")
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("Example removed: version 3.")).to_be_visible()


def test_a_rubric_goes_to_another_project_as_a_file(signed_in, version, owner, other_project, tmp_path):
    page = signed_in
    Membership.objects.create(project=other_project, user=owner, role="editor")
    page.goto("/p/alpha/rubrics/house/calibration/")
    with page.expect_download() as started:
        page.evaluate("location.assign('/p/alpha/rubrics/house/export.yaml')")
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    assert file.name == "house-v1.yaml"
    page.goto("/p/beta/rubrics/import/")
    page.locator("#id_file").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="House style")).to_be_visible()
    with page.expect_download() as again:
        page.evaluate("location.assign('/p/beta/rubrics/house-style/export.yaml')")
    again.value.save_as(tmp_path / "again.yaml")
    assert (tmp_path / "again.yaml").read_bytes() == file.read_bytes()


def test_a_bad_file_is_told_line_by_line(signed_in, version):
    page = signed_in
    page.goto("/p/alpha/rubrics/import/")
    page.get_by_label("Or paste text").fill("wiggum_rubric: 1\nname: x\nnmae: y\n")
    page.get_by_role("button", name="Import", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Line 3")
    expect(alert).to_contain_text("Unknown key 'nmae'")
    expect(page.get_by_label("Or paste text")).to_have_value("wiggum_rubric: 1\nname: x\nnmae: y\n")


@pytest.mark.parametrize(
    "path",
    [
        "house/preview/",
        "house/preview/?run=first",
        "board/preview/?round=2&show=deliberation",
        "board/preview/?round=2&show=clerk",
        "house/calibration/",
        "import/",
    ],
)
def test_axe_finds_nothing_serious(browser, site, as_owner, project, version, board, path):
    context = browser.new_context(base_url=site, bypass_csp=True)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto("/p/alpha/rubrics/" + path.replace("first", str(project.runs.get().pk)))
    if path == "import/":
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_text("Choose a file or paste its text.").wait_for()
    page.evaluate("for (const folded of document.querySelectorAll('main details')) folded.open = true")
    assert in_both_themes(page) == []
    context.close()
