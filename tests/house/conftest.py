"""A data directory with a migrated database, made once because migrating takes longer than most tests."""

import shutil
from pathlib import Path

import pytest

from tests.house.processes import Instance
from tests.management.conftest import migrated
from tests.prepared import prepared_in

__all__ = ["migrated"]


@pytest.fixture
def migrated_dir(migrated: Path, data_dir: Path) -> Path:
    return Path(shutil.copytree(migrated, data_dir, dirs_exist_ok=True))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A data directory after a first start, and that start's output; shared by all test processes."""
    made = prepared_in(tmp_path_factory)
    return made / "data", (made / "said").read_text()


@pytest.fixture
def start(prepared, data_dir):
    instances = []
    shutil.copytree(prepared[0], data_dir, dirs_exist_ok=True)

    def begin(**settings):
        instances.append(Instance(data_dir, **settings))
        return instances[-1]

    yield begin
    for instance in instances:
        instance.clean_up()
