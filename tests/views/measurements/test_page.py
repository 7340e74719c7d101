"""A measurement's page: progress, actions, a replay's results, and who may not see them."""

import pytest
from django.urls import reverse
from django.utils import timezone

from refinement.engine.codec import rubric_to_json, rubric_with
from refinement.execution.reports import report_advance
from refinement.models import BenchTrial, BlindReading, JudgeRecord, Measurement, Report, RubricVersion
from refinement.services.rubrics.editing import version_create
from refinement.services.trust.measurements.dealing import measurement_advance
from tests.execution.trials.given import Table, definition
from tests.services.trust.measurements.given import a_measurement, carried_out
from tests.services.trust.measurements.replaying import a_judged_run, a_replay

pytestmark = pytest.mark.django_db


def page_of(measurement: Measurement, **query: str) -> str:
    return reverse("measurement_page", args=["alpha", measurement.pk], query=query)


def act(client, measurement, action, **data):
    address = reverse("measurement_action", args=["alpha", measurement.pk, action])
    return client.post(address, data, follow=True).content.decode()


def results_of(measurement: Measurement) -> Measurement:
    """As a worker computes them."""
    for report in Report.objects.filter(kind__in=["replay", "trust"]):
        report_advance(report.pk)
    return measurement


@pytest.fixture
def replayed(table: Table) -> Measurement:
    run = a_judged_run(table, 9.5, 9, 8, title="Release notes")
    table.says(8, 9.2, 8)
    draft = rubric_to_json(rubric_with(definition(), {"policy.composite_decimals": "1"}))
    return results_of(carried_out(a_replay(table, run, definition=draft)))


def test_while_it_runs_the_page_polls_and_says_how_far_it_is(as_viewer, table: Table):
    measurement = a_measurement(table, "One.", "Two.")
    page = as_viewer.get(page_of(measurement)).content.decode()
    assert "0 of 2 judgements." in page
    assert 'hx-trigger="every 1s"' in page
    polled = as_viewer.get(page_of(measurement), headers={"HX-Request": "true"})
    assert "<html" not in polled.content.decode()
    mark = polled.context["facts"].mark
    assert as_viewer.get(page_of(measurement, mark=mark), headers={"HX-Request": "true"}).status_code == 204


def test_waiting_judgements_are_not_failures(as_viewer, table: Table):
    measurement = a_measurement(table, "One.")
    measurement_advance(measurement.pk)
    place = {"waiting_for": "a free slot at ollama", "waiting_endpoint": "ollama"}
    BenchTrial.objects.update(status="waiting", next_try_at=timezone.now(), **place)
    page = as_viewer.get(page_of(measurement)).content.decode()
    assert "1 judgement for <bdi>a free slot at ollama</bdi>" in page
    assert "Without a score" not in page


def test_polling_stops_at_the_end(as_viewer, table: Table):
    table.says(7)
    measurement = carried_out(a_measurement(table, "One."))
    assert "Computing the results…" in as_viewer.get(page_of(measurement)).content.decode()
    results_of(measurement)
    answer = as_viewer.get(page_of(measurement), headers={"HX-Request": "true"})
    assert answer.status_code == 286
    assert "hx-trigger" not in answer.content.decode()


def test_a_finished_retest_says_which_differences_are_noise(as_viewer, table: Table):
    table.says(*(7, 8, 9) * 5)
    texts = ("One.", "Two.", "Three.", "Four.", "Five.")
    measurement = results_of(carried_out(a_measurement(table, *texts, repeats=3)))
    page = as_viewer.get(page_of(measurement)).content.decode()
    assert "Composite differences under 2.8 points" in page
    assert page.count("7.00 · 8.00 · 9.00") == 5
    assert page.count('<td class="number"><b>1.00</b></td>') == 5


def test_a_retest_of_too_little_says_so_and_gives_no_figure(as_viewer, table: Table):
    table.says(1, 10)
    measurement = results_of(carried_out(a_measurement(table, "One.", repeats=2)))
    page = as_viewer.get(page_of(measurement)).content.decode()
    assert "Not enough repeats to know its noise: 1 repeat of 1 text; it takes 10 repeats of at least" in page
    assert "points" not in page
    record = JudgeRecord.objects.get()
    assert (record.smallest_difference, record.criteria_differences) == (None, {})


