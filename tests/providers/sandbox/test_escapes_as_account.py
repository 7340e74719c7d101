"""Attempts to escape from the sandbox if the worker is not root."""

import os

import pytest

from tests.providers.sandbox.attempts import ATTEMPTS, NETWORK, PROCESSES, READS, WRITES
from tests.providers.sandbox.matrix import NAMES, ONE_OF_EACH_KIND, assert_held, assert_refused
from tests.providers.sandbox.surroundings import NOBODY, Machine

ACCOUNT = NOBODY if os.geteuid() == 0 else os.geteuid()


@pytest.fixture(scope="module")
def machine():
    with Machine(user=ACCOUNT, namespaces=True) as made:
        yield made


@pytest.fixture(scope="module")
def without_namespaces():
    with Machine(user=ACCOUNT, namespaces=False) as made:
        yield made


def test_there_are_enough_attempts():
    assert len(set(NAMES)) == len(NAMES) >= 40


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=NAMES)
def test_in_the_sandbox(machine, attempt):
    assert_held(machine, attempt)


@pytest.mark.parametrize("attempt", ONE_OF_EACH_KIND, ids=lambda attempt: attempt.name)
def test_without_namespaces_nothing_runs(without_namespaces, attempt):
    assert_refused(without_namespaces, attempt)


@pytest.fixture(scope="module")
def unsafe():
    """Without namespaces, and with the setting that allows commands nevertheless."""
    with Machine(user=ACCOUNT, namespaces=False, unsafe=True) as made:
        yield made


def test_the_attempts_succeed_where_nothing_holds_them(unsafe):
    """Or they would prove nothing. The setting's name says what it costs."""
    results = [unsafe.attempt(attempt) for attempt in (*READS, *NETWORK, *WRITES)]
    assert {result["open_to"] for result in results} == {"all"}
    assert sum(result["escaped"] for result in results) >= 20
    assert len(unsafe.executed()) == len(results)


CLOSED = ("find secrets in its own environment", "environment of the worker", "environment of every process")
CLOSED += ("open files of the worker", "memory of the worker", "inherited descriptors")


@pytest.mark.parametrize("attempt", [entry for entry in READS if entry.name in CLOSED], ids=lambda a: a.name)
def test_even_then_the_workers_secrets_are_closed(unsafe, attempt):
    assert len(CLOSED) == 6
    assert not unsafe.attempt(attempt)["escaped"]


DAEMONS = [entry for entry in PROCESSES if "daemon" in entry.name or "survive" in entry.name]


@pytest.mark.parametrize("attempt", DAEMONS, ids=lambda attempt: attempt.name)
def test_even_then_no_process_outlives_its_job(unsafe, attempt):
    result = unsafe.attempt(attempt)
    assert result["open_to"] == "all"
    assert result["left"] == []
