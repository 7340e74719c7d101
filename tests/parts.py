"""Runs the tests as `make test` does: `python -m tests.parts [arguments for pytest]`.

Most tests run in one worker per core and one more: browser tests spend a quarter of their time waiting.
Tests that start whole instances follow, three at a time, the longest first. Tests that kill processes and
empty queues run one at a time in parallel with all others: they mostly wait. With `--cov`, the tests of
packages with a coverage limit run first and separately: only they are traced.
"""

import os
import subprocess
import sys
import tempfile

from tests.migrated import shared_template

NOTHING_TO_RUN = 5  # pytest's own code
WORKERS = str(min(4, (os.cpu_count() or 1) + 1))
ALL_CORES = ["-n", WORKERS, "--dist", "loadfile"]
PARTS = {
    "pure": [*ALL_CORES, "-m", "pure"],
    "most": [*ALL_CORES, "-m", "not alone and not roomy and not pure"],
    "most and pure": [*ALL_CORES, "-m", "not alone and not roomy"],
    "roomy": ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "roomy"],
    "alone": ["-m", "alone"],
}
TRACED, PARALLEL = "pure", "alone"
# The tests start hundreds of Python processes. With this variable, each would compile every module again.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


def pytest_command(part: str, arguments: list[str]) -> list[str]:
    """The command for a part. Parts run at the same time, so each has its own cache."""
    wanted = [each for each in arguments if part == TRACED or not each.startswith("--cov")]
    cache = ["-o", f"cache_dir=.pytest_cache/{part}"]
    return [sys.executable, "-m", "pytest", *cache, *PARTS[part], *wanted]


def in_turn(arguments: list[str]) -> list[str]:
    traced = any(each.startswith("--cov") for each in arguments)
    return [*(["pure", "most"] if traced else ["most and pure"]), "roomy"]


def main(arguments: list[str]) -> int:
    os.environ.pop(NO_BYTECODE, None)
    with shared_template(), tempfile.TemporaryFile("w+") as log:
        parallel = subprocess.Popen(pytest_command(PARALLEL, arguments), stdout=log, stderr=subprocess.STDOUT)
        try:
            codes = [
                subprocess.run(pytest_command(part, arguments), check=False).returncode
                for part in in_turn(arguments)
            ]
            codes.append(parallel.wait())
        finally:
            parallel.terminate()
        log.seek(0)
        print(log.read(), flush=True)
    return max(0 if code == NOTHING_TO_RUN else code for code in codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
