"""A data directory whose database is ready: to migrate one takes longer than most of what is tested on it."""

import shutil
from pathlib import Path

import pytest

from tests.refine.conftest import migrated

__all__ = ["migrated"]


@pytest.fixture
def migrated_dir(migrated: Path, data_dir: Path) -> Path:
    return Path(shutil.copytree(migrated, data_dir, dirs_exist_ok=True))
