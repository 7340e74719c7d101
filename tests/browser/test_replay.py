"""Replaying a draft in a browser: from the rubric editor to the result and the saved version."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from refinement.models import HumanScore, Measurement, Round, RubricVersion
from refinement.selectors.launch.available_models import offers
from refinement.services.trust.judges import judge_ensure
from tests.browser.test_accessibility import inspect
from tests.execution.lifecycle.given import worker_threads
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import JUDGE, Table
from tests.services.trust.measurements.replaying import a_judged_run

__all__ = ["inspect", "ollama_server", "table"]

BEFORE = [9.4, 9.1, 9.2, 8.7, 7.0, 6.2, 8.8, 5.5, 7.4, 9.6]
AFTER = [7.5, 8.9, 9.2, 9.1, 6.6, 6.2, 8.0, 5.0, 7.4, 9.3]


@pytest.fixture(autouse=True)
def _nothing_remembered():
    offers.forget()
    yield
    offers.forget()


@pytest.fixture
def stored(table: Table, editor) -> Table:
    """Ten judged rounds in five runs, some scored by people, and a judge whose noise is known."""
    for at in range(0, len(BEFORE), 2):
        a_judged_run(table, *BEFORE[at : at + 2], title=f"Release notes 2.{at}")
    record = judge_ensure(project=table.project, version=table.version, model=JUDGE.model)
    record.smallest_difference, record.criteria_differences = 0.5, {"depth": 0.6}
    record.save()
    for row, score in zip(Round.objects.order_by("pk")[:4], (6, 9, 9, 7), strict=True):
        said = [{"key": key, "score": str(score), "reason": ""} for key in row.scores]
        HumanScore.objects.create(
            run=row.run, round=row, author=editor, author_name="Ed", scores=said, composite=score
        )
    return table


def start_while_the_quote_is_updated(page: Page, button: Locator) -> None:
    """Clicks while a field is edited; the form's POST is held back until the quote has been asked for."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        is_form = route.request.method == "POST" and "hx-request" not in route.request.headers
        held.append(route) if is_form else route.continue_()

    page.route("**/measurements/replay/**", hold)
    with page.expect_request(lambda request: "hx-request" in request.headers) as quoted:
        button.click(no_wait_after=True)
    assert "act=" not in quoted.value.post_data
    assert [route.request.post_data.count("act=start") for route in held] == [1]
    held[0].continue_()


def test_a_draft_is_replayed_from_the_editor_and_saved(signed_in: Page, stored: Table, inspect, as_owner):
    session = as_owner.cookies["sessionid"].value
    signed_in.goto("/p/alpha/rubrics/guides/edit/")
    description = signed_in.locator("#criterion-1 textarea").first
    if not description.is_visible():
        signed_in.get_by_role("button", name="Expand all").click()
    description.fill("Every claim is supported by the source that it cites.")
    signed_in.get_by_role("button", name="Replay draft").click()
    expect(signed_in.get_by_role("heading", name="Replay", exact=False).first).to_be_visible()
    quote = signed_in.locator("#measure-quote")
    expect(quote.get_by_role("button", name="Run replay: 10 calls")).to_be_visible()
    signed_in.get_by_label("Order").select_option("newest")
    signed_in.get_by_label("Rounds at most").fill("4")
    signed_in.get_by_label("Rounds at most").blur()
    expect(quote.get_by_role("button", name="Run replay: 4 calls")).to_be_visible()
    signed_in.get_by_label("Rounds at most").fill("60")
    start_while_the_quote_is_updated(signed_in, quote.get_by_role("button", name="Run replay: 4 calls"))
    expect(signed_in.get_by_text("0 of 10 judgements.")).to_be_visible()
    measurement = Measurement.objects.get()
    assert measurement.is_draft
    by_round = dict(zip(Round.objects.order_by("pk").values_list("pk", flat=True), AFTER, strict=True))
    order = measurement.items.order_by("position").values_list("round", flat=True)
    stored.says(*[by_round[pk] for pk in order])
    with worker_threads(1):
        expect(signed_in.get_by_text("flips 3 of 10 verdicts", exact=False).first).to_be_visible()
    answer = signed_in.locator(".measure-answer")
    expect(answer).to_contain_text("2 from PASS to FAIL, 1 from FAIL to PASS.")
    expect(answer).to_contain_text("2 of them are within noise.")
    expect(signed_in.locator(".mover-list > li")).to_have_count(3)
    expect(signed_in.get_by_text("wording changed")).to_have_count(1)
    signed_in.get_by_role("link", name="All 10").click()
    expect(signed_in.locator(".mover-list > li")).to_have_count(10)
    address = f"/p/alpha/measurements/{measurement.pk}/"
    assert inspect(address, session) == []
    assert inspect("/p/alpha/measurements/", session) == []
    assert inspect("/p/alpha/measurements/replay/?rubric=guides", session) == []
    assert inspect("/p/alpha/measurements/retest/?rubric=guides", session) == []
    assert inspect("/p/alpha/measurements/planted/?rubric=guides", session) == []
    signed_in.get_by_role("button", name="Save as v2").click()
    expect(signed_in.get_by_text("Version 2 saved.")).to_be_visible()
    assert RubricVersion.objects.filter(rubric__slug="guides").count() == 2
