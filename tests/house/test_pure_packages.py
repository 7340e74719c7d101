"""The engine, judging, providers and file formats do not import Django."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.processes import ROOT

ROOMS = (
    *("engine", "judging", "providers", "interchange", "identity", "webhooks", "evals", "statistics"),
    *("taxonomy", "planting"),
)


def modules(room: str) -> list[str]:
    files = sorted((ROOT / "refinement" / room).rglob("*.py"))
    names = [".".join(Path(file).relative_to(ROOT).with_suffix("").parts) for file in files]
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_without_django(room):
    assert len(modules(room)) > 1
    script = (
        "import importlib, sys\n"
        f"for name in {modules(room)!r}: importlib.import_module(name)\n"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('django', 'wiggum_site')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (result.returncode, result.stdout.strip()) == (0, "[]"), result.stderr


@pytest.mark.parametrize("room", ROOMS)
def test_the_linter_refuses_django_there(room):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", f"refinement/{room}/intruder.py", "-"],
        cwd=ROOT,
        input="from django.db import models\n\nprint(models)\n",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "TID251" in result.stdout
