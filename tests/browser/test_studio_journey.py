"""All rubric pages in one session, by links only."""

from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from refinement.execution.trials.advancing import trial_advance
from refinement.models import Bench, Membership, Rubric, RubricVersion
from refinement.selectors.launch.available_models import offers
from refinement.selectors.rubrics.definitions import definition_of
from tests.execution.lifecycle.given import worker_threads
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import Table
from tests.loopback.replies import valid_replies

__all__ = ["ollama_server", "table"]

CANDIDATE = "# Queue grows\n\nOwner: platform\n\n1. Restart a worker. You expect the line to fall."


@pytest.fixture(autouse=True)
def _nothing_remembered():
    offers.forget()
    yield
    offers.forget()


@pytest.fixture
def both_projects(owner, other_project):
    """The owner of the first project may edit the other one too."""
    Membership.objects.create(project=other_project, user=owner, role="editor")


def version(number: int, project: str = "alpha") -> RubricVersion:
    return RubricVersion.objects.get(rubric__slug="runbooks", rubric__project__slug=project, number=number)


def tab(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Rubric").get_by_role("link", name=name).click()


def saved(page: Page, number: int) -> None:
    page.get_by_role("button", name="Save as version").click()
    expect(page.get_by_text(f"Version {number} saved.")).to_be_visible()


def test_from_the_gallery_to_another_project(signed_in: Page, both_projects, table: Table, tmp_path):
    page = signed_in
    a_rubric_is_made_from_the_gallery(page)
    every_kind_of_field_is_edited(page)
    criteria_and_rules_are_moved_by_keyboard(page)
    page.fill("#note", "Runbooks, not essays.")
    saved(page, 2)
    what_was_saved()
    the_difference_is_shown(page)
    the_first_version_is_restored(page)
    nothing_is_sent_by_a_preview(page, table)
    results_come_in_while_one_looks(page, table)
    a_file_goes_to_the_other_project(page, tmp_path)


def a_rubric_is_made_from_the_gallery(page: Page) -> None:
    page.goto("/p/alpha/")
    page.get_by_role("navigation").get_by_role("link", name="Rubrics").first.click()
    page.get_by_role("link", name="New rubric").click()
    page.get_by_role("radio", name="Wiggum").check()
    page.get_by_role("radio", name="Specification").check()
    page.get_by_role("textbox", name="Name").fill("Runbooks")
    page.get_by_role("button", name="Create rubric").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Runbooks")
    assert version(1).artifact_type == "specification"


def every_kind_of_field_is_edited(page: Page) -> None:
    """A name, a text, a number, a whole number, a choice, a switch, rows, a table, a template."""
    page.fill("#purpose", "Pages for people on call.")
    page.get_by_role("button", name="Expand all").click()
    page.fill("#artifact_type", "runbook")
    criteria_are_edited(page)
    checks_are_edited(page)
    page.fill("#scale-maximum", "100")
    page.fill("#policy-pass_threshold", "80")
    page.select_option("#policy-composite", "plain_mean")
    page.check("#policy-checks_in_composite")
    page.fill("#policy-max_rounds", "5")
    page.select_option("#policy-next_base", "original")
    page.select_option("#policy-feedback", "failures")
    page.check("#stop-plateau-on")
    page.fill("#policy-judge_limit_chars", "9000")
    page.fill("#policy-producer_temperature", "0.3")
    page.fill("#policy-budget-calls", "20")
    page.fill("#policy-penalties-cap", "3")
    page.fill("#policy-penalties-allowed_objects", "queue, shell")
    page.select_option("#docked", label="Calm under pressure")
    page.select_option("#problem_class", "pipeline")
    page.select_option("#evaluation_mode", "hybrid")
    page.check("#context-judge-history")
    expect(page.locator("[data-departures] li")).to_have_count(1)
    for name in ("background", "output_contract", "search_space"):
        page.fill(f"#{name}", f"Our {name}.")
    page.locator("#template-feedback-default").uncheck()
    page.fill("#template-feedback", "Put right: {{ asi }}")


def criteria_are_edited(page: Page) -> None:
    page.fill("#criterion-0-weight", "10")
    page.fill("#criterion-1-ideal", "Nothing that does not help tonight.")
    page.locator("#criterion-5 [data-more]").click()
    page.get_by_role("button", name="Remove: Structure").click()
    page.get_by_role("button", name="Add criterion").click()
    page.keyboard.type("Calm under pressure")
    page.fill("#criterion-6-description", "Can a tired person follow it?")
    page.locator("#criterion-6 [data-more]").click()
    page.locator("#criterion-6").get_by_label("Primary").check()


def checks_are_edited(page: Page) -> None:
    page.select_option("#add-kind", "regex")
    page.get_by_role("button", name="Add check").click()
    page.keyboard.type("Has owner")
    page.fill("#check-1-p-pattern", "^Owner: .+")
    page.fill("#check-1-p-flags", "m")
    page.fill("#check-1-suggestion", "Name who owns it.")
    page.select_option("#add-kind", "length")
    page.get_by_role("button", name="Add check").click()
    page.keyboard.type("One screen")
    page.select_option("#check-2-severity", "warning")
    page.select_option("#check-2-p-unit", "words")
    page.fill("#check-2-p-maximum", "300")
    page.get_by_text("Try the checks on a text").click()
    page.fill("#try-text", CANDIDATE)
    page.get_by_role("button", name="Try all checks").click()
    expect(page.locator("[data-try-box] .chip-ok")).to_have_count(3)


def criteria_and_rules_are_moved_by_keyboard(page: Page) -> None:
    """The new criterion to the first place with a button, the plateau rule to the first with the arrows."""
    page.locator("#criterion-6 [data-more]").click()
    up = page.get_by_role("button", name="Move up: Calm under pressure")
    up.focus()
    for place in range(5, 0, -1):
        page.keyboard.press("Enter")
        said = f"Calm under pressure moved to place {place} of 6."
        expect(page.locator("[data-announce]")).to_have_text(said)
    page.locator("#stop-plateau-on").focus()
    for _ in range(8):
        page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("[data-rows='stop'] > li").first).to_have_attribute("id", "stop-plateau")


