"""A board of three judges on a server with three slots: wall time of a round over three calls in sequence.

    python -m benchmarks.board [--rounds 3] [--latency 1] [--size sqlite …]

A round's judges score at once and deliberate at once, then the clerk merges: ideally the time of three calls.
It counts from the start of the round's first judge until the round is judged. The other figure is the share
of the judges' prompts that they have in common at the beginning, which a server's prefix cache can reuse.
Exits with status 1 if a figure is outside its budget.
"""

import argparse
import json
import statistics
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks.instance import instance, model_server, wait_for

WALL_BUDGET, PREFIX_BUDGET = 1.3, 0.8
SLOTS = 3
CALLS_IN_SEQUENCE = 3
LAUNCH = """
from dataclasses import replace
from refinement.engine.panels import panel_for
from refinement.engine.profiles import rubric_for
from refinement.engine.types import JudgeMode, Judges
from refinement.providers.registry import Target
from refinement.services.projects.local import local_project
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create
base = rubric_for("simmer")
rubric = replace(base, judges=Judges(JudgeMode.BOARD, panel_for(base.artifact_type)),
                 policy=replace(base.policy, max_rounds=%d, stop_rules=()))
project = local_project()
version = rubric_create(project=project, slug="board-%d", definition=rubric)
model = Target("server", "loopback:8b")
seed = "# Backups\\n\\n" + "The backups are made every night and kept for thirty days in two buildings. " * 25
print(run_create(project=project, version=version, task="Explain how our backups are made and restored.",
                 seed=seed, producer=model, judge=model).pk)
"""
REPORT = """
import json, os
from refinement.models import Run
run = Run.objects.get(pk=%d)
rounds = []
for entry in run.rounds.exclude(judged_at=None).order_by("number"):
    calls = list(run.calls.filter(round_number=entry.number, purpose="score", error_kind=""))
    texts = ["\\n".join(message["content"] for message in call.messages) for call in calls]
    shared = len(os.path.commonprefix(texts))
    rounds.append({
        "wall": (entry.judged_at - min(call.started_at for call in calls)).total_seconds(),
        "shared": shared / max(map(len, texts)),
    })
print(json.dumps({"status": run.status, "outcome": run.outcome, "rounds": rounds}))
"""


@dataclass
class Figures:
    size: str
    wall_over_ideal: float  # of the median round
    worst: float
    shared: float  # of the round whose judges have least in common


def measure(size: str, latency: float, rounds: int) -> Figures:
    with model_server(latency) as url, instance(size, url) as app:
        endpoint = {"name": "server", "kind": "ollama", "url": url, "concurrency": SLOTS}
        app.environment["WIGGUM_ENDPOINTS"] = json.dumps([endpoint])
        app.worker(threads=4)

        def played(number: int, count: int) -> list[dict[str, float]]:
            run = int(app.manage("shell", "-v0", "-c", LAUNCH % (count, number)))

            def report() -> dict[str, Any]:
                return dict(json.loads(app.manage("shell", "-v0", "-c", REPORT % run)))

            # Rarely: starting a process takes CPU time from the worker.
            wait_for(lambda: report()["status"] == "finished", 300, every=5)
            result = report()
            assert result["outcome"] == "DONE", result
            return list(result["rounds"])

        played(0, 1)  # one-time costs, such as connecting, do not count
        found = played(1, rounds)
    assert len(found) == rounds, found
    walls = [entry["wall"] / (CALLS_IN_SEQUENCE * latency) for entry in found]
    return Figures(size, statistics.median(walls), max(walls), min(entry["shared"] for entry in found))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--size", nargs="+", default=["sqlite", "postgres+redis"])
    options = parser.parse_args()
    print("| size | wall / three calls | worst round | shared prefix |\n|---|---:|---:|---:|")
    within = True
    for size in options.size:
        result = measure(size, options.latency, options.rounds)
        within &= result.wall_over_ideal <= WALL_BUDGET and result.shared >= PREFIX_BUDGET
        walls = f"{result.wall_over_ideal:.2f} × | {result.worst:.2f} ×"
        print(f"| {result.size} | {walls} | {result.shared:.0%} |", flush=True)
    print(f"Budget: {WALL_BUDGET:g} × and {PREFIX_BUDGET:.0%}.")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
