"""Runs the tests as `make test` does: `python -m tests.parts [arguments for pytest]`.

Durability tests kill processes and empty queues, and mostly wait: they run in two separate processes, in
parallel with all others. The others run in one process per core plus one, because many of them wait for a
browser, a server or a command. With `--cov`, the tests of packages with a coverage limit run first and
separately: only they are traced.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack

from tests.migrated import shared_template

NOTHING_TO_RUN = 5  # pytest's own code
WORKERS = str(min(4, (os.cpu_count() or 1) + 1))
# In folder order: tests that wait are in the middle, and the last ones are short.
ALL_CORES = ["-n", WORKERS, "--dist", "loadfile", "--no-loadscope-reorder"]
PARTS = {
    "pure": [*ALL_CORES, "-m", "pure"],
    "most": [*ALL_CORES, "-m", "not durability and not pure"],
    "most and pure": [*ALL_CORES, "-m", "not durability"],
    "databases": ["-m", "durability and not message_broker"],
    "brokers": ["-m", "durability and message_broker"],
}
TRACED, PARALLEL = "pure", ("databases", "brokers")
# The tests start hundreds of Python processes. With this variable, each would compile every module again.
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"


def pytest_command(part: str, arguments: list[str]) -> list[str]:
    """The command for a part. Parts run at the same time, so each has its own cache."""
    wanted = [each for each in arguments if part == TRACED or not each.startswith("--cov")]
    cache = ["-o", f"cache_dir=.pytest_cache/{part}"]
    return [sys.executable, "-m", "pytest", *cache, *PARTS[part], *wanted]


def in_turn(arguments: list[str]) -> list[str]:
    traced = any(each.startswith("--cov") for each in arguments)
    return ["pure", "most"] if traced else ["most and pure"]


def main(arguments: list[str]) -> int:
    os.environ.pop(NO_BYTECODE, None)
    with shared_template(), ExitStack() as stack:
        logs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in PARALLEL]
        parallel = [
            subprocess.Popen(pytest_command(part, arguments), stdout=log, stderr=subprocess.STDOUT)
            for part, log in zip(PARALLEL, logs, strict=True)
        ]
        try:
            codes = [
                subprocess.run(pytest_command(part, arguments), check=False).returncode
                for part in in_turn(arguments)
            ]
            codes += [process.wait() for process in parallel]
        finally:
            for process in parallel:
                process.terminate()
        for log in logs:
            log.seek(0)
            print(log.read(), flush=True)
    return max(0 if code == NOTHING_TO_RUN else code for code in codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
