"""Runs the tests as `make test` does: `python -m tests.parts [arguments for pytest]`.

Most run on all cores and one more: a browser or another process is waited for a quarter of the time. Those
that start whole instances come after them, three at a time, the longest first. Those that kill processes and
empty queues run one after the other beside them all: they mostly wait. With `--cov`, those of the rooms whose
coverage is gated come first, by themselves: they alone are traced.
"""

import os
import subprocess
import sys
import tempfile

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
TRACED, BESIDE = "pure", "alone"
# Hundreds of Pythons start here: with nothing kept of what they compiled, each would compile it all again.
KEPT_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"


def pytest_command(part: str, arguments: list[str]) -> list[str]:
    """Parts run at the same time, so each has a cache of its own."""
    wanted = [each for each in arguments if part == TRACED or not each.startswith("--cov")]
    cache = ["-o", f"cache_dir=.pytest_cache/{part}"]
    return [sys.executable, "-m", "pytest", *cache, *PARTS[part], *wanted]


def in_turn(arguments: list[str]) -> list[str]:
    traced = any(each.startswith("--cov") for each in arguments)
    return [*(["pure", "most"] if traced else ["most and pure"]), "roomy"]


def main(arguments: list[str]) -> int:
    os.environ.pop(KEPT_UNCOMPILED, None)
    with tempfile.TemporaryFile("w+") as log:
        beside = subprocess.Popen(pytest_command(BESIDE, arguments), stdout=log, stderr=subprocess.STDOUT)
        try:
            codes = [
                subprocess.run(pytest_command(part, arguments), check=False).returncode
                for part in in_turn(arguments)
            ]
            codes.append(beside.wait())
        finally:
            beside.terminate()
        log.seek(0)
        print(log.read(), flush=True)
    return max(0 if code == NOTHING_TO_RUN else code for code in codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
