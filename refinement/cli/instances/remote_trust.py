"""Judges of a remote instance, through its API; a worker computes their figures."""

import time
from typing import Any
from urllib.parse import quote

from refinement.cli.exits import Refused, Unavailable
from refinement.cli.instances.remote import RemoteInstance, if_missing
from refinement.cli.instances.trust import JudgeTrust, unscored

LOOK_SECONDS = 1.0
REPORT_SECONDS = 120.0  # a worker computes it in seconds, unless none is online
MOST_NAMED = 20


class RemoteJudges:
    """One project of a server."""

    def __init__(self, instance: RemoteInstance) -> None:
        self.wire, self.project = instance.wire, instance.project

    def trust(self, rubric: str, judge: str, label_set: str) -> JudgeTrust:
        """Raises Refused for a judge without a score."""
        slug, version = self.version(rubric)
        params: dict[str, Any] = {"rubric": slug, "version": version}
        entry = next(self.wire.pages(self.at("judges"), {**params, "judge": judge}, 1), None)
        name = f"{slug}@{version}"
        if entry is None:
            known = [line["key"] for line in self.wire.pages(self.at("judges"), params, MOST_NAMED)]
            raise Refused(unscored(judge, name, known))
        return JudgeTrust(name, entry["key"], self.report(entry["id"], label_set))

    def version(self, rubric: str) -> tuple[str, int]:
        """The slug and the version that `slug` or `slug@3` names."""
        slug, _, number = rubric.partition("@")
        path = f"rubrics/{quote(slug, safe='')}"
        if number:
            path += f"/versions/{quote(number.removeprefix('v'), safe='')}"
        with if_missing(f"there is no rubric {rubric!r} in the project {self.project}."):
            found = self.wire.json("GET", self.at(path))
        return slug, int(found["version"])

    def report(self, number: int, label_set: str) -> dict[str, Any]:
        """The report once it covers everything. Raises Unavailable."""
        path, params = self.at(f"judges/{number}"), {"set": label_set} if label_set else {}
        until = time.monotonic() + REPORT_SECONDS
        while True:
            with if_missing(f"there is no label set {label_set!r} for this rubric."):
                found = self.wire.json("GET", path, params=params)
            if found["status"] == "failed":
                raise Unavailable(f"the report could not be computed: {found['error']}")
            if found["report"] is not None and found["is_current"]:
                result: dict[str, Any] = found["report"]
                return result
            if time.monotonic() > until:
                raise Unavailable("the report is not computed yet. Check that a worker is online.")
            time.sleep(LOOK_SECONDS)

    def at(self, path: str) -> str:
        return f"projects/{quote(self.project, safe='')}/{path}"
