"""Pages of runs: axe in both themes and on a phone, keyboard only, and without scripts."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from refinement.engine.profiles import rubric_for
from refinement.models import Run
from tests.browser.test_accessibility import at_both_widths
from tests.views.runs.finished import finished_run

GUIDE = """# Deploying the ingest service

The service runs {how} and reads its settings from {settings}.

## Before you start

Set `INGEST_DB` first: without it the service drops every message.
"""
FIRST = GUIDE.format(how="in a container", settings="the environment")
BETTER = GUIDE.format(how="as ingest 2.4 on port 8080", settings="four variables, listed below")
OTHER = GUIDE.format(how="on two servers", settings="a file")
MOST_TABS = 120


@pytest.fixture
def runs(site, project, owner) -> list[Run]:
    """A project with runs that went differently, one of them on another scale."""
    ralph = replace(rubric_for("ralph"), criteria=rubric_for("wiggum").criteria)
    texts = [FIRST, BETTER, FIRST]
    return [
        finished_run(project, user=owner, candidates=texts, tags=["docs"], signal_rounds=1, batch="one"),
        finished_run(
            project, ["8.3", "9.1"], user=owner, candidates=[FIRST, OTHER], outcome="PASS",
            stop_reason="passed", why="Stopped after round 2: 9.10 reaches the pass mark of 9.0.",
            batch="one",
        ),
        finished_run(project, ["0.4", "0.9"], definition=ralph, user=owner, candidates=texts[:2]),
    ]  # fmt: skip


def addresses(runs: list[Run]) -> dict[str, str]:
    base = "/p/alpha/"
    first = f"{base}runs/{runs[0].pk}/"
    both = "&".join(f"run={run.pk}" for run in runs[:2])
    return {
        "home": base,
        "list": f"{base}runs/",
        "filtered list": f"{base}runs/?outcome=PASS&q=deployment",
        "empty list": f"{base}runs/?outcome=ERROR",
        "launch": f"{base}runs/new/",
        "again, but": f"{base}runs/new/?from={runs[0].pk}",
        "run": first,
        "round": f"{first}rounds/3/",
        "diff": f"{first}diff/?a=1&b=2",
        "calls": f"{first}calls/",
        "compare": f"{base}runs/compare/?{both}",
        "compare scales": f"{base}runs/compare/?{both}&run={runs[2].pk}",
        "choose": f"{base}runs/compare/?run={runs[0].pk}",
        "too many": f"{base}runs/compare/?{'&'.join(f'run={run.pk}' for run in [*runs, *extra(runs)])}",
    }


def extra(runs: list[Run]) -> list[Run]:
    return [finished_run(runs[0].project, ["5"], candidates=["x"]) for _ in range(6 - len(runs))]


@pytest.fixture
def opened(browser, site, as_owner):
    """Opens a page of its own, signed in as the project's owner."""
    contexts = []

    def open_page(**options) -> Page:
        context = browser.new_context(base_url=site, **options)
        contexts.append(context)
        context.add_cookies(
            [{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}]
        )
        page = context.new_page()
        page.set_default_timeout(30_000)
        return page

    yield open_page
    for context in contexts:
        context.close()


def test_axe_has_nothing_against_them_and_none_is_wider_than_its_window(opened, runs):
    # axe is injected as a script of its own, which the pages' policy rightly forbids.
    page = opened(bypass_csp=True, viewport={"width": 1280, "height": 900})
    found = {}
    for name, address in addresses(runs).items():
        page.goto(address)
        page.evaluate("document.querySelectorAll('main details').forEach(fold => { fold.open = true })")
        found[name] = at_both_widths(page)
    assert {name: told for name, told in found.items() if told} == {}


def test_they_read_without_script(opened, runs):
    page = opened(java_script_enabled=False)
    words = {
        "home": "Write the deployment guide",
        "list": "Write the deployment guide",
        "filtered list": "PASS",
        "empty list": "No run",
        "launch": "New run",
        "again, but": f"run {runs[0].pk}",
        "run": "Stopped after round 3",
        "round": "in a container",
        "diff": "four variables, listed below",
        "calls": "judge:1b",
        "compare": "scored highest: 9.10",
        "compare scales": "as a share of its own scale",
        "choose": "One run is selected",
        "too many": "6 runs are selected",
    }
    for name, address in addresses(runs).items():
        page.goto(address)
        expect(page.locator("main"), name).to_contain_text(words[name])


def test_forms_are_sent_without_script(opened, runs):
    page = opened(java_script_enabled=False)
    page.goto(f"/p/alpha/runs/compare/?run={runs[0].pk}")
    page.locator(f"input[value='{runs[1].pk}']").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("heading", level=1).first).to_have_text("Compare 2 runs")
    page.locator("#diff-a").select_option(str(runs[1].pk))
    page.locator("#diff-b").select_option(str(runs[0].pk))
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("columnheader", name=f"Run {runs[1].pk}, round 2").last).to_be_visible()


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until the focus is on such an element, as somebody without a mouse does."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached with the keyboard")


def test_from_the_list_to_a_difference_by_keyboard_alone(opened, runs):
    page = opened(viewport={"width": 1280, "height": 900})
    run = f"/p/alpha/runs/{runs[0].pk}/"
    page.goto("/p/alpha/runs/")
    tab_to(page, f"a[href='{run}']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{run}")
    tab_to(page, f"#run-rounds a[href='{run}rounds/2/']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{run}rounds/2/")
    tab_to(page, f"a[href='{run}rounds/2/?view=changes']")
    page.keyboard.press("Enter")
    expect(page.locator("#round-text ins").first).to_be_visible()


def test_a_comparison_by_keyboard_alone(opened, runs):
    page = opened(viewport={"width": 1280, "height": 900})
    page.goto(f"/p/alpha/runs/compare/?run={runs[0].pk}")
    tab_to(page, f"input[value='{runs[1].pk}']")
    page.keyboard.press("Space")
    tab_to(page, "main button[type=submit]")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1).first).to_have_text("Compare 2 runs")
    tab_to(page, "#diff-a")
    page.keyboard.press("ArrowDown")
    tab_to(page, "#compare-diff button")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Choose two different runs.")).to_be_visible()
    page.go_back()
    expect(page.locator("#compare-diff ins").first).to_be_visible()
