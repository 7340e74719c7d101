"""The evaluator in the rubric editor: unsaved fields, run by a worker, while the page waits."""

import pytest
from playwright.sync_api import Page, expect

from tests.execution.lifecycle.given import worker_threads
from tests.sandboxed import needs_sandbox
from tests.views.rubrics.given import a_rubric


@pytest.fixture
def editor_page(signed_in: Page, project, settings) -> Page:
    needs_sandbox()
    settings.COMMANDS = ["/bin/sh"]
    a_rubric(project)
    signed_in.goto(f"/p/{project.slug}/rubrics/own/edit/")
    signed_in.locator("#evaluation > summary").click()
    signed_in.locator("#evaluation_mode").select_option("runnable")
    signed_in.locator("#evaluator-handover").select_option("stdin")
    signed_in.get_by_text("Try the evaluator on a text").click()
    return signed_in


def attempt(page: Page, command: str) -> None:
    page.locator("#evaluator-command").fill(command)
    page.locator("#evaluator-try-text").fill("my text")
    page.get_by_role("button", name="Try the evaluator").click()


def test_its_progress_and_result_come_in_by_themselves(editor_page: Page):
    attempt(editor_page, "/bin/sh -c 'echo halfway; sleep 3; cat; exit 3'")
    tried = editor_page.locator("#evaluator-tried")
    expect(tried.get_by_text("Queued. Starts when a worker is free.")).to_be_visible()
    with worker_threads(1):
        expect(tried.locator(".evaluator-line")).to_have_text("halfway")
        expect(tried.get_by_text("exit code 3")).to_be_visible(timeout=15_000)
    expect(tried.get_by_text("my text")).to_be_visible()
    assert editor_page.locator("#evaluator-command").input_value().startswith("/bin/sh")


def test_it_is_cancelled_from_the_editor(editor_page: Page):
    attempt(editor_page, "/bin/sh -c 'sleep 60'")
    with worker_threads(1):
        tried = editor_page.locator("#evaluator-tried")
        expect(tried.get_by_text("The command is running.")).to_be_visible(timeout=15_000)
        tried.get_by_role("button", name="Cancel").click()
        expect(tried.get_by_text("Cancelled.")).to_be_visible()
