"""Rubrics in a browser: from the gallery to a comparison, by keyboard, in both themes."""

from dataclasses import replace

import pytest
from playwright.sync_api import expect

from refinement.engine.profiles import default_rubrics, rubric_for
from refinement.engine.types import Information
from refinement.models import Rubric
from refinement.services.rubrics.editing import default_rubrics_install, version_create
from tests.browser.test_accessibility import at_both_widths
from tests.views.rubrics.given import a_finished_run, hostile_definition


@pytest.fixture
def rubrics(site, project, owner):
    """The published rubrics, one of them with a second version and runs."""
    default_rubrics_install(project=project, user=owner)
    rubric = Rubric.objects.get(slug="wiggum")
    base = default_rubrics()["wiggum"]
    changed = replace(
        base,
        purpose="Guides for people on call.",
        checks=rubric_for("ralph").checks,
        context=replace(base.context, judge=base.context.judge | {Information.HISTORY}),
    )
    version = version_create(rubric=rubric, definition=changed, user=owner, note="For people on call.")
    a_finished_run(project, version)
    return f"/p/{project.slug}/rubrics"


def test_a_rubric_from_the_gallery_by_keyboard(signed_in, rubrics):
    signed_in.goto(f"{rubrics}/")
    signed_in.get_by_role("link", name="New rubric").press("Enter")
    signed_in.get_by_role("radio", name="Simmer").press("Space")
    signed_in.get_by_role("radio", name="API design").press("Space")
    signed_in.get_by_role("textbox", name="Name").fill("Our API")
    signed_in.get_by_role("textbox", name="Name").press("Enter")

    expect(signed_in.get_by_role("heading", level=1)).to_contain_text("Our API")
    version = Rubric.objects.get(slug="our-api").versions.get()
    assert (version.profile, version.artifact_type) == ("simmer", "api-design")


def test_names_are_readable_on_a_phone(signed_in, rubrics):
    signed_in.set_viewport_size({"width": 390, "height": 844})
    signed_in.goto(f"{rubrics}/")
    name = signed_in.get_by_role("rowheader").first
    assert name.evaluate("cell => cell.clientWidth") > 200


def test_the_list_follows_what_is_typed(signed_in, rubrics):
    signed_in.goto(f"{rubrics}/")
    signed_in.get_by_role("searchbox").fill("placeholders")
    expect(signed_in.locator("#rubric-list tbody tr")).to_have_count(1)
    expect(signed_in).to_have_url(f"{signed_in.url.split('/p/')[0]}{rubrics}/?q=placeholders")

    signed_in.get_by_role("searchbox").fill("no such thing")
    expect(signed_in.get_by_text("Nothing matches")).to_be_visible()


def test_compare_two_versions_and_restore_the_first(signed_in, rubrics):
    signed_in.goto(f"{rubrics}/wiggum/versions/")
    signed_in.get_by_label("Compare from version 1").check()
    signed_in.get_by_label("Compare to version 2").check()
    signed_in.get_by_role("button", name="Compare", exact=True).click()
    expect(signed_in.locator("#comparison ins").first).to_contain_text("Guides for people on call")

    signed_in.get_by_role("navigation", name="Rubric").get_by_role("link", name="Versions").click()
    signed_in.get_by_role("button", name="Restore version 1").click()
    expect(signed_in.get_by_role("status")).to_contain_text("Version 1 restored as version 3.")
    assert Rubric.objects.get(slug="wiggum").versions.first().note == "Restored from version 1."


def test_duplicate_and_archive(signed_in, rubrics):
    signed_in.goto(f"{rubrics}/wiggum/")
    signed_in.get_by_text("More", exact=True).click()
    signed_in.get_by_role("button", name="Duplicate").click()
    expect(signed_in.get_by_role("heading", level=1)).to_have_text("Copy of Technical guide")

    signed_in.get_by_text("More", exact=True).click()
    signed_in.get_by_role("button", name="Archive").click()
    expect(signed_in.get_by_role("status")).to_contain_text("archived.")
    expect(signed_in.locator("#rubric-list")).not_to_contain_text("Copy of")


def test_hostile_texts_run_nothing(signed_in, rubrics, project):
    version = version_create(rubric=Rubric.objects.get(slug="wiggum"), definition=hostile_definition())
    dialogs = []
    signed_in.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    for path in ("/", "/wiggum/", "/wiggum/versions/", f"/wiggum/compare/?a=1&b={version.number}"):
        signed_in.goto(f"{rubrics}{path}")
        assert signed_in.locator("main img[src=x], main script").count() == 0
        assert signed_in.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), path
    assert dialogs == []


def test_nothing_serious_on_any_page(browser, site, as_owner, rubrics):
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    paths = ("/", "/?q=zebra", "/?archived=1", "/new/", "/wiggum/", "/wiggum/v/1/", "/ralph/")
    for path in (*paths, "/wiggum/versions/", "/wiggum/compare/"):
        page.goto(f"{rubrics}{path}")
        for fold in page.locator("main details > summary").all():
            fold.click()
        assert at_both_widths(page) == [], path
    context.close()
