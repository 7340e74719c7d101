"""A data directory as a first start leaves it: to prepare one takes longer than most of what is tested."""

import os
import shutil
from pathlib import Path

import pytest

from tests.house.processes import Instance
from tests.migrated import made_once


def prepared_in(temporary: pytest.TempPathFactory) -> Path:
    """A folder with that directory as `data`, and what the first start `said`; made once in a test run."""
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
    """A data directory to start an instance on at once."""
    return Path(shutil.copytree(prepared_in(temporary) / "data", temporary.mktemp(name) / "data"))