def what_was_saved() -> None:
    rubric = definition_of(version(2))
    keys = [criterion.key for criterion in rubric.criteria]
    policy = rubric.policy
    assert keys[0] == "calm-under-pressure"
    assert rubric.criteria[0].primary
    assert "structure" not in keys
    assert next(entry.weight for entry in rubric.criteria if entry.key == "depth") == Decimal("0.5")
    assert [(check.key, check.kind, check.severity) for check in rubric.checks] == [
        ("starts-with-heading", "regex", "error"),
        ("has-owner", "regex", "error"),
        ("one-screen", "length", "warning"),
    ]
    assert (policy.pass_threshold, policy.max_rounds, policy.composite) == (80, 5, "plain_mean")
    assert (policy.next_base, policy.feedback, policy.budget.calls) == ("original", "failures", 20)
    assert policy.stop_rules[0] == "plateau"
    assert policy.penalties.criterion == "calm-under-pressure"
    assert policy.penalties.allowed_objects == ("queue", "shell")
    assert (rubric.problem_class, rubric.evaluation_mode) == ("pipeline", "hybrid")
    assert "history" in rubric.context.judge
    assert (rubric.artifact_type, rubric.search_space) == ("runbook", "Our search_space.")
    assert rubric.templates == {"feedback": "Put right: {{ asi }}"}
    assert version(2).note == "Runbooks, not essays."


def the_difference_is_shown(page: Page) -> None:
    page.get_by_role("link", name="What changed").click()
    comparison = page.locator("#comparison")
    expect(comparison.locator("ins").first).to_contain_text("Pages for people on call.")
    for words in ("calm-under-pressure", "has-owner", "one-screen", "Our background.", "Put right"):
        expect(comparison).to_contain_text(words)


def the_first_version_is_restored(page: Page) -> None:
    tab(page, "Versions")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_role("status")).to_contain_text("Version 1 restored as version 3.")
    assert definition_of(version(3)) == definition_of(version(1))


def nothing_is_sent_by_a_preview(page: Page, table: Table) -> None:
    tab(page, "Preview")
    page.get_by_role("textbox", name="Text", exact=True).fill(CANDIDATE)
    page.get_by_role("button", name="Preview").click()
    message = page.get_by_role("region", name="User message").first
    expect(message).to_contain_text("You expect the line to fall.")
    expect(page.locator("#judge")).to_contain_text("hidden")
    assert table.server.chats == []


def results_come_in_while_one_looks(page: Page, table: Table) -> None:
    """One trial ends, then the others: the page follows by itself."""
    table.server.replies = valid_replies()
    tab(page, "Test bench")
    page.get_by_label("Paste text").check()
    page.get_by_label("Pasted text", exact=True).fill(CANDIDATE)
    page.get_by_label("Judge", exact=True).select_option("ollama/loopback:8b")
    page.get_by_label("Trials").fill("3")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("0 of 3 trials have ended.")).to_be_visible()
    address = page.url
    trial_advance(Bench.objects.get().trials.get(number=2).pk)
    expect(page.get_by_text("1 of 3 trials has ended.")).to_be_visible()
    with worker_threads(1):
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    assert page.url == address
    expect(page.locator("svg.plot")).to_have_count(7)
    bench = Bench.objects.get()
    assert (bench.status, bench.rubric_version.number) == ("finished", 3)


def a_file_goes_to_the_other_project(page: Page, tmp_path) -> None:
    tab(page, "Versions")
    page.get_by_role("link", name="Version 2", exact=True).click()
    page.get_by_text("More", exact=True).click()
    with page.expect_download() as started:
        page.get_by_role("link", name="Export version 2").click()
    file = tmp_path / started.value.suggested_filename
    started.value.save_as(file)
    page.locator("summary", has_text="Alpha").click()
    page.get_by_role("link", name="Beta").click()
    page.get_by_role("navigation").get_by_role("link", name="Rubrics").first.click()
    page.get_by_role("link", name="Import").click()
    page.locator("#id_file").set_input_files(file)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Runbooks")
    assert Rubric.objects.filter(project__slug="beta").count() == 1
    assert definition_of(version(1, "beta")) == definition_of(version(2))
