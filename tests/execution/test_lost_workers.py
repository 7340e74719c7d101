"""A step that keeps crashing its worker: crashes are counted, and the run ends with a clear message."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.execution.leases import LEASE, MAX_CRASHES, crash_pause, lease_release, lease_take
from refinement.models import Run
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import version_named
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.runs.creating import run_create
from refinement.services.runs.lifecycle import run_pause, run_resume, run_retry
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists
from tests.stepping import run_step

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
KEYS = ("depth", "relevance", "completeness", "grounded", "specificity", "structure")
STEPS = 5  # a seed, judged and revised twice: three verdicts and two revisions
WORDS = (
    "The worker stopped or stopped responding 5 times during this step, so it is not retried automatically."
)


@pytest.fixture
def run(project, ollama_server, monkeypatch):
    """A run whose seed is judged first, then revised."""
    said = [json.dumps({**dict.fromkeys(KEYS, 5 + n), "issues": ["x"]}) for n in range(3)]
    ollama_server.replies = from_lists({"judge": said, "producer": ["One revision.", "Another."]})
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    default_rubrics_install(project=project)
    target = Target("ollama", "loopback:8b")
    version = version_named(project, "wiggum")
    return run_create(project=project, version=version, task="t", seed="First", producer=target, judge=target)


def lose_worker(run, times=1):
    """As if so many workers had been killed in the step: their leases run out."""
    for _ in range(times):
        assert lease_take(Run, run.pk, "a worker that is killed") is not None
        expire(run)


def expire(run):
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def due(run):
    Run.objects.filter(pk=run.pk, status="waiting").update(next_try_at=timezone.now())


def fresh(run):
    return Run.objects.get(pk=run.pk)


def test_an_expired_lease_counts_as_it_is_taken_over(run):
    lose_worker(run)
    assert fresh(run).crashes == 0  # nobody has noticed yet
    lease = lease_take(Run, run.pk, "the next")
    assert (lease.took_over, lease.row.crashes, fresh(run).crashes) == (True, 1, 1)


def test_a_lease_that_was_given_back_does_not_count(run):
    lease_release(lease_take(Run, run.pk, "a worker that was told to stop"))
    lease = lease_take(Run, run.pk, "the next")
    assert (lease.took_over, fresh(run).crashes) == (False, 0)


def test_after_one_loss_the_run_goes_on_at_once_and_the_result_resets_the_count(run):
    lose_worker(run)
    assert run_step(run.pk) is not None
    assert (fresh(run).rounds_judged, fresh(run).crashes) == (1, 0)


def test_losses_in_different_steps_do_not_add_up(run):
    for _ in range(STEPS):
        lose_worker(run)
        assert run_step(run.pk) is not None
    assert (fresh(run).outcome, fresh(run).rounds_judged, fresh(run).crashes) == ("FAIL", 3, 0)


def test_after_a_second_loss_the_run_waits_before_it_is_tried_again(run, ollama_server):
    lose_worker(run, 2)
    before = timezone.now()
    assert run_step(run.pk) is None
    row = fresh(run)
    assert (row.status, row.lease_owner, row.crashes, len(ollama_server.chats)) == ("waiting", "", 2, 0)
    assert before < row.next_try_at < timezone.now() + LEASE * 4
    event = row.events.get(kind="waiting")
    assert event.data["reason"] == "The worker stopped or stopped responding 2 times during this step."
    assert run_step(run.pk) is None  # too early
    due(run)
    assert run_step(run.pk) is not None
    assert (fresh(run).rounds_judged, fresh(run).crashes) == (1, 0)


def test_pauses_grow_and_are_spread():
    assert crash_pause(1) == timedelta()
    for crashes in (2, 3, 4):
        pauses = {crash_pause(crashes) for _ in range(50)}
        assert len(pauses) > 40
        assert max(pauses) <= LEASE * 2**crashes
        assert max(pauses) > LEASE * 2 ** (crashes - 1)


def test_the_fifth_loss_ends_the_run_in_error(run, ollama_server):
    lose_worker(run, MAX_CRASHES)
    assert run_step(run.pk) is None
    row = fresh(run)
    assert (row.status, row.outcome, row.stop_reason) == ("finished", "ERROR", "internal_error")
    assert row.why.startswith(WORDS)
    assert "retry the run" in row.why
    assert row.events.get(kind="stopped").data["why"] == row.why
    assert (row.lease_owner, row.lease_until, len(ollama_server.chats)) == ("", None, 0)
    assert lease_take(Run, run.pk, "anybody") is None


def test_a_retry_by_hand_starts_the_count_again(run):
    lose_worker(run, MAX_CRASHES)
    run_step(run.pk)
    run_retry(run=fresh(run))
    assert fresh(run).crashes == 0
    lose_worker(run)
    assert run_step(run.pk) is not None
    assert fresh(run).rounds_judged == 1


def test_pausing_and_resuming_by_hand_starts_the_count_again(run):
    lose_worker(run, 4)
    run_pause(run=fresh(run))
    run_resume(run=fresh(run))
    assert fresh(run).crashes == 0


def test_a_run_that_somebody_paused_is_not_ended(run, monkeypatch):
    lose_worker(run, MAX_CRASHES)
    lease = lease_take(Run, run.pk, "late")
    run_pause(run=fresh(run))
    monkeypatch.setattr("refinement.execution.advancing.lease_take", lambda *args: lease)
    assert run_step(run.pk) is None
    assert (fresh(run).status, fresh(run).outcome) == ("paused", "")


def test_the_page_says_why_it_waits(as_viewer, run):
    lose_worker(run, 2)
    run_step(run.pk)
    text = as_viewer.get(f"/p/alpha/runs/{run.pk}/").content.decode()
    assert "The worker stopped or stopped responding 2 times during this step" in text
    assert "Waiting for a model server" not in text
