"""A worker's memory serves the next step of the same run, and nothing else."""

import json

import pytest
from django.test.utils import CaptureQueriesContext

from refinement.engine.types import History, Round
from refinement.models import Run
from refinement.providers.registry import Target
from refinement.selectors.history import brief_of, history_of
from refinement.selectors.rubrics import version_named
from refinement.services import recollection
from refinement.services.advancing import run_advance
from refinement.services.leases import lease_release, lease_take
from refinement.services.lifecycle import run_pause, run_resume
from refinement.services.recollection import recall, remember
from refinement.services.rubrics import default_rubrics_install
from refinement.services.runs import run_create
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import from_lists

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)  # what is remembered is, on commit
FLAT = {"depth": 7, "relevance": 7, "completeness": 7, "grounded": 7, "specificity": 7, "structure": 7}


@pytest.fixture(autouse=True)
def nothing_remembered():
    recollection._memories.clear()
    yield
    recollection._memories.clear()


@pytest.fixture
def run(project, ollama_server, monkeypatch):
    default_rubrics_install(project=project)
    said = [json.dumps({**FLAT, "depth": 5 + n, "issues": ["x"]}) for n in range(3)]
    written = [f"Revision {n} of the text" for n in range(3)]
    ollama_server.replies = from_lists({"judge": said, "producer": written})
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    target = Target("ollama", "loopback:8b")
    version = version_named(project, "wiggum")
    return run_create(project=project, version=version, task="t", seed="First", producer=target, judge=target)


def taken(run, owner="me"):
    lease = lease_take(run.pk, owner)
    assert lease is not None
    return lease


def read(run):
    fresh = Run.objects.get(pk=run.pk)
    brief = brief_of(fresh)
    return brief, history_of(fresh, brief.rubric, whole=True)


def test_what_is_remembered_is_what_would_be_read(run):
    for _ in range(4):
        assert run_advance(run.pk) is not None
        memory = recollection._memories.get(run.pk)
        brief, history = read(run)
        assert memory is not None
        assert (memory.brief, memory.history.rounds) == (brief, history.rounds)
    assert run_advance(run.pk).finish is not None
    assert run.pk not in recollection._memories  # nothing comes after its end


def test_a_remembered_run_needs_no_reading(run):
    from django.db import connection

    run_advance(run.pk)
    lease = taken(run)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        _, history = recall(lease, lease.run)
    assert len(queries) == 0
    assert history == read(run)[1]


def test_a_run_that_somebody_else_advanced_is_read_anew(run):
    run_advance(run.pk)
    stale = recollection._memories[run.pk]
    lease_release(taken(run, "somebody else"))
    run_advance(run.pk)
    recollection._memories[run.pk] = stale
    lease = taken(run)
    assert recall(lease, lease.run)[1] == read(run)[1]


def test_a_run_that_was_changed_from_outside_is_read_anew(run):
    run_advance(run.pk)
    brief, _ = read(run)
    recollection._memories[run.pk] = recollection.Memory(
        recollection._memories[run.pk].attempt, brief, History((Round(1, "not what is stored"),))
    )
    run_pause(run=run)
    run_resume(run=run)
    lease = taken(run)
    assert recall(lease, lease.run)[1] == read(run)[1]


def test_the_account_is_always_the_rows_own(run):
    run_advance(run.pk)
    Run.objects.filter(pk=run.pk).update(calls_made=41, extended_after=1)
    lease = taken(run)
    _, history = recall(lease, lease.run)
    assert (history.usage.calls, history.extended_after) == (41, 1)


def test_long_texts_are_not_kept(run):
    lease = taken(run)
    brief, _ = read(run)
    remember(lease, brief, History((Round(1, "x" * (recollection.MOST_CHARS + 1)),)))
    assert run.pk not in recollection._memories


def test_the_oldest_memory_goes_first(run):
    lease = taken(run)
    brief, history = read(run)
    for number in range(recollection.MOST_RUNS + 5):
        remember(type(lease)(number, "me", 1, run), brief, history)
    assert len(recollection._memories) == recollection.MOST_RUNS
    assert 0 not in recollection._memories
