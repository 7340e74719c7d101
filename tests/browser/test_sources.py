"""Sources in a browser: launch, read next to the text, and follow a quotation."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from refinement.judging.sources import SourceText
from refinement.models import Run
from tests.browser.test_accessibility import at_both_widths
from tests.browser.test_launch import A_RUN, NEW, fill, ollama_server, ready
from tests.views.runs.finished import finished_run

__all__ = ["ollama_server", "ready"]
NOTES = "Backups are made every night at 02:00.\n" + "They are kept for four weeks.\n" * 200
MAIL = SourceText("mail.md", "Restores take an hour, says Mara.\n" * 3)
SAID = 'It claims a day, but mail.md says "Restores take an hour, says Mara", not "a day or more, or so".'


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "notes.txt").write_text(NOTES)
    (tmp_path / "scan.pdf").write_bytes(b"%PDF-1.7\x00\xff")
    return [tmp_path / "notes.txt", tmp_path / "scan.pdf"]


@pytest.fixture
def run(project) -> Run:
    return finished_run(project, said=SAID, sources=[SourceText("notes.txt", NOTES), MAIL])


def sources(page: Page):
    return page.get_by_role("list", name="Sources").get_by_role("listitem")


def test_a_launch_with_a_file_and_a_pasted_text(signed_in: Page, ready, files):
    signed_in.goto(NEW)
    fill(signed_in)
    signed_in.get_by_label("Add files").set_input_files(files[0])
    expect(sources(signed_in)).to_have_count(1)
    expect(sources(signed_in).first).to_contain_text("notes.txt")
    expect(sources(signed_in).first).to_contain_text(f"{len(NOTES):,} characters")
    for name, text in (("mail.md", MAIL.text), ("wrong.md", "Not this one.")):
        signed_in.get_by_role("button", name="Paste a source").click()
        sources(signed_in).last.get_by_label("Name").fill(name)
        sources(signed_in).last.get_by_label("Text").fill(text)
        expect(sources(signed_in).last).to_contain_text(f"{len(text)} characters")
    sources(signed_in).last.get_by_label("Remove").click()
    expect(sources(signed_in)).to_have_count(2)
    expect(signed_in.get_by_text("Writer and judge are of the same family.")).to_be_visible()
    signed_in.get_by_role("button", name="Launch").last.click()
    signed_in.wait_for_url(A_RUN)
    kept = Run.objects.get().sources.values_list("name", "text")
    assert list(kept) == [("notes.txt", NOTES), ("mail.md", MAIL.text)]
    signed_in.locator("#run-task > summary").click()
    expect(signed_in.get_by_role("link", name="notes.txt")).to_be_visible()


def test_the_estimate_follows_the_sources(signed_in: Page, ready):
    signed_in.goto(NEW)
    fill(signed_in)
    expect(signed_in.get_by_text("Writer and judge are of the same family.")).to_be_visible()
    signed_in.get_by_role("button", name="Paste a source").click()
    sources(signed_in).last.get_by_label("Text").fill("word " * 13_000)
    expect(signed_in.get_by_text("Sources will be cut")).to_be_visible()
    sources(signed_in).last.get_by_label("Remove").click()
    expect(signed_in.get_by_text("Sources will be cut")).to_be_hidden()


def test_a_file_that_is_no_text_is_refused_at_its_field(signed_in: Page, ready, files):
    signed_in.goto(NEW)
    fill(signed_in)
    signed_in.get_by_label("Add files").set_input_files(files)
    expect(sources(signed_in)).to_have_count(1)  # the text; the other one stays chosen
    signed_in.get_by_role("button", name="Launch").last.click()
    expect(signed_in.get_by_text("scan.pdf is not UTF-8 text")).to_be_visible()
    expect(sources(signed_in).first).to_contain_text("notes.txt")
    assert not Run.objects.exists()


def test_it_works_without_script(browser, site, as_owner, ready, files):
    context = browser.new_context(base_url=site, java_script_enabled=False)
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(NEW)
    fill(page)
    page.get_by_label("Add files").set_input_files(files[0])
    page.get_by_role("button", name="Paste a source").click()
    expect(sources(page)).to_have_count(2)
    expect(sources(page).first).to_contain_text("notes.txt")
    sources(page).last.get_by_text("New source").click()
    sources(page).last.get_by_label("Text").fill(MAIL.text)
    page.get_by_role("button", name="Launch").last.click()  # the warnings were on the page already
    page.wait_for_url(A_RUN)
    page.locator("#run-task > summary").click()
    page.get_by_role("link", name="notes.txt").click()
    expect(page.get_by_role("heading", name="Source: notes.txt")).to_be_visible()
    expect(page.get_by_text("Backups are made every night at 02:00.")).to_be_visible()
    page.get_by_role("link", name="Source 2").click()
    expect(page.get_by_text("Restores take an hour, says Mara.").first).to_be_visible()
    context.close()


def test_a_quotation_opens_its_source_beside_the_candidate(signed_in: Page, run):
    signed_in.goto(f"/p/alpha/runs/{run.pk}/")
    pane = signed_in.locator("#source-open")
    expect(pane).to_be_hidden()
    signed_in.locator("#run-task > summary").click()
    signed_in.get_by_role("link", name="notes.txt").click()
    expect(pane.get_by_role("heading", name="Source: notes.txt")).to_be_visible()
    expect(signed_in).to_have_url(re.compile(rf"/runs/{run.pk}/$"))

    signed_in.locator(".asi").get_by_role("link", name="Restores take an hour, says Mara").click()
    expect(pane.get_by_role("heading", name="Source: mail.md")).to_be_visible()
    expect(pane.locator("mark")).to_have_text("Restores take an hour, says Mara")
    expect(pane.locator("mark")).to_be_in_viewport()
    expect(signed_in.get_by_role("link", name="a day or more")).to_have_count(0)

    # It stays open while another round is looked at.
    signed_in.locator(".round-card").first.click()
    expect(signed_in.locator("#round-head")).to_contain_text("Round 1")
    expect(pane.get_by_role("heading", name="Source: mail.md")).to_be_visible()


def test_nothing_serious_is_found(browser, site, as_owner, run):
    # axe is injected as a script of its own, which the pages' policy rightly forbids.
    context = browser.new_context(base_url=site, bypass_csp=True, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": "sessionid", "value": as_owner.cookies["sessionid"].value, "url": site}])
    page = context.new_page()
    page.goto(f"/p/alpha/runs/{run.pk}/")
    page.locator(".asi .quoted-source").click()
    expect(page.locator("#source-open mark")).to_be_visible()
    assert at_both_widths(page) == []
    page.goto(f"/p/alpha/runs/{run.pk}/sources/1/?start=0&end=38")
    assert at_both_widths(page) == []
    context.close()
