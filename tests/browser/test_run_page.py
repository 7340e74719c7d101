"""A run's page in a browser: rounds, chart, comparison and actions, by mouse and keyboard."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from refinement.models import Event, Run
from refinement.services.reviews.human_scores import Reading, human_score_give
from tests.browser.test_accessibility import at_both_widths
from tests.views.rubrics.given import HOSTILE
from tests.views.runs.board_guide import board_rows
from tests.views.runs.finished import finished_run
from tests.views.runs.guide import guide_run
from tests.views.runs.staged import ollama_server, stage

__all__ = ["ollama_server", "stage"]


@pytest.fixture
def run(site, stage):
    return guide_run(stage)


@pytest.fixture
def home(run):
    return f"/p/{run.project.slug}/runs/{run.pk}/"


def test_rounds_are_loaded_on_demand_and_back_goes_back(signed_in, home):
    signed_in.goto(home)
    expect(signed_in.get_by_role("heading", name="Round 2")).to_be_visible()
    strip = signed_in.get_by_role("navigation", name="Rounds")
    strip.get_by_role("link").nth(2).click()
    expect(signed_in.get_by_role("heading", name="Upgrade and roll back")).to_be_visible()
    expect(signed_in).to_have_url(f"{signed_in.url.split('/p/')[0]}{home}rounds/3/")
    expect(strip.locator("[aria-current]")).to_contain_text("Round 3")
    signed_in.go_back()
    expect(signed_in.get_by_role("heading", name="Round 2")).to_be_visible()
    signed_in.get_by_role("link", name="Changes from round 1").click()
    expect(signed_in.locator("#round-text ins").first).to_be_visible()
    strip.get_by_role("link").nth(2).click()  # the view stays when another round is opened
    expect(signed_in).to_have_url(re.compile(r"/rounds/3/\?view=changes$"))
    strip.get_by_role("link").nth(0).click()  # which has no changes to show
    expect(signed_in.locator("#round-text .prose")).to_be_visible()
    strip.get_by_role("link").nth(1).click()
    expect(signed_in.locator("#round-text ins").first).to_be_visible()


def test_what_was_clicked_last_is_shown_whatever_comes_first(signed_in, home):
    held = []
    signed_in.goto(home)
    signed_in.route("**/rounds/3/", lambda route: held.append(route))
    signed_in.get_by_role("navigation", name="Rounds").get_by_role("link").nth(2).click()
    signed_in.get_by_role("link", name=re.compile("^Calls")).click()
    shown = signed_in.locator("#round-text")
    expect(shown.get_by_role("link", name=re.compile("^Calls"))).to_have_attribute("aria-current", "true")
    for route in held:
        route.continue_()
    signed_in.unroute("**/rounds/3/")
    # A request that is asked for after it proves that the held one would have come by now.
    signed_in.evaluate("() => fetch(location.href).then((answer) => answer.text())")
    expect(signed_in.get_by_role("heading", name="Round 2")).to_be_visible()
    expect(shown.get_by_role("link", name=re.compile("^Calls"))).to_have_attribute("aria-current", "true")


def something_happens(run):
    """An open page hears of it and asks for the page again."""
    Event.objects.create(run=run, kind="commented", actor="Edgar", data={})


def test_who_looks_at_a_difference_is_not_taken_back_by_what_is_new(signed_in, home, run):
    signed_in.goto(f"{home}rounds/2/")
    difference = signed_in.locator("#round-text").get_by_role("link", name="Changes from round 1")
    difference.click()
    expect(difference).to_have_attribute("aria-current", "true")
    with signed_in.expect_response(re.compile("part=page")):
        something_happens(run)
    expect(signed_in.locator("#run-page.htmx-swapping, #run-page.htmx-request")).to_have_count(0)
    expect(difference).to_have_attribute("aria-current", "true")
    signed_in.get_by_role("link", name="Text", exact=True).click()
    expect(signed_in.locator("#round-text ins")).to_have_count(0)
    signed_in.evaluate("() => { document.getElementById('round').dataset.before = 'yes'; }")
    something_happens(run)
    expect(signed_in.locator("#round[data-before]")).to_have_count(0)  # who reads the text gets what is new


def test_what_is_asked_for_is_not_lost_to_what_is_new(signed_in, home, run):
    held = []
    signed_in.goto(f"{home}rounds/2/")
    signed_in.route("**/?view=changes", lambda route: held.append(route))
    difference = signed_in.locator("#round-text").get_by_role("link", name="Changes from round 1")
    difference.click()
    with signed_in.expect_response(re.compile("part=page")):
        something_happens(run)
    signed_in.evaluate("() => fetch(location.href).then((answer) => answer.text())")
    for route in held:
        route.continue_()
    expect(difference).to_have_attribute("aria-current", "true")


def test_compare_two_rounds_in_place_and_side_by_side(signed_in, home):
    signed_in.goto(home)
    signed_in.get_by_role("link", name="Changes from round 1").click()
    expect(signed_in.locator("#round-text ins").first).to_be_visible()
    expect(signed_in.get_by_text("moved here")).to_be_visible()
    signed_in.get_by_role("link", name="Side by side").click()
    expect(signed_in.get_by_role("columnheader", name="Round 1")).to_be_visible()
    signed_in.get_by_label("Compare with").select_option("3")
    expect(signed_in.get_by_role("columnheader", name="Round 3")).to_be_visible()


def test_what_is_chosen_the_moment_a_comparison_appears_is_not_lost(signed_in, home):
    """htmx would listen to what it swapped in only 20 ms after that is there to be used."""
    signed_in.goto(home)
    signed_in.evaluate(
        """() => new MutationObserver((_, watch) => {
            const from = document.querySelector("#diff-from");
            if (!from) return;
            watch.disconnect();
            from.value = "3";
            from.dispatchEvent(new Event("change", { bubbles: true }));
        }).observe(document.body, { childList: true, subtree: true })"""
    )
    signed_in.get_by_role("link", name="Changes from round 1").click()
    expect(signed_in.get_by_text("This compares with a later round")).to_be_visible()


def test_a_line_of_the_chart_can_be_hidden_and_values_are_told(signed_in, home):
    signed_in.goto(home)
    line = signed_in.locator(".chart-wide .chart-line.chart-series-1")
    expect(line).to_be_visible()
    signed_in.locator("#chart-lines > summary").click()
    signed_in.get_by_role("checkbox", name="Depth").uncheck()
    expect(line).to_be_hidden()
    signed_in.locator(".chart-wide .chart-column").nth(2).focus()
    expect(signed_in.locator("[data-chart-readout]")).to_contain_text("Round 3: Score 8.30")
    signed_in.keyboard.press("Enter")
    expect(signed_in).to_have_url(f"{signed_in.url.split('/p/')[0]}{home}rounds/3/")


def test_signs_on_the_chart_can_be_seen(signed_in, home):
    signed_in.goto(home)
    for kind in ("penalty", "signal"):
        sign = signed_in.locator(f".chart-wide .chart-mark-{kind} text").first
        # In the card's own colour around it, a sign of a few pixels is gone.
        assert sign.evaluate("sign => getComputedStyle(sign).stroke") == "none"
        assert sign.evaluate("sign => getComputedStyle(sign).fill") != "rgb(255, 255, 255)"


def test_the_chart_can_be_kept_as_a_picture(signed_in, home, tmp_path):
    signed_in.goto(home)
    for name, start in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        if not signed_in.locator("#chart-table[open]").count():
            signed_in.locator("#chart-table > summary").click()
        with signed_in.expect_download() as waiting:
            signed_in.get_by_role("link", name=name, exact=True).click()
        kept = tmp_path / name
        waiting.value.save_as(kept)
        assert kept.read_bytes().startswith(start)
        assert kept.stat().st_size > 2000


def test_what_was_said_opens_in_place(signed_in, home):
    signed_in.goto(home)
    signed_in.get_by_role("link", name=re.compile("^Calls")).first.click()
    signed_in.get_by_role("link", name="Messages and reply in full").last.click()
    expect(signed_in.get_by_text("All of it as plain text")).to_be_visible()
    expect(signed_in.get_by_role("heading", name="System")).to_be_visible()


def test_actions_by_keyboard(signed_in, home, run):
    signed_in.goto(home)
    signed_in.locator("#run-menu > summary").press("Enter")
    rounds = signed_in.get_by_label("More rounds")
    rounds.fill("many")
    rounds.press("Enter")
    expect(signed_in.get_by_text("Enter the number of rounds")).to_be_visible()
    expect(signed_in.get_by_label("More rounds")).to_have_value("many")
    signed_in.get_by_label("More rounds").fill("2")
    signed_in.get_by_label("More rounds").press("Enter")
    expect(signed_in.get_by_role("status").first).to_contain_text("2 more rounds")
    expect(signed_in.locator("#live-bar")).to_contain_text("elapsed")
    signed_in.get_by_role("button", name=re.compile("^Pause")).first.press("Enter")
    expect(signed_in.get_by_role("button", name="Resume")).to_be_visible()
    expect(signed_in.locator("#live-bar")).not_to_contain_text("elapsed")
    assert Run.objects.get(pk=run.pk).status == "paused"


def test_it_reads_and_works_without_script(browser, site, owner, as_owner, run, home):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(home)
    page.get_by_role("navigation", name="Rounds").get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Round 1")).to_be_visible()
    page.locator("#chart-table > summary").click()
    expect(page.get_by_role("table").first).to_contain_text("8.60")
    page.locator("#chart-table > summary").click()
    page.locator("#run-more > summary").click()
    page.get_by_role("button", name="Archive").click()
    expect(page.get_by_role("status").first).to_contain_text("Run archived.")
    context.close()


def test_the_answer_fits_in_one_and_a_half_screens(signed_in, site, project, owner, editor):
    text = "\n\n".join(f"## Step {n}\n\n{'Check the queue, then restart it. ' * 6}" for n in range(1, 9))
    texts = [text + "!" * number for number in range(5)]
    run = finished_run(project, ["4.67", "6.25", "7.79", "7", "8"], candidates=texts)
    keys = [entry["key"] for entry in run.snapshot["criteria"]]
    said = Reading(dict.fromkeys(keys, Decimal(4)), {}, "")
    human_score_give(run=run, row=run.rounds.get(number=5), user=editor, submitted=said, seen_version=0)
    signed_in.set_viewport_size({"width": 1440, "height": 900})
    for made in (run, board_rows(project)):
        signed_in.goto(f"/p/{project.slug}/runs/{made.pk}/")
        assert signed_in.evaluate("document.documentElement.scrollHeight") <= 1600
        expect(signed_in.get_by_role("link", name="Copy result")).to_be_in_viewport()
        expect(signed_in.locator(".verdict")).to_be_in_viewport()


def test_the_result_is_copied(signed_in, home):
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.goto(home)
    signed_in.get_by_role("link", name="Copy result").click()
    expect(signed_in.get_by_role("link", name="Copied")).to_be_visible()
    assert "without it the service starts" in signed_in.evaluate("() => navigator.clipboard.readText()")


def test_nothing_serious_for_axe_and_nothing_too_wide(signed_in, home, project):
    hostile = finished_run(
        project,
        ["5", "6"],
        candidates=[f"{HOSTILE} {'x' * 3000}", HOSTILE],
        said=HOSTILE,
        task=f"{HOSTILE}{'y' * 400}",
    )
    other = f"/p/{project.slug}/runs/{hostile.pk}/"
    for address in (
        home,
        f"{home}rounds/2/?view=raw",
        f"{home}diff/?a=1&b=2",
        f"{home}diff/?a=1&b=2&view=sides",
        f"{home}calls/?round=2",
        other,
        f"{other}rounds/1/?view=raw",
        f"{other}diff/",
    ):
        signed_in.goto(address)
        assert at_both_widths(signed_in) == [], address


def test_no_request_leaves_the_page(signed_in, site, project, stage):
    text = f"{HOSTILE}\n\n![x](http://example.org/x.png) <img src=http://example.org/y.png>\n"
    run = finished_run(project, ["5", "6"], candidates=[text, text + "more"], said=text, task=text)
    asked = []
    signed_in.on("request", lambda request: asked.append(request.url))
    for rest in ("", "rounds/1/?view=raw", "diff/", "calls/"):
        signed_in.goto(f"/p/{project.slug}/runs/{run.pk}/{rest}")
        signed_in.wait_for_load_state("networkidle")
    assert asked
    assert [url for url in asked if not url.startswith((site, "data:"))] == []


def test_of_two_hundred_rounds_of_a_hundred_kilobytes_one_is_sent(signed_in, site, project):
    text = ("A sentence of some words that is neither short nor long. " * 5 + "\n\n") * 350
    assert len(text) > 95_000
    large = finished_run(project, [str(n % 90 / 10) for n in range(200)], candidates=[text] * 200)
    page = signed_in.goto(f"/p/{project.slug}/runs/{large.pk}/")
    expect(signed_in.get_by_role("navigation", name="Rounds").get_by_role("link")).to_have_count(200)
    assert len(page.body()) < 5 * len(text)  # with 200 rounds beside it
