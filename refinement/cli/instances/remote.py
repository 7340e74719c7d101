"""A remote instance, through its API."""

import io
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from refinement.cli.exits import BadInput, NotThere, Refused
from refinement.cli.instances.base import (
    ImportAnswer,
    NewRun,
    Push,
    Pushed,
    RubricLine,
    RubricText,
    RunLine,
    RunQuery,
    RunReport,
    Training,
    Verb,
)
from refinement.cli.instances.refusals import newer_version, unknown_base
from refinement.cli.instances.wire import Wire, server_address, token_checked
from refinement.interchange.imports.archives import BadUpload
from refinement.interchange.imports.folders import files_at
from refinement.interchange.rubrics.yaml import rubric_from_yaml, rubric_to_yaml

LOOK_SECONDS = 1.0  # far below a token's rate limit
IMPORT_SECONDS = 300.0  # the server imports every run before it responds
YAML = {"Content-Type": "application/yaml"}
PANEL_FIELDS = ("name", "lens", "model", "by_clerk")
CHECK_FIELDS = ("key", "passed", "severity", "message", "suggestion")
# The settings that --set can change for one run, with their API names.
SETTINGS = {
    "policy.max_rounds": "rounds",
    "policy.pass_threshold": "threshold",
    "policy.budget.tokens": "tokens",
    "policy.budget.seconds": "seconds",
    "policy.budget.calls": "calls",
    "policy.judge_limit_chars": "judge_limit",
    "policy.source_limit_chars": "source_limit",
    "policy.producer_tokens": "producer_tokens",
    "policy.producer_temperature": "temperature",
    "policy.on_plateau": "on_plateau",
}
# The same, for those that are fields of the launch itself.
LAUNCH_FIELDS = {
    "judges.mode": "judges",
    "output_contract": "output_contract",
    "background": "background",
    "search_space": "search_space",
}


@contextmanager
def remote_opened(server: str, token: str, project: str | None) -> "Iterator[RemoteInstance]":
    wire = Wire(server_address(server), token_checked(token))
    try:
        yield RemoteInstance(wire, project)
    finally:
        wire.close()


