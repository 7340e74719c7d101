"""The rubric editor in a browser: keyboard only, two editors, and drafts after closing the browser."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from refinement.models import RubricVersion
from refinement.services.rubrics.editing import default_rubrics_install
from tests.browser.conftest import watched
from tests.browser.test_accessibility import at_both_widths, in_both_themes

PATH = "/p/alpha/rubrics/{}/edit/"


@pytest.fixture
def rubrics(transactional_db, project):
    default_rubrics_install(project=project)


@pytest.fixture
def editor_page(signed_in, rubrics):
    signed_in.goto(PATH.format("wiggum"))
    return signed_in


def newest(slug="wiggum"):
    return RubricVersion.objects.filter(rubric__slug=slug).prefetch_related("criteria", "checks").first()


def expand(page):
    page.get_by_role("button", name="Expand all").click()


def more(page, number):
    """Opens the menu of a criterion."""
    page.locator(f"#criterion-{number} [data-more]").click()


def save(page):
    page.get_by_role("button", name="Save as version").click()


def saved(page, number):
    save(page)
    expect(page.get_by_text(f"Version {number} saved.")).to_be_visible()


def test_on_a_phone_the_save_bar_leaves_the_page_to_the_rubric(editor_page):
    editor_page.set_viewport_size({"width": 390, "height": 844})
    bar, button = editor_page.locator(".save-bar"), editor_page.locator(".save-bar .button-primary")
    assert bar.bounding_box()["height"] <= 84
    assert editor_page.evaluate("document.documentElement.scrollWidth") == 390
    assert button.bounding_box()["height"] >= 34
    editor_page.get_by_label("Name", exact=True).first.fill("Another name")
    saved(editor_page, 2)


def test_the_essentials_fit_and_the_prompt_follows_what_is_typed(editor_page):
    page = editor_page
    page.set_viewport_size({"width": 1440, "height": 900})
    assert page.evaluate("document.getElementById('advanced').getBoundingClientRect().top + scrollY") <= 1500
    assert page.evaluate("document.documentElement.scrollHeight") <= 2000
    prompt = page.locator(".prompt-text")
    expect(prompt).to_contain_text("How far the text goes beyond naming things")
    page.fill("#criterion-0-description", "Quotes its source.")
    expect(prompt).to_contain_text("Quotes its source.")
    expect(prompt.locator(".hot", has_text="Quotes its source.")).to_be_visible()
    page.get_by_label("Writer", exact=True).check()
    expect(prompt).to_contain_text("(The judge's issues go here.)")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Version 2 saved.")).to_be_visible()


def test_criteria_are_moved_with_the_keyboard_alone(editor_page):
    page = editor_page
    page.locator("#criterion-0-weight").focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.locator("[data-announce]")).to_have_text("Depth moved to place 2 of 6.")
    expect(page.locator("#criterion-0-weight")).to_be_focused()
    page.keyboard.press("Alt+ArrowUp")
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("[data-announce]")).to_have_text("Depth is already the first criterion.")

    more(page, 5)
    button = page.get_by_role("button", name="Move up: Structure")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_be_focused()
    expand(page)
    page.locator("#stop-cycling-on").focus()
    page.keyboard.press("Alt+ArrowUp")
    page.locator("#note").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Version 2 saved.")).to_be_visible()

    keys = [row.key for row in newest().criteria.all()]
    assert keys == ["depth", "relevance", "completeness", "grounded", "structure", "specificity"]
    assert newest().policy["stop_rules"] == ["passed", "cycling", "max_rounds"]


def test_a_criterion_is_dragged(editor_page):
    page = editor_page
    page.locator("#criterion-2 [data-handle]").drag_to(
        page.locator("#criterion-1"), target_position={"x": 40, "y": 4}
    )
    expect(page.locator("[data-announce]")).to_have_text("Completeness moved to place 2 of 6.")
    saved(page, 2)

    assert [row.key for row in newest().criteria.all()][:3] == ["depth", "completeness", "relevance"]


def test_every_kind_of_field_is_edited_and_saved(editor_page):
    page = editor_page
    page.get_by_label("Name", exact=True).first.fill("Release notes")
    page.fill("#purpose", "For what we ship.")
    expand(page)
    page.get_by_role("button", name="Add criterion").click()
    expect(page.locator("#criterion-6-name")).to_be_focused()
    page.keyboard.type("Plain words")
    expect(page.locator("#criterion-6-key")).to_have_value("plain-words")
    expect(page.locator("#criterion-6-weight")).to_have_value("3")
    page.get_by_role("button", name="More weight: Plain words").click()
    expect(page.locator("#criterion-6-weight")).to_have_value("4")
    expect(page.locator("#criterion-6 [data-share]")).to_have_text("17 %")
    page.fill("#criterion-6-description", "Is it in plain words?")
    page.fill("#criterion-6-ideal", "Anybody follows it.")
    more(page, 6)
    page.locator("#criterion-6").get_by_label("Primary").check()
    more(page, 5)
    page.get_by_role("button", name="Remove: Structure").click()
    page.select_option("#docked", label="Plain words")
    page.select_option("#add-kind", "regex")
    page.get_by_role("button", name="Add check").click()
    page.keyboard.type("Is dated")
    page.fill("#check-1-p-pattern", r"\d{4}")
    page.select_option("#check-1-severity", "warning")
    page.fill("#scale-maximum", "100")
    page.fill("#policy-pass_threshold", "80")
    page.check("#policy-checks_in_composite")
    page.check("#stop-plateau-on")
    page.fill("#policy-budget-calls", "12")
    page.select_option("#evaluation_mode", "hybrid")
    page.fill("#evaluator-command", "pytest {file}")
    page.keyboard.press("Tab")
    expect(page.locator("#context-judge-history")).to_be_checked()
    expect(page.locator("[data-no-departures]")).to_be_visible()
    page.check("#context-judge-background")
    expect(page.locator("[data-departures] li")).to_have_count(1)
    page.fill("#background", "We ship on Fridays.")
    page.locator("#template-judge-default").uncheck()
    page.fill("#template-judge", "Judge this {{ artifact }}.")
    page.fill("#note", "All of it")
    expect(page.locator("[data-change-names]")).to_contain_text("name, what it is for")
    expect(page.locator("[data-incomparable]")).to_be_visible()
    saved(page, 2)
    expect(page.get_by_text("Scores will not compare with version 1.")).to_be_visible()

    version = newest()
    rows = {row.key: row for row in version.criteria.all()}
    check = version.checks.get(key="is-dated")
    assert (version.name, version.purpose, version.note) == (
        "Release notes",
        "For what we ship.",
        "All of it",
    )
    assert rows["plain-words"].primary
    assert "structure" not in rows
    assert rows["plain-words"].weight == Decimal("0.2")
    assert version.policy["penalties"]["criterion"] == "plain-words"
    assert (check.key, check.kind, check.parameters, check.severity) == (
        "is-dated",
        "regex",
        {"pattern": r"\d{4}"},
        "warning",
    )
    assert version.policy["checks_in_composite"]
    assert "plateau" in version.policy["stop_rules"]
    assert version.policy["budget"]["calls"] == 12
    assert {"history", "background"} <= set(version.context["judge"])
    assert version.templates == {"judge": "Judge this {{ artifact }}."}


def test_who_sees_what_follows_the_evaluator_unless_it_was_changed_by_hand(editor_page):
    page = editor_page
    expand(page)
    history, output = page.locator("#context-judge-history"), page.locator("#context-judge-evaluator_output")
    page.select_option("#evaluation_mode", "runnable")
    page.fill("#evaluator-command", "pytest {file}")
    page.keyboard.press("Tab")
    expect(output).to_be_checked()
    page.select_option("#evaluation_mode", "judge_only")
    expect(output).not_to_be_checked()

    history.check()  # by hand
    page.select_option("#evaluation_mode", "runnable")
    expect(output).not_to_be_checked()
    expect(history).to_be_checked()
    page.get_by_role("button", name="Reset to default").click()
    expect(output).to_be_checked()
    expect(page.locator("[data-no-departures]")).to_be_visible()


def test_a_removed_criterion_can_be_brought_back(editor_page):
    page = editor_page
    more(page, 1)
    page.get_by_role("button", name="Remove: Relevance").click()
    expect(page.locator("[data-rows='criterion'] > li")).to_have_count(5)
    page.keyboard.press("Enter")

    expect(page.locator("[data-rows='criterion'] > li").nth(1)).to_contain_text("Relevance")


def test_a_criterion_that_is_brought_back_meets_one_that_was_added_meanwhile(editor_page):
    page = editor_page
    expand(page)
    more(page, 5)
    page.locator("#criterion-5").get_by_label("Primary").check()
    page.select_option("#docked", label="Structure")
    page.get_by_role("button", name="Remove: Structure").click()
    page.get_by_role("button", name="Add criterion").click()
    page.keyboard.type("Courage")
    page.fill("#criterion-6-description", "Does it dare?")
    page.get_by_role("button", name="Undo").click()
    saved(page, 2)

    rows = {row.key: row for row in newest().criteria.all()}
    assert list(rows)[-2:] == ["courage", "structure"]
    assert rows["structure"].primary
    assert newest().policy["penalties"]["criterion"] == "structure"


def test_a_check_is_not_tried_by_somebody_who_was_signed_out(signed_in, rubrics):
    page = signed_in
    page.goto(PATH.format("ralph"))
    page.get_by_text("Try the checks on a text").click()
    page.fill("#try-text", "TODO")
    page.context.clear_cookies(name="sessionid")
    page.locator("#check-1 summary").click()
    page.get_by_role("button", name="Try it: No placeholders").click()

    expect(page.locator("#check-1 [data-tried]")).to_have_text(re.compile("^You were signed out"))


def test_a_check_is_tried_on_a_text(signed_in, rubrics):
    page = signed_in
    page.goto(PATH.format("ralph"))
    page.get_by_text("Try the checks on a text").click()
    page.fill("#try-text", "A <b>bold</b> TODO")
    page.locator("#check-1 summary").click()
    page.get_by_role("button", name="Try it: No placeholders").click()

    expect(page.locator("#check-1 .tried")).to_contain_text("A placeholder is left: “TODO”")
    expect(page.locator("#check-1 .tried mark")).to_have_text("TODO")


def test_problems_are_listed_and_focus_goes_there(editor_page):
    page = editor_page
    page.fill("#criterion-0-weight", "0")
    page.fill("#policy-pass_threshold", "11")
    save(page)

    expect(page.locator("#error-summary")).to_be_focused()
    page.get_by_role("link", name="Pass mark").click()
    assert page.url.endswith("#policy-pass_threshold")
    expect(page.locator("#policy-pass_threshold")).to_have_value("11")
    expect(page.locator("#policy-pass_threshold-error")).to_be_visible()


def test_unsaved_changes_are_offered_back_after_the_browser_was_closed(editor_page):
    page = editor_page
    page.fill("#purpose", "Half a thought")
    page.get_by_role("button", name="Add criterion").click()
    page.fill("#criterion-6-name", "Courage")
    page.fill("#criterion-6-description", "Does it dare?")
    expect(page.locator("[data-save-state]")).to_have_text("Unsaved changes:")
    second = page.context.new_page()
    page.close()
    second.goto(PATH.format("wiggum"))

    expect(second.locator("[data-draft-offer]")).to_contain_text(re.compile(r"unsaved changes from \d"))
    second.get_by_role("button", name="Restore").click()
    expect(second.locator("#purpose")).to_have_value("Half a thought")
    expect(second.locator("#criterion-6-name")).to_have_value("Courage")
    saved(second, 2)
    assert second.url.endswith("/edit/")
    assert second.evaluate("Object.keys(localStorage).filter((k) => k.startsWith('wiggum:'))") == []
    second.reload()
    expect(second.locator("[data-draft-offer]")).to_be_hidden()


def test_unsaved_changes_can_be_discarded(editor_page):
    page = editor_page
    page.fill("#purpose", "Half a thought")
    expect(page.locator("[data-save-state]")).to_have_text("Unsaved changes:")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.get_by_role("button", name="Discard").click()
    page.reload()

    expect(page.locator("[data-draft-offer]")).to_be_hidden()
    expect(page.locator("#purpose")).not_to_have_value("Half a thought")


def test_leaving_with_unsaved_changes_is_warned_about(editor_page):
    page = editor_page
    seen = []
    page.on("dialog", lambda dialog: (seen.append(dialog.type), dialog.dismiss()))
    page.locator("#purpose").press_sequentially("x")
    page.evaluate("location.href = '/'")
    expect(page.locator("#purpose")).to_be_visible()
    page.wait_for_function("document.readyState === 'complete'")

    assert seen == ["beforeunload"]


def test_two_browsers_edit_the_same_rubric(editor_page, browser, site, editor, as_editor):
    first = editor_page
    context = browser.new_context(base_url=site)
    context.add_cookies([{"name": "sessionid", "value": as_editor.cookies["sessionid"].value, "url": site}])
    second, complaints = watched(context)
    second.goto(PATH.format("wiggum"))
    first.fill("#purpose", "The owner's purpose")
    first.fill("#criterion-0-name", "Deep")
    saved(first, 2)
    second.fill("#purpose", "The editor's purpose")
    expand(second)
    second.fill("#background", "The editor's background")
    save(second)

    expect(second.get_by_role("alert")).to_contain_text("Olivia Owner saved version 2")
    for change in ("The owner's purpose", "Deep", "The editor's purpose", "The editor's background"):
        expect(second.get_by_text(change, exact=True)).to_be_visible()
    assert newest().number == 2
    second.get_by_label("Theirs").check()
    second.get_by_role("button", name="Save both as version 3").click()
    expect(second.get_by_text("Version 3 saved.")).to_be_visible()

    version = newest()
    assert (version.number, version.purpose, version.background) == (
        3,
        "The owner's purpose",
        "The editor's background",
    )
    assert version.criteria.first().name == "Deep"
    the_first_sees_what_the_second_did(first)
    assert second.evaluate("Object.keys(localStorage).filter((k) => k.startsWith('wiggum:'))") == []
    context.close()
    assert complaints == []


def the_first_sees_what_the_second_did(page):
    """Whose page is older than the other's save is shown that save in turn."""
    expand(page)
    page.fill("#background", "The owner's background")
    save(page)
    expect(page.get_by_role("alert")).to_contain_text("Edgar Editor saved version 3")
    for change in ("The owner's background", "The editor's background"):
        expect(page.get_by_text(change, exact=True)).to_be_visible()
    page.get_by_role("button", name="Save both as version 4").click()
    expect(page.get_by_text("Version 4 saved.")).to_be_visible()
    assert newest().background == "The owner's background"


