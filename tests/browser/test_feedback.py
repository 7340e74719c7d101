"""The fate of feedback, the blame view and the reward-hacking watch, in a browser."""

import pytest
from playwright.sync_api import expect

from refinement.models import BenchTrial, FeedbackCorrection, Measurement
from refinement.services.runs.held_out import held_out_start
from refinement.services.runs.ledger import ledger_store
from tests.browser.test_accessibility import at_both_widths
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import guide_run
from tests.views.runs.staged import ollama_server, stage

__all__ = ["ollama_server", "stage"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_feedback_is_corrected_with_a_click_and_the_round_stays_open(signed_in, site, stage):
    run = guide_run(stage)
    ledger_store(run)
    signed_in.goto(f"/p/{run.project.slug}/runs/{run.pk}/rounds/1/")
    signed_in.locator("#round-issues > summary").click()
    line = signed_in.locator("#fate-1-issue-0")
    expect(line).to_contain_text("Round 2 changed its passage")
    line.locator("summary").click()
    line.get_by_role("button", name="Still open").click()
    expect(signed_in.locator("#fate-1-issue-0")).to_contain_text("Corrected by")
    expect(signed_in.locator("#round-issues")).to_have_attribute("open", "")
    expect(signed_in.locator("#round-issues .chip").first).to_have_text("still open")
    assert FeedbackCorrection.objects.get().fate == "open"
    assert signed_in.url.endswith("/rounds/1/")


def test_who_wrote_what_is_a_tab_that_works_without_script(browser, site, stage, as_owner):
    run = guide_run(stage)
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(f"/p/{run.project.slug}/runs/{run.pk}/rounds/3/")
    page.get_by_role("link", name="Blame").click()
    row = page.locator(".blame-row").filter(has_text="ingest 2.4")
    expect(row.get_by_role("link", name="Round 2")).to_be_visible()
    row.locator("summary").click()
    expect(row).to_contain_text("The port on which the service listens is missing.")
    context.close()


def watched_run(project):
    """A run whose text grew, and whose held-out judge sees no gain."""
    run = finished_run(
        project, ["5", "8"], candidates=["Deploy it. " * 20, "Deploy it now. " * 40],
        held_out_model="mistral:7b", held_out_endpoint="ollama",
    )  # fmt: skip
    for item in held_out_start(run).items.all():
        BenchTrial.objects.create(bench=item.bench, number=1, status="done", composite=7, scores={})
    Measurement.objects.update(status="finished", finished_at="2026-01-01T00:00Z")
    return run


def test_nothing_serious_for_axe_and_nothing_too_wide(browser, site, stage, project, as_owner):
    run = guide_run(stage)
    ledger_store(run)
    # axe is injected as a script of its own, which the pages' policy rightly forbids.
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1440, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    here = f"/p/{project.slug}/runs"
    for address in (
        f"{here}/{run.pk}/rounds/2/",
        f"{here}/{run.pk}/rounds/3/?view=blame",
        f"{here}/{watched_run(project).pk}/",
        f"/p/{project.slug}/rubrics/{run.rubric.slug}/",
    ):
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details:not(.menu)').forEach(d => d.open = true)")
        assert at_both_widths(page) == [], address
    context.close()
