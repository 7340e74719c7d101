"""Hostile templates and checks are refused, or end within two seconds of processor time and 140 MB."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from refinement.judging.template_rendering import REPEATS, SPARE_CHARS
from tests.judging import hostile

ROOT = Path(__file__).parents[2]
PATIENCE = 600  # seconds for all of them, on a machine that does much else
MOST_SECONDS = 2.0
MOST_BYTES = 140 * 1024 * 1024
MOST_CHARS = {"templates": SPARE_CHARS + REPEATS * 1_000_000, "checks": 2_000}


@pytest.mark.parametrize(("which", "cases"), [("templates", hostile.TEMPLATES), ("checks", hostile.CHECKS)])
def test_each_is_refused_or_ends_in_time(which, cases):
    tried = subprocess.run(
        [sys.executable, "-m", "tests.judging.hostile", which],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert tried.returncode == 0, tried.stderr[-2_000:]
    measured = json.loads(tried.stdout)
    found = measured["cases"]

    assert len(cases) >= 60
    assert found.keys() == cases.keys()
    assert {case: entry for case, entry in found.items() if entry["seconds"] > MOST_SECONDS} == {}
    assert {case: entry for case, entry in found.items() if entry["size"] > MOST_CHARS[which]} == {}
    unlike = {
        case: told["said"] for case, told in found.items() if not re.search(cases[case][-1], told["said"])
    }
    assert unlike == {}
    assert measured["peak"] < MOST_BYTES
