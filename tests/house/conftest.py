"""A data directory whose database is ready: to migrate one takes longer than most of what is tested on it."""

import shutil
from pathlib import Path

import pytest

from tests.house.processes import Instance
from tests.refine.conftest import migrated

__all__ = ["migrated"]


@pytest.fixture
def migrated_dir(migrated: Path, data_dir: Path) -> Path:
    return Path(shutil.copytree(migrated, data_dir, dirs_exist_ok=True))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A data directory as a first start leaves it: preparing one takes longer than all the rest."""
    directory = tmp_path_factory.mktemp("prepared") / "data"
    instance = Instance(directory)
    try:
        instance.wait_until_said("Wiggum is ready at")
        first_output = instance.said()
        assert instance.stop() == 0
    finally:
        instance.clean_up()
    return directory, first_output


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
