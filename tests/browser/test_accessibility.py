"""axe-core finds no serious problems on any page, light and dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from refinement.services.people.setup_links import setup_link_make
from tests.views.experiments.test_page import better

SERIOUS = {"serious", "critical"}
# A theme is a choice between two colours (`light-dark()` in static/css/tokens.css): nothing else can differ.
COLOURS = '["color-contrast", "link-in-text-block"]'
COLOURS_AGAIN = f'axe.run({{resultTypes: ["violations"], runOnly: {COLOURS}}})'
# On a phone in dark, elements are placed and coloured differently: only these rules can find something else.
LAYOUT = '["color-contrast", "link-in-text-block", "scrollable-region-focusable", "aria-hidden-focus"]'
LAYOUT_AGAIN = f'axe.run({{resultTypes: ["violations"], runOnly: {LAYOUT}}})'
PHONE = {"width": 390, "height": 844}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def inspect(browser, site):
    """Opens an address and lists what axe has against it."""
    pages = {}

    def opened(session: str | None) -> Page:
        # axe is injected as a script of its own, which the pages' policy rightly forbids.
        context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
        if session:
            context.add_cookies([{"name": "sessionid", "value": session, "url": site}])
        return context.new_page()

    def look(path: str, session: str | None = None, dialog: str = "") -> list[str]:
        page = pages.get(session) or pages.setdefault(session, opened(session))
        page.goto(path)
        if dialog:
            page.keyboard.press(dialog)
            page.locator("dialog[open] h2").first.wait_for()
            return at_both_widths(page)
        page.evaluate("for (const menu of document.querySelectorAll('details.menu')) menu.open = true")
        return at_both_widths(page)

    yield look
    for page in pages.values():
        page.context.close()


def in_both_themes(page: Page) -> list[str]:
    """What axe has against a page as it stands, in light and then in dark."""
    found = in_each_theme(page)
    page.emulate_media(color_scheme="light", reduced_motion="null")
    return found


def at_both_widths(page: Page) -> list[str]:
    """What axe has against a page in light, with all rules, and on a phone in dark, with those that can find
    something else there; and where the page is wider than its window."""
    before = page.viewport_size or PHONE
    page.emulate_media(color_scheme="light", reduced_motion="reduce")  # no colour is on its way to another
    found = [f"light: {entry}" for entry in serious(Axe().run(page).response["violations"])]
    found += too_wide(page)
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"phone: {entry}" for entry in serious(page.evaluate(LAYOUT_AGAIN)["violations"])]
    found += too_wide(page)
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light", reduced_motion="null")
    return found


def in_each_theme(page: Page) -> list[str]:
    """Leaves the page in dark."""
    found = []
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour is on its way to another
        said = Axe().run(page).response if theme == "light" else page.evaluate(COLOURS_AGAIN)
        found += [f"{theme}: {entry}" for entry in serious(said["violations"])]
    return found


def too_wide(page: Page) -> list[str]:
    beyond = page.evaluate(OVERFLOW)
    return [f"{beyond} pixels wider than its window at {page.viewport_size}"] if beyond > 0 else []


def serious(violations: list[dict]) -> list[str]:
    return [
        f"{entry['id']}: {node['html']} {node['failureSummary']}"
        for entry in violations
        if entry["impact"] in SERIOUS
        for node in entry["nodes"]
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/account/login/",
        "/account/password/reset/",
        "/account/signup/",
        "/welcome/spent/",
        "/no/such/page/",
    ],
)
def test_pages_before_the_login(inspect, path):
    assert inspect(path) == []


def test_the_first_run(inspect):
    assert inspect(f"/welcome/{setup_link_make()}/") == []


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/account/",
        "/account/password/",
        "/projects/new/",
        "/p/none/",
        "/help/",
        "/help/webhooks/",
        "/connect/",
        "/p/alpha/tour/play/?step=13",
    ],
)
def test_pages_behind_the_login(inspect, as_owner, path):
    assert inspect(path, session=as_owner.cookies["sessionid"].value) == []


@pytest.mark.parametrize("key", ["Control+k", "?"])
def test_the_dialogs_of_every_page(inspect, as_owner, project, key):
    assert inspect("/account/", session=as_owner.cookies["sessionid"].value, dialog=key) == []


def test_a_form_with_errors(browser, site):
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    page.goto("/account/login/")
    page.get_by_label("Email").fill("nobody@example.org")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()

    assert in_both_themes(page) == []
    context.close()


def test_the_net_catches_something(browser, site):
    """The same inspection on a page that is known to be bad."""
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    page.set_content('<html lang="en"><title>x</title><main><img src="/x.png"><input></main></html>')

    found = in_both_themes(page)

    assert any(entry.startswith("light: image-alt") for entry in found)
    assert not any("color-contrast" in entry for entry in found)
    context.close()


def test_the_net_catches_what_is_bad_on_a_phone_alone(browser, site):
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    page.set_content(
        '<html lang="en"><title>x</title><style>@media (max-width: 400px) { p { color: #ccc; width: 600px } }'
        "</style><main><p>Hard to read</p></main>"
    )

    found = at_both_widths(page)

    assert [entry.partition(": <")[0] for entry in found[:1]] == ["phone: color-contrast"]
    assert found[1].endswith(f"wider than its window at {PHONE}")
    context.close()


def test_the_net_catches_what_is_bad_in_one_theme_alone(browser, site):
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    page.set_content(
        '<html lang="en"><title>x</title><style>:root { color-scheme: light dark }'
        " main { color: light-dark(#000, #333); background: light-dark(#fff, #000) }</style>"
        "<main>Hard to read</main>"
    )

    assert [entry.partition(": <")[0] for entry in in_both_themes(page)] == ["dark: color-contrast"]
    context.close()


def test_the_pages_of_experiments(inspect, as_owner, project):
    experiment = better(project)
    at = f"/p/alpha/experiments/{experiment.pk}/"
    paths = (
        at,
        f"{at}tasks/1/?configuration={experiment.configurations.last().pk}",
        f"{at}configurations/new/",
        "/p/alpha/experiments/",
        f"/p/alpha/experiments/new/?from={experiment.pk}",
        f"/p/alpha/experiments/compare/?b={experiment.pk}",
        f"/p/alpha/suites/{experiment.suite_version.suite.slug}/history/",
    )
    session = as_owner.cookies["sessionid"].value
    assert [found for path in paths for found in inspect(path, session=session)] == []
