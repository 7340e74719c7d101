"""A data directory after a first start, made once because preparing it takes longer than most tests."""

import os
import shutil
from pathlib import Path

import pytest

from tests.house.processes import Instance
from tests.migrated import made_once


def prepared_in(temporary: pytest.TempPathFactory) -> Path:
    """A folder with that directory as `data` and the start's output as `said`; made once per test run."""
    base = temporary.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return made_once(shared / "prepared", first_start)


def first_start(folder: Path) -> None:
    instance = Instance(folder / "data")
    try:
        instance.wait_until_said("Wiggum is ready at")
        (folder / "said").write_text(instance.said())
        assert instance.stop() == 0
    finally:
        instance.clean_up()


def prepared_copy(temporary: pytest.TempPathFactory, name: str) -> Path:
    """A data directory with which an instance can start immediately."""
    return Path(shutil.copytree(prepared_in(temporary) / "data", temporary.mktemp(name) / "data"))
