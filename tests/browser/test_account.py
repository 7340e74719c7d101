"""Signing in and out, the theme, menus and the keyboard."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.views.runs.listed import runs_of

PAPER_DARK = "rgb(15, 18, 24)"
PAPER_LIGHT = "rgb(246, 247, 249)"


def paper(page: Page) -> str:
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_signing_in_and_out(page, owner, password, project):
    page.goto(f"/p/{project.slug}/")
    page.get_by_label("Email").fill(owner.email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(project.name)

    page.locator("summary", has_text="Your account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_role("status")).to_have_text("Signed out.")


def test_the_theme_changes_at_once_and_stays(page):
    page.emulate_media(color_scheme="light")
    page.goto("/account/login/")
    page.get_by_label("Email").fill("half@typed")
    assert paper(page) == PAPER_LIGHT

    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Email")).to_have_value("half@typed")
    assert paper(page) == PAPER_DARK

    page.reload()
    assert paper(page) == PAPER_DARK
    page.get_by_role("button", name="System").click()
    expect(page.locator("html[data-theme]")).to_have_count(0)
    assert paper(page) == PAPER_LIGHT


def test_the_theme_changes_without_script(browser, site):
    context = browser.new_context(base_url=site, java_script_enabled=False, color_scheme="light")
    plain = context.new_page()
    plain.goto("/account/login/")
    plain.get_by_role("button", name="Dark").click()

    expect(plain.locator("html")).to_have_attribute("data-theme", "dark")
    expect(plain).to_have_url(f"{site}/account/login/")
    context.close()


def test_the_system_decides_where_nobody_chose(page):
    page.emulate_media(color_scheme="dark")
    page.goto("/account/login/")

    assert paper(page) == PAPER_DARK


def test_menus_close_on_escape_and_on_a_click_elsewhere(signed_in):
    signed_in.goto("/account/")
    menu = signed_in.locator("details.menu-end", has_text="Your account")
    for close in (lambda: signed_in.keyboard.press("Escape"), lambda: signed_in.locator("h1").click()):
        menu.locator("summary").click()
        expect(menu).to_have_attribute("open", "")
        close()
        expect(menu).not_to_have_attribute("open", "")


def test_the_first_tab_offers_to_skip_to_the_content(signed_in, project):
    signed_in.goto(f"/p/{project.slug}/")
    signed_in.keyboard.press("Tab")
    skip = signed_in.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()

    signed_in.keyboard.press("Enter")
    expect(signed_in.locator("#content")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_whatever_has_the_focus_shows_it(signed_in, scheme):
    signed_in.emulate_media(color_scheme=scheme)
    signed_in.goto("/account/")
    for _ in range(8):
        signed_in.keyboard.press("Tab")
        outline = signed_in.evaluate(
            "(() => { const s = getComputedStyle(document.activeElement);"
            " return [s.outlineStyle, parseFloat(s.outlineWidth)] })()"
        )
        assert outline[0] == "solid"
        assert outline[1] >= 2


@pytest.mark.parametrize("path", ["/account/login/", "/account/", "/"])
def test_nothing_is_wider_than_a_phone(signed_in, path):
    signed_in.set_viewport_size({"width": 360, "height": 740})
    signed_in.goto(path)

    assert signed_in.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_palette_opens_a_run_by_keyboard_alone(signed_in, project):
    run = runs_of(project, title="Upload service 2.4")[0]
    signed_in.goto(f"/p/{project.slug}/")
    signed_in.keyboard.press("Control+k")
    expect(signed_in.get_by_role("dialog", name="Search or jump to")).to_be_visible()
    signed_in.keyboard.type("upload serv")
    expect(signed_in.locator("#palette-results")).to_have_attribute("data-words", "upload serv")
    signed_in.keyboard.press("ArrowDown")
    expect(signed_in.locator(".palette-item", has_text="Upload service 2.4")).to_be_focused()
    signed_in.keyboard.press("Enter")
    expect(signed_in).to_have_url(re.compile(rf"/runs/{run.pk}/$"))
    signed_in.wait_for_load_state()

    signed_in.keyboard.press("Control+k")
    signed_in.keyboard.type("theme dark")
    expect(signed_in.locator("#palette-results")).to_have_attribute("data-words", "theme dark")
    signed_in.keyboard.press("Enter")
    expect(signed_in.locator("html")).to_have_attribute("data-theme", "dark")
    expect(signed_in.get_by_role("dialog")).to_be_hidden()

    signed_in.keyboard.press("?")
    expect(signed_in.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    signed_in.keyboard.press("Escape")
    expect(signed_in.get_by_role("dialog")).to_be_hidden()
