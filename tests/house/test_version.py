"""The version is the same everywhere."""

import tomllib

from tests.house.processes import ROOT
from wiggum_site import VERSION


def test_the_package_and_the_site_agree():
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == VERSION
