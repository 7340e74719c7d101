"""One stage per size; a size is skipped if its services are not available.

Tests with Redis or RabbitMQ share its queues, so one process runs them all, one after the other. Those of the
other sizes have queues of their own, in their database.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.execution.durability.services import SIZES, missing
from tests.execution.durability.stage import Stage, stage_set


def size_of(item: pytest.Item) -> str:
    """The size that a test is for: a parameter, or its module's SIZE. With SQLite, no stage is shared."""
    callspec = getattr(item, "callspec", None)
    given = [value for value in callspec.params.values() if value in SIZES] if callspec else []
    return given[0] if given else getattr(item.module, "SIZE", "sqlite")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(folder) and "+" in size_of(item):
            item.add_marker("message_broker")


@pytest.fixture(scope="session", params=SIZES)
def stage_of_size(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if reason := missing(request.param):
        pytest.skip(reason)
    with stage_set(request.param) as stage:
        yield stage


@pytest.fixture
def stage(stage_of_size: Stage) -> Iterator[Stage]:
    """A clean stage: no work, no workers, and a fast model server without faults."""
    yield stage_of_size
    stage_of_size.app.stop()
    stage_of_size.app.processes.clear()
    stage_of_size.clear()
