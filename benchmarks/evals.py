"""`wiggum eval` with parallel cases compared with one at a time, on a server with a fixed latency.

    python -m benchmarks.evals [--cases 32] [--latency 1] [--jobs 8]

Prints the ratio of the two times, without start-up. The goal for -j 8 is at least 6.
"""

import argparse
import json
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=32)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=8)
    options = parser.parse_args()
    print(json.dumps(measure(options.cases, options.latency, options.jobs)))


if __name__ == "__main__":
    main()
