"""The benchmarks can be started: nobody runs them for weeks, and what they import is moved meanwhile."""

from importlib import import_module
from pathlib import Path

import pytest

import benchmarks

NAMES = sorted(path.stem for path in Path(benchmarks.__file__).parent.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_can_be_imported(name):
    assert import_module(f"benchmarks.{name}").__doc__
