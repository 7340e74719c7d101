"""Setting up a board in the rubric editor: keyboard, with and without scripts, wide and narrow."""

import pytest
from playwright.sync_api import expect

from refinement.engine.kinds import JudgeMode, OnPlateau
from refinement.engine.panels import PANELS, Judges, PanelJudge
from refinement.models import RubricVersion
from refinement.providers.base import ModelInfo
from refinement.selectors.launch.available_models import Offer
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.editing import default_rubrics_install
from tests.browser.test_accessibility import at_both_widths

PATH = "/p/alpha/rubrics/wiggum/edit/"


@pytest.fixture
def rubrics(transactional_db, project, monkeypatch):
    offers = [Offer("rack", (ModelInfo("qwen3:14b"), ModelInfo("small")))]
    monkeypatch.setattr("refinement.views.rubrics.editor.models_offered", lambda: offers)
    default_rubrics_install(project=project)


@pytest.fixture
def editor_page(signed_in, rubrics):
    signed_in.goto(PATH)
    return signed_in


def saved_definition():
    return definition_of(RubricVersion.objects.filter(rubric__slug="wiggum").order_by("-number").first())


def price(page):
    return page.locator("[data-price]")


def save(page):
    page.get_by_role("button", name="Save as version").click()


def test_a_board_is_set_up_with_the_keyboard_alone(editor_page):
    page, keys = editor_page, editor_page.keyboard
    page.locator("#judges-mode").focus()
    expect(page.locator("#panel")).to_be_hidden()
    keys.press("ArrowDown")
    expect(page.get_by_label("Board", exact=True)).to_be_checked()
    expect(price(page)).to_have_text("3 judges: 7 calls per round")
    keys.press("Tab")
    keys.press("Tab")
    expect(page.get_by_role("button", name="Add judge")).to_be_focused()
    for name, lens, model in (("Reader", "Reads once.", ""), ("Checker", "Checks facts.", "rack/small")):
        page.get_by_role("button", name="Add judge").focus()
        keys.press("Enter")
        for text in (name, lens, model):
            keys.type(text)
            keys.press("Tab")
    expect(price(page)).to_have_text("2 judges: 5 calls per round")
    page.locator("#judge-1-name").focus()
    keys.press("Alt+ArrowUp")
    expect(page.locator("[data-announce]")).to_have_text("Checker moved to place 1 of 2.")
    page.get_by_role("button", name="Expand all").click()
    page.get_by_label("Deliberation", exact=True).focus()
    keys.press("Space")
    expect(price(page)).to_have_text("2 judges: 3 calls per round")
    keys.press("Tab")
    expect(page.get_by_label("Clerk's model")).to_be_focused()
    keys.type("rack/qwen3:14b")
    page.locator("#policy-on_plateau").focus()
    keys.type("Pause")
    page.locator("#note").focus()
    keys.press("Enter")
    expect(page.get_by_text("Version 2 saved.")).to_be_visible()

    found = saved_definition()
    panel = (PanelJudge("Checker", "Checks facts.", "rack/small"), PanelJudge("Reader", "Reads once."))
    assert found.judges == Judges(JudgeMode.BOARD, panel, False, "rack/qwen3:14b")
    assert found.policy.on_plateau is OnPlateau.ASK
    page.goto(PATH)
    expect(page.locator("#judge-0-name")).to_have_value("Checker")
    expect(page.get_by_label("Board", exact=True)).to_be_checked()
    expect(page.get_by_label("Deliberation", exact=True)).not_to_be_checked()
    expect(page.locator("#policy-on_plateau")).to_have_value("ask")


def test_what_has_no_effect_is_hidden(editor_page):
    page = editor_page
    expect(page.locator("#panel")).to_be_hidden()
    page.get_by_role("button", name="Expand all").click()
    page.select_option("#policy-on_plateau", "board")
    expect(page.locator("#panel")).to_be_visible()
    expect(price(page)).to_have_text("1 judge: 1 call per round, 7 after a plateau")
    page.select_option("#policy-on_plateau", "stop")
    page.get_by_label("Automatic").check()
    expect(page.locator("#panel")).to_be_visible()
    expect(price(page)).to_have_text("1 call per round, or 7 with a board of 3")
    expect(page.get_by_text("None: the clerk composes 3 judges")).to_be_visible()


