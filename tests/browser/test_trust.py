"""Pages of judges: axe at both widths, and from a disagreement to the rubric."""

import re

import pytest
from playwright.sync_api import Page, expect

from refinement.demo.trust import SLUG, demo_judge, demo_trust
from refinement.execution.reports import report_advance
from refinement.models import JudgeRecord, Label, Report, RubricVersion
from tests.browser.test_accessibility import at_both_widths


def compute_all() -> None:
    """As a worker does."""
    for report in Report.objects.filter(kind__in=["trust", "judges"]):
        Report.objects.filter(pk=report.pk).update(next_try_at=None)
        report_advance(report.pk)


@pytest.fixture
def judge(site, project, owner) -> JudgeRecord:
    demo_trust(project, [owner])
    compute_all()
    return demo_judge(project)


def addresses(judge: JudgeRecord) -> dict[str, str]:
    base = "/p/alpha/trust/"
    other = JudgeRecord.objects.get(key="qwen3:14b")
    top = Report.objects.get(kind="trust", subject=judge.pk).result["disagreements"]["top"][0]
    place = f"{top['item'].replace(':', '-')}"
    return {
        "list": base,
        "no match": f"{base}?q=nothing",
        "judge": f"{base}{judge.pk}/",
        "without labels": f"{base}{JudgeRecord.objects.get(key='phi4:14b').pk}/",
        "disagreements": f"{base}{judge.pk}/disagreements/",
        "text": f"{base}{judge.pk}/disagreements/{place}/{top['criterion']}/",
        "choose two": f"{base}compare/",
        "two judges": f"{base}compare/?a={judge.pk}&b={other.pk}",
        "editor": f"/p/alpha/rubrics/{SLUG}/edit/?case={judge.pk}-{place}-{top['criterion']}",
    }


def test_axe_has_nothing_against_them_and_none_is_wider_than_its_window(browser, site, as_owner, judge):
    # axe is injected as a script of its own, which the pages' policy rightly forbids.
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    found = {}
    listed = addresses(judge)
    page.goto(listed["two judges"])
    compute_all()
    for name, address in listed.items():
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details').forEach(fold => { fold.open = true })")
        found[name] = at_both_widths(page)
    context.close()
    assert {name: told for name, told in found.items() if told} == {}


def test_a_disagreement_is_followed_into_the_rubric(signed_in: Page, judge):
    page = signed_in
    page.goto("/p/alpha/")
    page.get_by_role("link", name="Trust", exact=True).click()
    page.get_by_role("row", name="gemma3:27b").get_by_role("link").click()
    expect(page.locator(".trust-answer")).to_contain_text("but not on Grounded")
    page.get_by_role("link", name="disagreements").last.click()
    expect(page.locator(".case-pattern")).to_contain_text("are about Grounded")
    page.get_by_role("link", name="Read the text").first.click()
    expect(page.locator(".case-text").first).to_contain_text("## What changed")
    page.get_by_role("link", name="Clarify the rubric").click()
    expect(page.locator(".editor-case")).to_contain_text("The judge said")
    expect(page.locator("#note")).to_have_value(re.compile("^Clarified Grounded: judge "))
    row = page.locator(".entry.is-case")
    row.locator("textarea").first.fill("Every claim has a source that supports it.")
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text("Version 3 saved.")).to_be_visible()
    version = RubricVersion.objects.get(rubric__slug=SLUG, number=3)
    assert version.note.startswith("Clarified Grounded")
    assert version.criteria.get(key="grounded").description == "Every claim has a source that supports it."


def test_a_label_is_marked_wrong_and_taken_back(signed_in: Page, judge):
    page = signed_in
    page.goto(addresses(judge)["text"])
    page.get_by_role("button", name="The label was wrong").first.click()
    expect(page.get_by_text("no longer counts. The figures are being computed again.")).to_be_visible()
    assert Label.objects.exclude(wrong=[]).count() == 1
    page.get_by_role("button", name="Undo: the label counts").click()
    expect(page.get_by_text("counts again.")).to_be_visible()
    assert not Label.objects.exclude(wrong=[]).exists()


def test_figures_appear_by_themselves(signed_in: Page, judge):
    page = signed_in
    Report.objects.filter(kind="trust", subject=judge.pk).delete()
    page.goto(f"/p/alpha/trust/{judge.pk}/")
    expect(page.get_by_text("A worker is computing the figures.")).to_be_visible()
    compute_all()
    expect(page.locator(".trust-answer")).to_contain_text("This judge agrees with people")
    expect(page.locator("[hx-trigger^='load delay']")).to_have_count(0)
