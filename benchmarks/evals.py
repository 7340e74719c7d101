"""`wiggum eval` with parallel cases compared with one at a time, on a server with a fixed latency.

    python -m benchmarks.evals [--cases 48] [--latency 0.25] [--jobs 8] [--memory 1000]

Prints the ratio of the two times, without start-up. The goal for -j 8 is at least 6. With --memory, prints
the largest size of the process for a tenth of so many cases and for all of them, in megabytes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.instance import Instance, instance, model_server

ROOT = Path(__file__).resolve().parent.parent
FORGET = "from refinement.models import Run; Run.objects.all().delete()"
WALL = """
from django.db.models import Max, Min
from refinement.models import Run
times = Run.objects.aggregate(first=Min("created_at"), last=Max("finished_at"))
print((times["last"] - times["first"]).total_seconds())
"""


def suite(url: str, cases: int) -> str:
    tests = [
        {"id": f"case {number}", "input": f"Write number {number}.", "assert": [{"type": "length", "min": 1}]}
        for number in range(cases)
    ]
    target = {"name": "served", "kind": "ollama", "url": url, "model": "loopback:1b"}
    return json.dumps({"name": "Speed", "tests": tests, "targets": [target]})


def seconds(app: Instance, folder: Path, jobs: int) -> float:
    """The time from the start of the first run to the end of the last."""
    app.manage("shell", "-v0", "-c", FORGET)
    command = [sys.executable, "-m", "refinement.cli", "eval", str(folder), "-j", str(jobs), "--out"]
    subprocess.run([*command, str(folder / "out")], cwd=ROOT, env=app.environment, check=True)
    return float(app.manage("shell", "-v0", "-c", WALL))


def measure(cases: int, latency: float, jobs: int) -> dict[str, float]:
    with (
        tempfile.TemporaryDirectory() as place,
        model_server(latency) as url,
        instance("sqlite", url) as app,
    ):
        folder = Path(place)
        (folder / "speed.eval.yaml").write_text(suite(url, cases))
        one, many = seconds(app, folder, 1), seconds(app, folder, jobs)
    return {
        "one at a time": round(one, 2),
        f"{jobs} at a time": round(many, 2),
        "ratio": round(one / many, 2),
    }


def megabytes(app: Instance, folder: Path, jobs: int) -> int:
    """The largest size of the command's process."""
    command = [sys.executable, "-m", "refinement.cli", "eval", str(folder), "-j", str(jobs), "--out"]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [*command, str(folder / "out")], cwd=ROOT, env=app.environment, stderr=log, stdout=log
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit((folder / "log.txt").read_text()[-2_000:])
    return usage.ru_maxrss // 1024


def measure_memory(cases: int, jobs: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as place, model_server(0) as url, instance("sqlite", url) as app:
        folder, found = Path(place), {}
        for count in (cases // 10, cases):
            (folder / "speed.eval.yaml").write_text(suite(url, count))
            found[f"{count} cases, MB"] = megabytes(app, folder, jobs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=48)
    parser.add_argument("--latency", type=float, default=0.25)
    parser.add_argument("--memory", type=int, metavar="CASES")
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    if options.memory:
        print(json.dumps(measure_memory(options.memory, options.jobs)))
        return
    print(json.dumps(measure(options.cases, options.latency, options.jobs)))


if __name__ == "__main__":
    main()