def test_a_finished_replay_says_what_flipped(as_viewer, replayed):
    page = as_viewer.get(page_of(replayed)).content.decode()
    assert "v2 draft flips 1 of 3 verdicts: 1 from PASS to FAIL." in page
    assert "How much of that is noise is not known" in page
    assert page.count("Release notes") == 1  # the flip alone
    assert as_viewer.get(page_of(replayed, show="all")).content.decode().count("Release notes") == 3
    assert "style=" not in page


def test_texts_are_escaped(as_viewer, table: Table):
    run = a_judged_run(table, 9.5, title="<script>alert(1)</script>")
    table.says(8)
    page = as_viewer.get(page_of(results_of(carried_out(a_replay(table, run))))).content.decode()
    assert "<script>alert" not in page


def test_editors_pause_resume_and_stop_it(as_editor, table: Table):
    measurement = a_measurement(table, "One.")
    assert "Paused. Verdicts so far are kept." in act(as_editor, measurement, "pause")
    assert "This retest is paused; only a running one can be paused." in act(as_editor, measurement, "pause")
    assert "Resumed." in act(as_editor, measurement, "resume")
    assert "it is kept" not in act(as_editor, measurement, "delete")
    assert Measurement.objects.exists()
    assert "Stopped." in act(as_editor, measurement, "stop")
    assert "deleted" in act(as_editor, measurement, "delete")
    assert not Measurement.objects.exists()


def test_a_budget_is_raised_to_resume(as_editor, table: Table):
    measurement = a_measurement(table, "One.", token_budget=5)
    act(as_editor, measurement, "pause")
    act(as_editor, measurement, "resume", token_budget="0")
    measurement.refresh_from_db()
    assert (measurement.status, measurement.token_budget) == ("paused", 5)
    assert "Resumed." in act(as_editor, measurement, "resume", token_budget="9,000")
    measurement.refresh_from_db()
    assert measurement.token_budget == 9_000


def test_an_unknown_action_is_not_found(as_editor, table: Table):
    address = reverse("measurement_action", args=["alpha", a_measurement(table, "One.").pk, "explode"])
    assert as_editor.post(address).status_code == 404


def test_the_draft_is_saved_as_the_next_version(as_editor, replayed):
    address = reverse("measurement_save_draft", args=["alpha", replayed.pk])
    assert "Version 2 saved." in as_editor.post(address, follow=True).content.decode()
    version = RubricVersion.objects.get(rubric__slug="guides", number=2)
    assert version.policy["composite_decimals"] == 1
    assert f"replay {replayed.pk}" in version.note
    assert "already saved as version 2" in as_editor.post(address, follow=True).content.decode()


def test_a_newer_version_is_not_overwritten(as_editor, replayed, table: Table):
    version_create(
        rubric=table.version.rubric, definition=rubric_with(definition(), {"policy.max_rounds": "9"})
    )
    address = reverse("measurement_save_draft", args=["alpha", replayed.pk])
    page = as_editor.post(address, follow=True).content.decode()
    assert "Not saved: version 2 was saved after this draft was made." in page
    assert RubricVersion.objects.filter(rubric__slug="guides").count() == 2


def test_a_measurement_without_a_draft_has_none_to_save(as_editor, table: Table):
    address = reverse("measurement_save_draft", args=["alpha", a_measurement(table, "One.").pk])
    assert as_editor.post(address).status_code == 404


def test_who_scores_one_of_its_runs_blind_does_not_see_it(as_viewer, viewer, replayed):
    run = replayed.items.first().round.run
    BlindReading.objects.create(run=run, reader=viewer, round_number=1)
    answer = as_viewer.get(page_of(replayed))
    assert answer.status_code == 302
    assert f"/runs/{run.pk}/score/" in answer.url
    polled = as_viewer.get(page_of(replayed), headers={"HX-Request": "true"})
    assert "flips" not in polled.content.decode()


def test_another_projects_measurement_is_not_found(as_viewer, table: Table, other_project):
    measurement = a_measurement(table, "One.")
    Measurement.objects.update(project=other_project)
    assert as_viewer.get(page_of(measurement)).status_code == 404


def test_the_list_has_a_fixed_number_of_queries(as_viewer, table: Table, django_assert_max_num_queries):
    address = reverse("measurement_list", args=["alpha"])
    assert "No measurements yet" in as_viewer.get(address).content.decode()
    for _ in range(3):
        a_measurement(table, "One.", "Two.")
    with django_assert_max_num_queries(14):
        page = as_viewer.get(address).content.decode()
    assert page.count("0 of 2") == 3
    assert "0 of 2" not in as_viewer.get(address, {"kind": "replay"}).content.decode()
