"""Runs the tests as `make test` does: `python -m tests.parts [arguments for pytest]`.

First come those of the rooms whose coverage is gated, the only ones that are traced, then most others, on
all cores and one more: a browser, a clock or another process is waited for a quarter of the time. Those that
start whole instances come after them, three at a time, the longest first. Those that kill processes and
empty queues run one after the other beside them all: they mostly wait.

A few tests watch a clock, and beside so many others a machine can be too busy for them. So the few that
failed are run once more, alone, at the end; what fails then has failed. Those that passed only then are
named: they ask for a look, though not for a stop.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".pytest_cache"
MOST_SECOND_CHANCES = 8  # more than that is no busy machine
FAILED = 1  # pytest's own codes
NOTHING_TO_RUN = 5
WORKERS = str(min(4, (os.cpu_count() or 1) + 1))
ALL_CORES = ["-n", WORKERS, "--dist", "loadfile"]
PARTS = {
    "pure": [*ALL_CORES, "-m", "pure"],
    "most": [*ALL_CORES, "-m", "not alone and not roomy and not pure"],
    "roomy": ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "roomy"],
    "alone": ["-m", "alone"],
}
TRACED, BESIDE = "pure", "alone"
# Hundreds of Pythons start here: with nothing kept of what they compiled, each would compile it all again.
KEPT_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"


def pytest_command(part: str, arguments: list[str]) -> list[str]:
    """Each part remembers its failures apart from the others', which run at the same time."""
    cache = ["--cache-clear", "-o", f"cache_dir={CACHE / part}"]
    wanted = [each for each in arguments if part == TRACED or not each.startswith("--cov")]
    return [sys.executable, "-m", "pytest", *cache, *wanted]


def failed_tests(part: str) -> list[str]:
    remembered = CACHE / part / "v/cache/lastfailed"
    return list(json.loads(remembered.read_text())) if remembered.is_file() else []


def judged(part: str, code: int, second_chances: list[str]) -> int:
    """The part's exit code, after its few failures have had the machine to themselves."""
    if code == NOTHING_TO_RUN:
        return 0
    failed = failed_tests(part) if code == FAILED else []
    if not 0 < len(failed) <= MOST_SECOND_CHANCES:
        return code
    print(f"\n== Once more, alone: {len(failed)} of the part {part!r}", flush=True)
    code = subprocess.run(pytest_command(f"{part}-again", failed), check=False).returncode
    if code == 0:
        second_chances += failed
    return code


def main(arguments: list[str]) -> int:
    os.environ.pop(KEPT_UNCOMPILED, None)
    codes = {}
    with tempfile.TemporaryFile("w+") as log:
        beside = subprocess.Popen(
            pytest_command(BESIDE, [*PARTS[BESIDE], *arguments]), stdout=log, stderr=subprocess.STDOUT
        )
        try:
            for part, options in PARTS.items():
                if part == BESIDE:
                    continue
                codes[part] = subprocess.run(
                    pytest_command(part, [*options, *arguments]), check=False
                ).returncode
            codes[BESIDE] = beside.wait()
        finally:
            beside.terminate()
        log.seek(0)
        print(log.read(), flush=True)
    passed_alone: list[str] = []
    worst = max(judged(part, code, passed_alone) for part, code in codes.items())
    for test in passed_alone:
        print(f"Passed only when run alone: {test}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
