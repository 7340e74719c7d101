"""Starting judgements: a limited number, in order; lost and duplicate messages change nothing."""

from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from refinement.execution.trials.advancing import trial_advance
from refinement.models import BenchCall, ModelPrice, Project, QueuedMessage, Report
from refinement.selectors.projects.budgets import month_usage
from refinement.services.trust.measurements.dealing import measurement_advance, measurements_sweep
from tests.execution.trials.given import JUDGE, Table
from tests.services.trust.measurements.given import a_measurement, carried_out, started, statuses, trials_of

pytestmark = pytest.mark.django_db
TEXTS = [f"Text {number}." for number in range(1, 7)]


@pytest.fixture
def window(monkeypatch):
    def set_window(size: int) -> None:
        monkeypatch.setattr("refinement.services.trust.measurements.dealing.window_of", lambda row: size)

    set_window(2)
    return set_window


def test_judges_every_text_as_often_as_it_should(table: Table):
    table.says(*[7, 8] * 4)
    measurement = carried_out(a_measurement(table, "One.", "Two.", repeats=4))
    assert measurement.status == "finished"
    assert measurement.finished_at
    assert statuses(measurement) == {"done": 8}
    assert [trial.composite for trial in trials_of(measurement)[:2]] == [Decimal(7), Decimal(8)]
    assert all(item.bench.status == "finished" for item in measurement.items.all())


def test_starts_as_many_as_there_is_room_for(table: Table, window):
    table.says(*[7] * 6)
    measurement = a_measurement(table, *TEXTS)
    assert measurement_advance(measurement.pk) == 2
    assert measurement_advance(measurement.pk) == 0  # a message twice
    assert statuses(measurement) == {"queued": 2}
    QueuedMessage.objects.all().delete()
    trial_advance(trials_of(measurement)[0].pk)
    assert QueuedMessage.objects.filter(body__contains="advance_measurement").count() == 1
    assert measurement_advance(measurement.pk) == 1
    assert started(measurement) == 3
    assert [item.started for item in measurement.items.all()] == [True] * 3 + [False] * 3


def test_the_end_asks_for_the_judges_figures(table: Table):
    table.says(7)
    carried_out(a_measurement(table, "One."))
    assert [(row.kind, row.asked) for row in Report.objects.all()] == [("trust", 1)]


def test_a_replay_asks_for_its_results(table: Table):
    table.says(7)
    measurement = carried_out(a_measurement(table, "One.", kind="replay"))
    assert Report.objects.filter(kind="replay", subject=measurement.pk).exists()


def test_a_text_that_cannot_be_judged_fails_and_stops_no_other(table: Table):
    table.says("no", 8, "no", "no")
    measurement = carried_out(a_measurement(table, "One.", "Two."))
    assert measurement.status == "finished"
    assert statuses(measurement) == {"failed": 1, "done": 1}


def test_a_lost_message_is_sent_again(table: Table, window):
    table.says(*[7] * 6)
    measurement = a_measurement(table, *TEXTS)
    messages = QueuedMessage.objects.filter(body__contains="advance_measurement")
    while not measurement.finished_at:
        messages.delete()
        assert measurements_sweep() == 1
        assert messages.count() == 1
        measurement_advance(measurement.pk)
        measurement.refresh_from_db()
        if not measurement.finished_at:
            assert measurements_sweep() == 0  # the window is full
            for trial in trials_of(measurement).filter(status="queued"):
                trial_advance(trial.pk)
    messages.delete()
    assert measurements_sweep() == 0
    assert len(table.server.chats) == 6


def test_a_server_that_is_away_is_waited_for(table: Table, monkeypatch):
    measurement = a_measurement(table, "One.")
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", "http://127.0.0.1:9")
    assert measurement_advance(measurement.pk) == 0
    measurement.refresh_from_db()
    assert measurement.status == "running"
    assert "127.0.0.1:9" in measurement.status_reason
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", table.server.address)
    table.says(7)
    carried_out(measurement)
    assert (measurement.status, measurement.status_reason) == ("finished", "")


def test_the_budget_pauses_it(table: Table, window):
    table.says(*[7] * 6)
    measurement = carried_out(a_measurement(table, *TEXTS, token_budget=1))
    assert measurement.status == "paused"
    assert "The budget is used up" in measurement.status_reason
    assert statuses(measurement) == {"done": 2}


def test_the_projects_budget_pauses_it(table: Table):
    measurement = a_measurement(table, "One.")
    table.project.monthly_tokens = 0
    table.project.save()
    measurement_advance(measurement.pk)
    measurement.refresh_from_db()
    assert measurement.status == "paused"
    assert not BenchCall.objects.exists()


def test_a_dealing_that_is_cut_off_leaves_nothing_behind(table: Table, monkeypatch):
    """As `kill -9` does: the transaction is rolled back, and the next message starts the same texts."""
    from refinement.services.trust.measurements import dealing

    start, made = dealing.item_start, []

    def killed_at_the_third(*given):
        made.append(given)
        if len(made) == 3:
            raise KeyboardInterrupt
        return start(*given)

    measurement = a_measurement(table, *TEXTS)
    monkeypatch.setattr(dealing, "item_start", killed_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        measurement_advance(measurement.pk)
    assert statuses(measurement) == {}
    table.says(*[7] * 6)
    carried_out(measurement)
    assert len(table.server.chats) == 6


def test_what_its_calls_cost_counts_in_the_months_budget(table: Table):
    ModelPrice.objects.create(endpoint=JUDGE.endpoint, model=JUDGE.model, prompt=2, completion=6)
    carried_out(a_measurement(table, "One.", "Two."))
    calls = BenchCall.objects.order_by("pk")
    assert calls.count() == 2
    for call in calls:
        assert call.cost == Decimal(2 * call.prompt_tokens + 6 * call.completion_tokens) / 1_000_000 > 0
    used = sum(call.prompt_tokens + call.completion_tokens for call in calls)
    assert month_usage(table.project) == (sum(call.cost for call in calls), used)
    Project.objects.filter(pk=table.project.pk).update(monthly_tokens=used)
    table.project.refresh_from_db()
    with pytest.raises(ValidationError, match="budget for this month"):
        a_measurement(table, "Three.")
