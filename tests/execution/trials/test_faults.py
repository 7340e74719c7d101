"""Failed calls to a judge: retried, then reported, and never a score."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.execution.trials import judging as trial_asking
from refinement.execution.trials.advancing import TRIES
from refinement.models import BenchCall
from refinement.providers.registry import Target
from tests.execution.trials.given import Table, advance, messages, now_due, statuses, trials
from tests.loopback.faults import Fault

pytestmark = pytest.mark.django_db


def through(bench) -> None:
    """To the end, without waiting for the times of next tries."""
    for _ in range(20):
        advance(bench)
        now_due(bench)


def test_a_reply_that_cannot_be_read_is_asked_about_again(table: Table):
    bench = table.judged("I would rather not.", 7, repeats=1)
    (trial,) = trials(bench)
    assert (trial.status, trial.composite, trial.calls_made, trial.unreadable) == ("done", 7, 2, 1)
    first, second = BenchCall.objects.order_by("number")
    assert first.complaint
    assert [message["role"] for message in second.messages] == ["system", "user", "assistant", "user"]
    assert first.complaint in second.messages[3]["content"]


def test_after_three_unreadable_replies_the_trial_has_failed_in_words(table: Table):
    bench = table.judged("No.", "No!", "No?", repeats=1)
    (trial,) = trials(bench)
    assert (trial.status, trial.composite, trial.scores, trial.calls_made) == ("failed", None, None, 3)
    assert "could not be read after 3 attempts" in trial.error
    assert bench.status == "finished"
    assert len(table.server.chats) == 3


def test_one_failed_trial_leaves_the_others_alone(table: Table):
    table.says(8, "No.", "No!", "No?", 9)
    bench = table.bench(repeats=3)
    advance(bench)
    assert sorted(statuses(bench)) == ["done", "done", "failed"]
    assert bench.status == "finished"


def test_a_server_that_is_away_for_a_moment_is_waited_for(table: Table):
    table.says(8)
    table.server.go_offline()
    bench = table.bench(repeats=1)
    before = timezone.now()
    advance(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.failures) == ("waiting", 1)
    assert "cannot be reached" in trial.waiting_for
    assert before < trial.next_try_at < timezone.now() + timedelta(seconds=2)
    assert messages(trial) == 2, "the first one, and one for the next try"
    table.server.go_online()
    now_due(bench)
    advance(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.composite) == ("done", 8)


def test_a_server_that_stays_away_is_given_up(table: Table):
    table.server.go_offline()
    bench = table.bench(repeats=2)
    through(bench)
    for trial in trials(bench):
        assert (trial.status, trial.composite, trial.calls_made) == ("failed", None, TRIES)
        assert "cannot be reached" in trial.error
        assert f"Tried {TRIES} times" in trial.error
    assert bench.status == "finished"


@pytest.mark.parametrize("kind", ["reset", "cut", "status", "empty", "error_object"])
def test_a_fault_that_passes_costs_a_try_and_no_score(table: Table, kind):
    table.says(*[8] * 5)
    table.server.faults = [Fault(kind, nth=(1,))]
    bench = table.bench(repeats=1)
    through(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.composite) == ("done", 8)
    failed = BenchCall.objects.order_by("number").first()
    assert failed.error_message
    assert failed.reply == ""


def test_a_server_that_hangs_is_given_up(table: Table, monkeypatch):
    monkeypatch.setattr(trial_asking, "DEADLINE_SECONDS", 0.3)
    table.server.faults = [Fault("hang")]
    bench = table.bench(repeats=1)
    through(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.composite) == ("failed", None)
    assert "did not complete its reply within" in trial.error


def test_a_model_that_is_not_there_is_said_at_once(table: Table):
    bench = table.bench(repeats=1, judge=Target("ollama", "nowhere:70b"))
    advance(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.calls_made) == ("failed", 1)
    assert "nowhere:70b" in trial.error


def test_an_endpoint_that_is_gone_is_said_at_once(table: Table):
    bench = table.bench(repeats=1, judge=Target("vanished", "x"))
    advance(bench)
    (trial,) = trials(bench)
    assert (trial.status, trial.calls_made) == ("failed", 0)
    assert "no model server named 'vanished'" in trial.error


def test_a_prompt_that_does_not_fit_is_refused_before_it_is_sent(table: Table):
    table.server.context_length = 512
    bench = table.bench(repeats=1)
    advance(bench)
    (trial,) = trials(bench)
    assert trial.status == "failed"
    assert "leaves too little for a reply" in trial.error
    assert table.server.chats == []


def test_what_no_column_holds_is_replaced(table: Table):
    table.says("Score: \x00 none", 8)
    bench = table.bench(repeats=1)
    advance(bench)
    assert statuses(bench) == ["done"]
    assert "\x00" not in BenchCall.objects.order_by("number").first().reply