class RemoteInstance:
    """One project of a remote instance."""

    def __init__(self, wire: Wire, project: str | None = None) -> None:
        self.wire = wire
        self.named = project

    @cached_property
    def project(self) -> str:
        if self.named:
            return self.named
        slugs = [entry["slug"] for entry in self.wire.pages("projects", {}, most=20)]
        if len(slugs) == 1:
            return str(slugs[0])
        raise Refused(f"choose a project with --project: {', '.join(slugs) or 'the token has none'}.")

    def _at(self, path: str) -> str:
        return f"projects/{quote(self.project, safe='')}/{path}"

    def settings(self) -> dict[str, Any]:
        found: dict[str, Any] = self.wire.json("GET", f"projects/{quote(self.project, safe='')}")
        return found

    # --- rubrics ----------------------------------------------------------------------------------
    def rubrics(self, *, archived: bool = False) -> list[RubricLine]:
        params = {"archived": "true"} if archived else {}
        lines = [rubric_line(entry) for entry in self.wire.pages(self._at("rubrics"), params)]
        return sorted(lines, key=lambda line: line["name"].lower())

    def rubric_text(self, slug: str, version: int | None = None) -> RubricText:
        place = self._at(f"rubrics/{quote(slug, safe='')}")
        with if_missing(f"rubric {slug!r} does not exist in project {self.project}."):
            newest = int(self.wire.json("GET", place)["version"])
        with if_missing(f"rubric {slug!r} has no version {version}; the newest is {newest}."):
            text = self.wire.ask("GET", f"{place}/yaml", params={"version": version or newest}).text
        return RubricText(slug, version or newest, text)

    def rubric_push(self, push: Push) -> Pushed:
        place = self._at(f"rubrics/{quote(push.slug, safe='')}")
        try:
            found = self.wire.ask("GET", place)
        except NotThere:
            return self._created(push)
        newest, tag = int(found.json()["version"]), found.headers["ETag"]
        there = self.wire.ask("GET", f"{place}/yaml", params={"version": newest}).text
        if there == rubric_to_yaml(rubric_from_yaml(push.text)):
            return Pushed(rubric=push.slug, version=newest, status="unchanged")
        if not push.force and push.base is None:
            raise unknown_base(push, newest)
        if not push.force and push.base != newest:
            raise newer_version(push, newest)
        # The ETag is of the version that was compared, so that a concurrent save is not overwritten.
        saved = self.wire.json(
            "PUT",
            f"{place}/yaml",
            params={"note": push.note},
            content=push.text.encode(),
            headers={**YAML, "If-Match": tag},
        )
        return Pushed(rubric=push.slug, version=saved["version"], status="saved")

    def _created(self, push: Push) -> Pushed:
        made = self.wire.json(
            "POST",
            self._at("rubric-files"),
            params={"slug": push.slug, "note": push.note},
            content=push.text.encode(),
            headers={**YAML, "Idempotency-Key": str(uuid.uuid4())},
        )
        return Pushed(rubric=made["slug"], version=made["version"], status="created")

    # --- runs -------------------------------------------------------------------------------------
    def runs(self, query: RunQuery, limit: int) -> list[RunLine]:
        found = self.wire.pages(self._at("runs"), params_of(query), most=limit)
        return [run_line(entry, self.project) for entry in found]

    def run_line(self, number: int) -> RunLine:
        return run_line(self._run(number), self.project)

    def _run(self, number: int) -> dict[str, Any]:
        with self._known(number):
            found: dict[str, Any] = self.wire.json("GET", self._at(f"runs/{number}"))
        return found

    def _known(self, number: int) -> AbstractContextManager[None]:
        return if_missing(f"run {number} does not exist in project {self.project}.")

    def run_report(self, number: int) -> RunReport:
        run = self._run(number)
        line = run_line(run, self.project)
        place = self._at(f"runs/{number}/rounds")
        numbers = [entry["number"] for entry in self.wire.pages(place, {})]
        rounds = [self.wire.json("GET", f"{place}/{entry}") for entry in numbers]
        best = next((entry for entry in rounds if entry["number"] == line["best_round"]), None)
        return RunReport(
            **line,
            judge_mode=run["judge_mode"],
            panel=[{name: judge[name] for name in PANEL_FIELDS} for judge in run["panel"]],
            rounds=[round_report(entry) for entry in rounds],
            best_candidate=best["candidate"] if best else None,
        )

    def run_act(self, number: int, verb: Verb) -> RunLine:
        with self._known(number):
            return run_line(self.wire.json("POST", self._at(f"runs/{number}/{verb}")), self.project)

    def run_answer(self, number: int, answer: str) -> RunLine:
        with self._known(number):
            place = self._at(f"runs/{number}/plateau")
            return run_line(self.wire.json("POST", place, json={"answer": answer}), self.project)

    def run_create(self, new: NewRun) -> RunLine:
        changes = new["changes"]
        unknown = sorted(set(changes) - set(SETTINGS) - set(LAUNCH_FIELDS))
        if unknown:
            raise BadInput(f"{unknown[0]} cannot be changed for a single run on a server; edit the rubric.")
        settings = {name: changes[path] for path, name in SETTINGS.items() if path in changes}
        body = {name: value for name, value in new.items() if name not in ("changes", "sources")}
        body |= {name: changes[path] for path, name in LAUNCH_FIELDS.items() if path in changes}
        sources = [{"name": source.name, "text": source.text} for source in new["sources"]]
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        given = {**body, "sources": sources, "settings": settings}
        made = self.wire.json("POST", self._at("runs"), json=given, headers=headers)
        return run_line(made["runs"][0], self.project)

    def run_document(self, number: int, form: str) -> Iterator[str]:
        self.run_line(number)  # tells a missing run from one without a text
        return self.wire.pieces(self._at(f"runs/{number}/export/{form}"))

    def runs_document(self, query: RunQuery, form: str) -> Iterator[str]:
        return self.wire.pieces(self._at(f"runs/export/{form}"), params=params_of(query))

    def training_document(self, query: RunQuery, training: Training) -> Iterator[str]:
        params = params_of(query)
        if training.run is not None:
            self.run_line(training.run)
            params["run"] = str(training.run)
        if training.least is not None:
            params["least"] = str(training.least)
        if training.with_imported:
            params["with_imported"] = "true"
        return self.wire.pieces(self._at(f"runs/training/{training.form}"), params=params)

    def import_paths(
        self,
        paths: Sequence[Path],
        *,
        dry_run: bool,
        weights: Mapping[str, Decimal] | None = None,
        on_progress: Callable[[str], None],
    ) -> ImportAnswer:
        try:
            files = [uploaded(path) for path in paths]
        except BadUpload as error:
            raise BadInput(str(error)) from None
        on_progress(f"Sending {len(files)} files")
        params = {"dry_run": "true" if dry_run else "false"}
        if weights:
            params["weights"] = ",".join(f"{name}={weight:f}" for name, weight in weights.items())
        answer: ImportAnswer = self.wire.json(
            "POST",
            self._at("imports"),
            params=params,
            files=[("file", file) for file in files],
            timeout=IMPORT_SECONDS,
        )
        return answer

    def poll_seconds(self) -> float:
        return LOOK_SECONDS