def test_a_choice_that_was_walked_away_from_is_not_lost(editor_page):
    first, second = editor_page, editor_page.context.new_page()
    second.goto(PATH.format("wiggum"))
    first.fill("#purpose", "One purpose")
    saved(first, 2)
    second.fill("#purpose", "Another purpose")
    save(second)
    expect(second.get_by_role("alert")).to_contain_text("You, in another window, saved version 2")
    second.goto(PATH.format("wiggum"))

    expect(second.locator("[data-draft-offer]")).to_contain_text("made on version 1")
    second.get_by_role("button", name="Restore").click()
    expect(second.locator("#purpose")).to_have_value("Another purpose")
    expect(second.get_by_text("Version 2 was saved since you opened version 1")).to_be_visible()


def test_it_works_without_script(browser, site, rubrics, owner, as_owner):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(PATH.format("wiggum"))
    page.get_by_role("button", name="Add criterion").click()
    page.fill("#criterion-6-name", "Courage")
    page.fill("#criterion-6-description", "Does it dare?")
    more(page, 6)
    page.fill("#criterion-6-order", "0")
    more(page, 6)
    more(page, 1)
    page.locator("#criterion-1").get_by_label("Remove").check()
    saved(page, 2)
    context.close()

    assert [row.key for row in newest().criteria.all()][:3] == ["courage", "depth", "completeness"]


