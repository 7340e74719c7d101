"""Experiments of a remote instance, through its API."""

import time
import uuid
from typing import Any
from urllib.parse import quote

from refinement.cli.exits import Unavailable
from refinement.cli.instances.experiments import NewExperiment, Progress
from refinement.cli.instances.remote import RemoteInstance, if_missing

LOOK_SECONDS = 1.0
RESULTS_SECONDS = 120.0  # a worker computes them in seconds, unless none is online


class RemoteExperiments:
    """One project of a server."""

    def __init__(self, instance: RemoteInstance) -> None:
        self.wire, self.project = instance.wire, instance.project

    def create(self, new: NewExperiment) -> int:
        body = {
            "name": new.name,
            "suite": new.suite,
            "repeats": new.repeats,
            "note": new.note,
            "configurations": [
                {
                    "name": entry.name,
                    "rubric": entry.rubric,
                    "producer": entry.producer,
                    "judge": entry.judge,
                    "clerk": entry.clerk,
                    "set": entry.changes,
                    "baseline": entry.baseline,
                }
                for entry in new.configurations
            ],
        }
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        made = self.wire.json("POST", self.at("experiments"), json=body, headers=headers)
        return int(made["id"])

    def resume(self, number: int) -> None:
        if self.read(number)["status"] == "paused":
            self.wire.json("POST", self.at(f"experiments/{number}/resume"))

    def progress(self, number: int) -> Progress:
        found = self.read(number)
        states = found["states"]
        open_runs = states.get("waiting", 0) + states.get("running", 0)
        return Progress(
            status=found["status"],
            reason=found["status_reason"],
            suite=found["suite"],
            runs=found["runs"],
            ended=found["runs"] - open_runs,
            errors=states.get("error", 0),
        )

    def latest(self, suite: str, *, before: int | None) -> int | None:
        params = {"suite": suite.partition("@")[0], "status": "finished"}
        for entry in self.wire.pages(self.at("experiments"), params):
            if before is None or entry["id"] < before:
                return int(entry["id"])
        return None

    def results(self, number: int) -> dict[str, Any]:
        return self.computed(f"experiments/{number}/results", "results", number)

    def comparison(self, number: int, other: int) -> dict[str, Any]:
        return self.computed(f"experiments/{number}/compare/{other}", "comparison", other)

    def address(self, number: int) -> str:
        return f"{self.wire.server}/p/{self.project}/experiments/{number}/"

    def read(self, number: int) -> dict[str, Any]:
        with if_missing(f"there is no experiment {number} in the project {self.project}."):
            found: dict[str, Any] = self.wire.json("GET", self.at(f"experiments/{number}"))
        return found

    def computed(self, path: str, name: str, number: int) -> dict[str, Any]:
        """Figures that a worker computes, once they cover every run. Raises Unavailable."""
        until = time.monotonic() + RESULTS_SECONDS
        while True:
            with if_missing(f"there is no experiment {number} in the project {self.project}."):
                found = self.wire.json("GET", self.at(path))
            if found["status"] == "failed":
                raise Unavailable(f"the results could not be computed: {found['error']}")
            if found[name] is not None and found["is_current"]:
                result: dict[str, Any] = found[name]
                return result
            if time.monotonic() > until:
                raise Unavailable("the results are not computed yet. Check that a worker is online.")
            time.sleep(LOOK_SECONDS)

    def at(self, path: str) -> str:
        return f"projects/{quote(self.project, safe='')}/{path}"
