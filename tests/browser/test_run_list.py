"""The list of runs in a browser: filters, saved views, bulk actions, going back; and the home page."""

import pytest
from playwright.sync_api import expect

from refinement.models import Run, RunTag, SavedView
from tests.browser.test_accessibility import at_both_widths
from tests.views.runs.listed import runs_of


@pytest.fixture
def runs(site, project, owner):
    """Runs of several kinds; the address of their list."""
    runs_of(project, 20, title="Explain the backups", task="Explain the backups", created_by=owner)
    runs_of(
        project, 5, outcome="PASS", stop_reason="passed", title="Notes on zebras", task="zebras", best="9.2"
    )
    runs_of(project, 1, status="waiting", title="Held up", tags=("docs",), kinship="same_model")
    runs_of(project, 1, status="running", title="At work", signal_rounds=1)
    return f"/p/{project.slug}/runs/"


def lines(page):
    return page.locator("#run-results tbody tr")


def test_filters_change_the_list_and_the_address_and_back_undoes_them(signed_in, runs):
    signed_in.goto(runs)
    expect(lines(signed_in)).to_have_count(25)
    signed_in.keyboard.press("/")
    expect(signed_in.get_by_role("searchbox")).to_be_focused()
    signed_in.keyboard.type("zebras")
    expect(lines(signed_in)).to_have_count(5)
    assert signed_in.url.endswith("?q=zebras")
    signed_in.get_by_text("+ Filter").click()
    signed_in.get_by_label("Outcome").select_option("FAIL")
    signed_in.get_by_role("button", name="Apply").first.click()
    expect(signed_in.get_by_role("heading", name="No runs match")).to_be_visible()
    assert signed_in.url.endswith("?q=zebras&outcome=FAIL")

    signed_in.go_back()
    expect(lines(signed_in)).to_have_count(5)
    expect(signed_in.get_by_role("searchbox")).to_have_value("zebras")
    signed_in.get_by_role("link", name="Remove filter Search").click()
    expect(lines(signed_in)).to_have_count(25)
    assert signed_in.url.endswith(runs)


def test_a_list_in_which_nothing_passes_says_so_in_the_end(signed_in, site, project):
    runs_of(project, 20, best="9", r1="3")
    runs_of(project, 1, best="2", r1="8", title="The last one")
    signed_in.goto(f"/p/{project.slug}/runs/?sort=best&best_min=3")
    expect(lines(signed_in)).to_have_count(20)
    signed_in.get_by_text("+ Filter").click()
    signed_in.locator("#filter-r1_min").fill("7")
    signed_in.locator("#filter-r1_min").press("Enter")
    expect(signed_in.get_by_role("heading", name="No runs match")).to_be_visible()
    assert signed_in.url.endswith("?r1_min=7&best_min=3&sort=best")
    signed_in.go_back()
    expect(lines(signed_in)).to_have_count(20)
    signed_in.goto(f"/p/{project.slug}/runs/?sort=best&r1_min=7")
    expect(lines(signed_in)).to_have_count(1)
    expect(lines(signed_in).first).to_contain_text("The last one")


def test_pages_and_orders(signed_in, runs):
    signed_in.goto(runs)
    signed_in.get_by_role("link", name="Next").click()
    expect(lines(signed_in)).to_have_count(2)
    signed_in.get_by_role("link", name="Previous").click()
    expect(lines(signed_in)).to_have_count(25)
    signed_in.get_by_role("link", name="best", exact=True).click()
    expect(lines(signed_in).first).to_contain_text("Notes on zebras")


def test_many_are_selected_tagged_and_archived(signed_in, runs):
    signed_in.goto(f"{runs}?outcome=PASS")
    expect(signed_in.get_by_role("group", name="Selected runs")).to_be_hidden()
    signed_in.get_by_label("Select all on this page").check()
    expect(signed_in.get_by_text("5 selected")).to_be_visible()
    signed_in.locator("#bulk").get_by_text("Tag", exact=True).click()
    signed_in.get_by_label("Tags, separated by commas").fill("kept, good")
    signed_in.get_by_label("Tags, separated by commas").press("Enter")
    expect(signed_in.get_by_role("status").first).to_contain_text("5 runs were tagged.")
    assert RunTag.objects.filter(name="good").count() == 5
    first, third = lines(signed_in).nth(0), lines(signed_in).nth(2)
    first.get_by_role("checkbox").click()
    third.get_by_role("checkbox").click(modifiers=["Shift"])
    expect(signed_in.get_by_text("3 selected")).to_be_visible()
    signed_in.get_by_role("button", name="Archive").click()
    expect(signed_in.get_by_role("status").first).to_contain_text("3 runs were archived.")
    assert Run.objects.filter(archived_at__isnull=False).count() == 3


def test_keys_move_select_clear_and_open(signed_in, runs):
    signed_in.goto(runs)
    for key in "jjxkx":
        signed_in.keyboard.press(key)
    expect(signed_in.get_by_text("2 selected")).to_be_visible()
    expect(lines(signed_in).nth(1).get_by_role("checkbox")).to_be_checked()
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_role("group", name="Selected runs")).to_be_hidden()
    signed_in.keyboard.press("f")
    expect(signed_in.get_by_label("Outcome")).to_be_focused()
    signed_in.keyboard.press("Escape")
    third = Run.objects.order_by("-pk")[2].pk
    for key in "jjj":  # over a row with tags
        signed_in.keyboard.press(key)
    signed_in.keyboard.press("Enter")
    signed_in.wait_for_url(f"**/runs/{third}/")


def test_a_view_is_saved_opened_and_deleted(signed_in, runs):
    signed_in.goto(f"{runs}?outcome=PASS")
    signed_in.get_by_text("+ Save view").click()
    signed_in.get_by_label("Name").fill("The good ones")
    signed_in.get_by_label("Name").press("Enter")
    expect(signed_in.get_by_role("status").first).to_contain_text("The good ones")
    signed_in.goto(runs)
    signed_in.get_by_role("link", name="The good ones").click()
    expect(lines(signed_in)).to_have_count(5)
    signed_in.get_by_text("+ Save view").click()
    signed_in.get_by_role("button", name="Delete the view The good ones").click()
    expect(signed_in.get_by_role("status").first).to_contain_text("deleted.")
    assert not SavedView.objects.exists()


def test_it_works_without_script(browser, site, as_owner, runs):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(runs)
    page.get_by_role("searchbox").fill("zebras")
    page.get_by_role("searchbox").press("Enter")
    expect(lines(page)).to_have_count(5)
    page.get_by_role("link", name="Select all on this page").click()
    page.locator("#bulk").get_by_text("Tag", exact=True).click()
    page.get_by_label("Tags, separated by commas").fill("plain")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("5 runs were tagged.")
    context.close()


def test_the_first_row_is_near_the_top_and_twenty_fit(signed_in, runs):
    signed_in.set_viewport_size({"width": 1440, "height": 900})
    signed_in.goto(runs)
    assert lines(signed_in).first.bounding_box()["y"] <= 260
    last = lines(signed_in).nth(18).bounding_box()
    assert last["y"] + last["height"] <= 900


def test_lists_and_home_are_accessible_and_fit(browser, site, as_owner, project, runs):
    SavedView.objects.create(project=project, name="Ours", query="outcome=PASS", shared=True)
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    for path in (runs, f"{runs}?outcome=PASS&since=x", f"{runs}?tag=nowhere", f"/p/{project.slug}/"):
        page.goto(path)
        page.evaluate("for (const menu of document.querySelectorAll('main details')) menu.open = true")
        assert at_both_widths(page) == [], path
    context.close()
