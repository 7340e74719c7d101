"""axe-core finds nothing serious on any page, in light and in dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from refinement.services.setup_links import setup_link_make

SERIOUS = {"serious", "critical"}


@pytest.fixture
def inspect(browser, site):
    """Opens an address in a theme and lists what axe has against it."""
    contexts = []

    def look(path: str, scheme: str, session: str | None = None, width: int = 1280) -> list[str]:
        # axe is injected as a script of its own, which the pages' policy rightly forbids.
        context = browser.new_context(
            base_url=site, bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 900}
        )
        contexts.append(context)
        if session:
            context.add_cookies([{"name": "sessionid", "value": session, "url": site}])
        page = context.new_page()
        page.goto(path)
        for menu in page.locator("details.menu > summary").all():
            menu.click()
        return serious(Axe().run(page).response["violations"])

    yield look
    for context in contexts:
        context.close()


def serious(violations: list[dict]) -> list[str]:
    return [
        f"{entry['id']}: {node['html']} {node['failureSummary']}"
        for entry in violations
        if entry["impact"] in SERIOUS
        for node in entry["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path",
    [
        "/account/login/",
        "/account/password/reset/",
        "/account/signup/",
        "/welcome/spent/",
        "/no/such/page/",
    ],
)
def test_pages_before_the_login(inspect, path, scheme):
    assert inspect(path, scheme) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_run(inspect, scheme):
    assert inspect(f"/welcome/{setup_link_make()}/", scheme) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/account/", "/account/password/", "/projects/new/", "/p/none/"])
def test_pages_behind_the_login(inspect, as_owner, path, scheme):
    assert inspect(path, scheme, session=as_owner.cookies["sessionid"].value) == []


def test_a_form_with_errors(browser, site):
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    page.goto("/account/login/")
    page.get_by_label("Mail address").fill("nobody@example.org")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()

    assert serious(Axe().run(page).response["violations"]) == []
    context.close()


def test_the_net_catches_something(browser, site):
    """The same inspection on a page that is known to be bad."""
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    page.set_content('<html lang="en"><title>x</title><main><img src="/x.png"><input></main></html>')

    found = serious(Axe().run(page).response["violations"])

    assert any(entry.startswith("image-alt") for entry in found)
    context.close()
