"""Inviting and joining in two browsers; role changes and removals apply immediately."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from refinement.models import User
from refinement.services.audit import audit_record
from refinement.services.people.invitations import invitation_make
from tests.browser.conftest import watched
from tests.browser.test_accessibility import in_both_themes


@pytest.fixture
def second(browser, site) -> Iterator[Page]:
    """Another person's browser."""
    context = browser.new_context(base_url=site, viewport={"width": 1280, "height": 900})
    opened, complaints = watched(context)
    opened.set_default_timeout(15_000)
    yield opened
    context.close()
    assert complaints == []


def line_of(page: Page, name: str):
    return page.get_by_role("listitem").filter(has_text=name)


def test_from_invitation_to_removal(signed_in, second, project):
    owner, guest = signed_in, second
    owner.goto(f"/p/{project.slug}/")
    owner.get_by_role("link", name="Project", exact=True).click()
    owner.get_by_label("Role", exact=True).select_option("editor")
    owner.get_by_role("button", name="Create invitation").click()
    link = owner.get_by_label("Invitation link").input_value()

    guest.goto(link)
    expect(guest.get_by_role("heading", level=1)).to_have_text("Join Alpha")
    guest.get_by_label("Your name").fill("Nina New")
    guest.get_by_label("Email").fill("nina@example.org")
    guest.get_by_label("Password").fill("seven quiet rivers")
    guest.get_by_role("button", name="Create account and join").click()
    expect(guest.get_by_role("heading", level=1)).to_have_text("Alpha")
    guest.goto(f"/p/{project.slug}/runs/new/")
    expect(guest.get_by_role("heading", level=1)).not_to_have_text("Not allowed")

    owner.goto(f"/p/{project.slug}/members/")
    owner.get_by_label("Role of Nina New").select_option("viewer")
    owner.get_by_role("button", name="Save the role of Nina New").click()
    expect(owner.get_by_role("status")).to_contain_text("now a viewer")
    guest.goto(f"/p/{project.slug}/runs/new/")
    expect(guest.get_by_role("heading", level=1)).to_have_text("Not allowed")

    line_of(owner, "Nina New").get_by_text("Remove Nina New").first.click()
    line_of(owner, "Nina New").get_by_role("button", name="Remove Nina New").click()
    expect(owner.get_by_role("status")).to_contain_text("Nina New is no longer in this project.")
    guest.goto(f"/p/{project.slug}/")
    expect(guest.get_by_role("heading", level=1)).to_have_text("Page not found")
    guest.goto(link)
    expect(guest.get_by_role("heading", level=1)).to_have_text("Invitation expired")

    owner.get_by_role("link", name="Audit log").click()
    for words in ("created an invitation", "accepted an invitation", "removed nina@example.org"):
        expect(owner.get_by_role("cell", name=words)).to_be_visible()


def test_the_audit_log_is_narrowed_without_a_new_page(signed_in, owner, project):
    audit_record(action="run.cancel", object_type="run", object_id=1, project=project, user=owner)
    audit_record(action="run.pause", object_type="run", object_id=2, project=project, user=owner)
    signed_in.goto(f"/p/{project.slug}/audit/")

    signed_in.get_by_label("Action", exact=True).select_option("run.pause")

    expect(signed_in.get_by_role("cell", name="cancelled run 1")).to_have_count(0)
    expect(signed_in.get_by_role("cell", name="paused run 2")).to_be_visible()
    expect(signed_in).to_have_url(f"{signed_in.url.split('/p/')[0]}/p/{project.slug}/audit/?action=run.pause")


def test_axe_finds_nothing_serious(browser, site, as_owner, owner, editor, project):
    User.objects.filter(pk=owner.pk).update(is_superuser=True)
    _, token = invitation_make(project=project, role="viewer", days=7, by=owner)
    context = browser.new_context(base_url=site, bypass_csp=True)
    page = context.new_page()
    found = {}
    page.goto(f"/join/{token}/")
    found["join"] = in_both_themes(page)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    for path in (
        f"/p/{project.slug}/members/", f"/p/{project.slug}/audit/", "/account/", "/administration/",
        "/administration/projects/", "/administration/system/", "/administration/audit/",
        "/administration/endpoints/new/", "/join/spent/",
        f"/join/{token}/",
    ):  # fmt: skip
        page.goto(path)
        for fold in page.locator("details > summary").all():
            fold.click()
        found[path] = in_both_themes(page)
    context.close()

    assert {path: said for path, said in found.items() if said} == {}
