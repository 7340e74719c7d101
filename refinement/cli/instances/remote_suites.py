"""Suites of a remote instance, through its API."""

import uuid
from typing import Any
from urllib.parse import quote

from refinement.cli.exits import NotThere
from refinement.cli.instances.remote import RemoteInstance, if_missing
from refinement.cli.instances.suites import (
    SuiteLine,
    SuitePush,
    SuitePushed,
    SuiteRead,
    newer_version,
    unknown_base,
)
from refinement.interchange.suites.yaml import suite_from_yaml, suite_to_yaml

YAML = {"Content-Type": "application/yaml"}


class RemoteSuites:
    """One project of a server."""

    def __init__(self, instance: RemoteInstance) -> None:
        self.wire, self.project = instance.wire, instance.project

    def suites(self, *, archived: bool) -> list[SuiteLine]:
        params = {"archived": "true"} if archived else {}
        lines = [suite_line(entry) for entry in self.wire.pages(self.at("suites"), params)]
        return sorted(lines, key=lambda line: line["name"].lower())

    def suite(self, slug: str, version: int | None) -> SuiteRead:
        place = self.at(f"suites/{quote(slug, safe='')}")
        with if_missing(f"suite {slug!r} does not exist in project {self.project}."):
            newest = int(self.wire.json("GET", place)["version"])
        with if_missing(f"suite {slug!r} has no version {version}; the newest is {newest}."):
            answer = self.wire.ask("GET", f"{place}/export/yaml", params={"version": version or newest})
        return SuiteRead(slug, version or newest, suite_from_yaml(answer.text))

    def push(self, push: SuitePush) -> SuitePushed:
        place = self.at(f"suites/{quote(push.slug, safe='')}")
        try:
            found = self.wire.ask("GET", place)
        except NotThere:
            return self.created(push)
        known, tag = found.json(), found.headers["ETag"]
        newest = int(known["version"])
        text = suite_to_yaml(push.named_like(known["name"], known["description"]))
        there = self.wire.ask("GET", f"{place}/export/yaml", params={"version": newest}).text
        if there == text:
            return SuitePushed(suite=push.slug, version=newest, status="unchanged")
        if not push.force and push.base is None:
            raise unknown_base(push, newest)
        if not push.force and push.base != newest:
            raise newer_version(push, newest)
        # The ETag is of the version that was compared, so that a concurrent save is not overwritten.
        saved = self.wire.json(
            "POST",
            f"{place}/import",
            params={"format": "yaml", "mode": "replace", "note": push.note},
            content=text.encode(),
            headers={**YAML, "If-Match": tag},
        )
        return SuitePushed(suite=push.slug, version=saved["suite"]["version"], status="saved")

    def created(self, push: SuitePush) -> SuitePushed:
        made = self.wire.json(
            "POST",
            self.at("suite-files"),
            params={"slug": push.slug, "format": "yaml", "note": push.note},
            content=suite_to_yaml(push.suite).encode(),
            headers={**YAML, "Idempotency-Key": str(uuid.uuid4())},
        )
        return SuitePushed(suite=made["slug"], version=made["version"], status="created")

    def at(self, path: str) -> str:
        return f"projects/{quote(self.project, safe='')}/{path}"


def suite_line(entry: dict[str, Any]) -> SuiteLine:
    return SuiteLine(
        slug=entry["slug"],
        name=entry["name"],
        version=entry["version"],
        tasks=entry["tasks"],
        description=entry["description"],
        archived=entry["archived_at"] is not None,
    )
