"""Creating and revoking an API token, and the API documentation under the Content Security Policy."""

from playwright.sync_api import expect

from tests.api.conftest import ApiClient
from tests.browser.test_accessibility import in_both_themes


def test_a_token_from_making_to_revoking(signed_in, project):
    page = signed_in
    page.goto(f"/p/{project.slug}/members/")
    page.get_by_role("link", name="API tokens").click()
    page.get_by_label("Name").fill("Nightly evals")
    page.get_by_label("Role").select_option("editor")
    page.get_by_role("button", name="Create token").click()
    script = ApiClient(page.get_by_label("Token", exact=True).input_value())
    assert script.get("/projects").json()["items"][0]["role"] == "editor"
    page.goto(f"/p/{project.slug}/tokens/")
    expect(page.get_by_role("row").filter(has_text="Nightly evals")).not_to_contain_text("never")
    page.get_by_role("button", name="Revoke Nightly evals").click()
    expect(page.get_by_role("status")).to_contain_text("revoked")
    assert script.get("/projects").status_code == 401
    page.goto("/api/v1/docs")
    # A hundred operations: beside other tests they take their time to draw.
    expect(page.locator("#operations-Runs-run_launch")).to_be_visible()


def test_nothing_stands_in_anybodys_way(browser, site, as_owner, project):
    context = browser.new_context(base_url=site, bypass_csp=True)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(f"/p/{project.slug}/tokens/")
    page.get_by_label("Name").fill("Nightly evals")
    page.get_by_role("button", name="Create token").click()
    assert in_both_themes(page) == []
    context.close()