def test_a_panel_of_the_gallery_is_used_and_brought_back(editor_page):
    page = editor_page
    page.get_by_label("Board", exact=True).check()
    page.get_by_role("button", name="Add judge").click()
    page.keyboard.type("My own")
    page.fill("#judge-0-lens", "My lens.")
    page.select_option("#panel-type", "code")
    page.get_by_role("button", name="Use this board").click()
    expect(page.locator("[data-rows='judge'] > li")).to_have_count(3)
    expect(page.get_by_role("button", name="Remove: Next maintainer")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("[data-rows='judge'] > li")).to_have_count(1)
    expect(page.locator("#judge-0-name")).to_be_focused()
    page.get_by_role("button", name="Use this board").click()
    save(page)
    expect(page.get_by_text("Version 2 saved.")).to_be_visible()
    assert saved_definition().judges == Judges(JudgeMode.BOARD, PANELS["code"])


def test_a_full_panel_takes_no_more(editor_page):
    page = editor_page
    page.get_by_label("Board", exact=True).check()
    add = page.get_by_role("button", name="Add judge")
    for _ in range(5):
        add.click()
    expect(add).to_be_disabled()
    expect(price(page)).to_have_text("5 judges: 11 calls per round")
    page.locator("#judge-4 [data-remove]").click()
    expect(add).to_be_enabled()


def test_a_hidden_row_with_an_error_is_shown(editor_page):
    page = editor_page
    page.get_by_label("Board", exact=True).check()
    page.get_by_role("button", name="Add judge").click()
    page.get_by_label("Single judge").check()
    expect(page.locator("#panel")).to_be_hidden()
    save(page)
    page.get_by_role("link", name="Judge 1, name").click()
    expect(page.locator("#judge-0-name")).to_be_visible()
    expect(page.locator("#judge-0-name-error")).to_have_text("Enter a name, such as Domain expert.")


def test_unsaved_judges_are_offered_back(editor_page):
    page = editor_page
    page.get_by_label("Board", exact=True).check()
    page.get_by_role("button", name="Use this board").click()
    expect(page.locator("[data-save-state]")).to_have_text("Unsaved changes:")
    second = page.context.new_page()
    page.close()
    second.goto(PATH)
    second.get_by_role("button", name="Restore").click()
    expect(second.locator("#judge-2-name")).to_have_value("Editor")
    expect(second.get_by_label("Board", exact=True)).to_be_checked()


def test_it_works_without_script(browser, site, rubrics, owner, as_owner):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(PATH)
    page.get_by_label("Board", exact=True).check()
    page.locator("#panel > summary").click()
    page.select_option("#panel-type", "prompt")
    page.get_by_role("button", name="Use this board").click()
    page.locator("#judge-0").get_by_label("Remove").check()
    page.get_by_role("button", name="Add judge").click()
    page.fill("#judge-3-name", "Newcomer")
    page.fill("#judge-3-lens", "Knows nothing.")
    page.fill("#judge-3-order", "0")
    save(page)
    expect(page.get_by_text("Version 2 saved.")).to_be_visible()
    context.close()

    judges = saved_definition().judges
    assert judges.mode is JudgeMode.BOARD
    assert [judge.name for judge in judges.panel] == ["Newcomer", "Prompt engineer", "Owner of the output"]


def test_axe_finds_nothing_serious_and_nothing_overflows(browser, site, rubrics, owner, as_owner):
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(PATH)
    page.get_by_label("Board", exact=True).check()
    page.get_by_role("button", name="Use this board").click()
    page.fill("#judge-1-model", "rack/" + "long-name" * 20)
    assert at_both_widths(page) == []

    page.fill("#judge-0-lens", "")
    save(page)
    expect(page.locator("#error-summary")).to_be_visible()
    expect(page.locator("#judge-1-model-warning")).to_be_visible()
    assert at_both_widths(page) == []

    for address in ("/p/alpha/rubrics/wiggum/", "/p/alpha/rubrics/simmer/"):
        page.goto(address)
        assert at_both_widths(page) == []
    context.close()