def test_axe_finds_nothing_serious(browser, site, rubrics, owner, as_owner):
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(PATH.format("ralph"))
    page.evaluate(
        "document.querySelectorAll('#rubric-editor details').forEach((part) => { part.open = true; })"
    )
    page.uncheck("#context-judge-calibration")
    page.uncheck("#template-judge-default")
    assert at_both_widths(page) == []

    page.fill("#check-0-weight", "0")
    page.fill("#try-text", "TODO")
    page.get_by_role("button", name="Try all checks").click()
    expect(page.locator("[data-try-box] .tried")).to_be_visible()
    save(page)
    expect(page.locator("#error-summary")).to_be_visible()
    assert at_both_widths(page) == []
    context.close()


def test_axe_on_two_edits_side_by_side(browser, site, rubrics, project, owner, as_owner):
    context = browser.new_context(base_url=site, bypass_csp=True)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(PATH.format("wiggum"))
        page.fill("#purpose", f"Purpose {id(page)}")
    first.fill("#name", "Another name")
    expand(second)
    second.fill("#background", "Some background")
    saved(first, 2)
    save(second)
    expect(second.get_by_role("alert")).to_be_visible()

    assert in_both_themes(second) == []
    context.close()


def test_metrics_are_added_moved_removed_and_saved(editor_page):
    expand(editor_page)
    add = editor_page.get_by_role("button", name="Add metric")
    for place, (name, value) in enumerate((("loss", "loss=(\\d+)"), ("gone", "(x)"), ("accuracy", "(y)"))):
        add.click()
        editor_page.locator(f"#metric-{place}-name").fill(name)
        editor_page.locator(f"#metric-{place}-value").fill(value)
    editor_page.locator("#metric-0-lower").check()
    editor_page.locator("#metric-1").get_by_role("button", name="Remove").click()
    editor_page.locator("#metric-2").get_by_role("button", name="Move up").click()
    saved(editor_page, 2)
    found = newest().evaluator["metrics"]
    assert [(metric["name"], metric["lower_is_better"]) for metric in found] == [
        ("accuracy", False),
        ("loss", True),
    ]
