"""Attempts to escape from the sandbox if the worker is root."""

import os

import pytest

from tests.providers.sandbox.attempts import ATTEMPTS
from tests.providers.sandbox.matrix import NAMES, ONE_OF_EACH_KIND, assert_held, assert_refused
from tests.providers.sandbox.surroundings import Machine

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a worker as root")


@pytest.fixture(scope="module")
def machine():
    with Machine(user=0, namespaces=True) as made:
        yield made


@pytest.fixture(scope="module")
def without_namespaces():
    with Machine(user=0, namespaces=False) as made:
        yield made


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=NAMES)
def test_in_the_sandbox(machine, attempt):
    assert_held(machine, attempt)


@pytest.mark.parametrize("attempt", ONE_OF_EACH_KIND, ids=lambda attempt: attempt.name)
def test_without_namespaces_nothing_runs(without_namespaces, attempt):
    assert_refused(without_namespaces, attempt)
