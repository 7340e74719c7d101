"""One stage for all tests of a size in a module; a size whose services are not there is skipped."""

from collections.abc import Iterator

import pytest

from tests.execution.durability.services import SIZES, missing
from tests.execution.durability.stage import Stage, stage_set


@pytest.fixture(scope="module", params=SIZES)
def stage_of_module(request: pytest.FixtureRequest) -> Iterator[Stage]:
    if reason := missing(request.param):
        pytest.skip(reason)
    with stage_set(request.param) as stage:
        yield stage


@pytest.fixture
def stage(stage_of_module: Stage) -> Iterator[Stage]:
    """The stage as a test finds it: nothing queued, no worker at work, the model server quick and well."""
    stage_of_module.forget_messages()
    stage_of_module.server.chunk_delay = 0.02
    stage_of_module.server.faults = []
    yield stage_of_module
    stage_of_module.app.stop()
    stage_of_module.app.processes.clear()