def uploaded(path: Path) -> tuple[str, bytes]:
    """A file with its name, or a folder as a zip file."""
    files = list(files_at(path))
    if path.is_file():
        return files[0].name, files[0].data
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(file.name, file.data)
    return f"{path.resolve().name}.zip", packed.getvalue()


@contextmanager
def if_missing(message: str) -> Iterator[None]:
    """Raises Refused with this message if the server responds with 404."""
    try:
        yield
    except NotThere:
        raise Refused(message) from None


def params_of(query: RunQuery) -> dict[str, str]:
    params = {
        "status": query.status,
        "outcome": query.outcome,
        "rubric": query.rubric,
        "task_type": query.task_type,
        "tag": query.tag,
        "q": query.words,
        "since": query.since.isoformat() if query.since else "",
        "archived": "true" if query.archived else "",
    }
    return {name: value for name, value in params.items() if value}


def rubric_line(entry: dict[str, Any]) -> RubricLine:
    return RubricLine(
        slug=entry["slug"],
        name=entry["name"],
        version=entry["version"],
        profile=entry["profile"],
        purpose=entry["purpose"],
        criteria=entry["criteria"],
        checks=entry["checks"],
        archived=entry["archived_at"] is not None,
    )


def run_line(entry: dict[str, Any], project: str) -> RunLine:
    return RunLine(
        run=entry["id"],
        project=project,
        title=entry["title"],
        task_type=entry["task_type"],
        status=entry["status"],
        outcome=entry["outcome"],
        stop_reason=entry["stop_reason"],
        why=entry["why"],
        rubric=f"{entry['rubric']['slug']}@{entry['rubric']['version']}",
        producer=entry["producer"],
        judge=entry["judge"],
        clerk=entry["clerk"],
        rounds_judged=entry["rounds_judged"],
        composites=[float(score) for score in entry["trajectory"]],
        r1=number(entry["r1"]),
        best=number(entry["best"]),
        best_round=entry["best_round"],
        passed_in_round=entry["passed_in_round"],
        last=number(entry["last"]),
        improvement=number(entry["improvement"]),
        tokens=entry["prompt_tokens"] + entry["completion_tokens"],
        seconds=float(entry["model_seconds"]),
        waiting_for=entry["waiting_for"],
        asking=entry["asking"],
        escalated_after=entry["escalated_after"],
        created_at=entry["created_at"],
        finished_at=entry["finished_at"],
    )


def round_report(entry: dict[str, Any]) -> dict[str, Any]:
    """A round in the shape of `refinement.selectors.runs.reports`."""
    verdict = entry["verdicts"][0] if entry["verdicts"] else {"issues": [], "asi": ""}
    same = (
        "contract_violated",
        "contract_violation",
        "penalties",
        "seen_chars",
        "candidate_chars",
        "judge_attempts",
        "signals",
        "summary",
        "key_change",
    )
    return {
        "round": entry["number"],
        "composite": number(entry["composite"]),
        "scores": {key: number(score) for key, score in (entry["scores"] or {}).items()},
        "metrics": {name: found and number(found["value"]) for name, found in entry["metrics"].items()},
        "checks": [{name: check[name] for name in CHECK_FIELDS} for check in entry["checks"]],
        "issues": verdict["issues"],
        "asi": verdict["asi"],
        "judges": [judge_report(judge) for judge in entry["judges"]],
        "spread": None if entry["spread"] is None else numbers(entry["spread"]),
        "parse_rung": entry["parse_rung"] or None,
        **{name: entry[name] for name in same},
    }


def judge_report(judge: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: judge[name] for name in ("name", "model", "asi", "problem")},
        "scores": numbers({entry["key"]: entry["score"] for entry in judge["scores"]}),
        "revised": None if judge["revised"] is None else numbers(judge["revised"]),
    }


def numbers(scores: dict[str, str]) -> dict[str, float]:
    return {key: float(score) for key, score in scores.items()}


def number(value: str | None) -> float | None:
    return None if value is None else float(value)
