"""Runs the checks that need this machine: scripts, Python and similarity. Only the caller's own commands."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from refinement.engine.types import Check
from refinement.evals.local.grading import script_grade
from refinement.evals.local.python_checks import PYTHON_SECONDS, WRAPPER, python_grade
from refinement.evals.local.similarity import Embed, similarity
from refinement.evals.local.workspaces import Opened
from refinement.evals.types import Case
from refinement.judging.checks import CannotCheck, LocalRunner
from refinement.judging.checks.kinds import PASSED, Broken, Finding
from refinement.providers.base import CallControl, Cancelled
from refinement.providers.processes import Command, CommandResult, run_command

OUTPUT_CHARS = 600
PYTHON = "WIGGUM_PYTHON"  # the interpreter of python assertions


class _TooLong(Exception):
    """The command timed out."""


@dataclass(frozen=True, slots=True)
class LocalChecks:
    """Runs the local checks of one case."""

    folder: Path
    case: Case | None = None
    embed: Embed | None = None
    workspace: Opened | None = None

    def controlled(self, control: CallControl) -> LocalRunner:
        """The runner for one step. It stops when the step is cancelled."""

        def run(check: Check, candidate: str) -> Finding:
            try:
                return _negated(check, self._finding(check, candidate, control))
            except Broken as problem:
                return Finding(False, f"The check itself failed: {problem}")

        return run

    def _finding(self, check: Check, candidate: str, control: CallControl) -> Finding:
        if check.kind == "python":
            return self._python(check, candidate, control)
        if check.kind == "similar":
            if self.embed is None:
                raise CannotCheck("similar needs a model for embeddings. Set provider in the assertion.")
            return similarity(check, candidate, self.embed)
        return self._script(check, candidate, control)

    def _script(self, check: Check, candidate: str, control: CallControl) -> Finding:
        parameters = check.parameters
        command = Command(_parts(parameters["command"]), str(parameters.get("cwd") or self.folder))
        contract = parameters.get("contract") == "json"
        given = json.dumps(self.facts(check, candidate)) if contract else candidate
        ended = carried_out(command, given, float(str(parameters["timeout"])), control)
        if isinstance(ended, Finding):
            return ended
        if contract:
            return script_grade(check, command.name, ended)
        return PASSED if ended.code == 0 else Finding(False, failure_message(command, ended))

    def _python(self, check: Check, candidate: str, control: CallControl) -> Finding:
        given = {
            "output": candidate,
            **{key: check.parameters.get(key) for key in ("code", "file", "function")},
        }
        given["context"] = check.parameters.get("context") or {}
        command = Command([python_path(), "-c", WRAPPER], str(self.folder))
        ended = carried_out(command, json.dumps(given, default=dict), PYTHON_SECONDS, control)
        return ended if isinstance(ended, Finding) else python_grade(check, ended)

    def facts(self, check: Check, candidate: str) -> dict[str, object]:
        """What a script grader reads on stdin, as AgentV documents it."""
        case = self.case
        messages = [{"role": part.role, "content": part.content} for part in case.messages] if case else []
        expected = [{"role": "assistant", "content": case.expected}] if case and case.expected else []
        answer = [{"role": "assistant", "content": candidate}]
        return {
            "input": messages,
            "input_files": [],
            "workspace_path": str(self.workspace.folder) if self.workspace else None,
            "file_changes": self.workspace.changes() if self.workspace else None,
            "output": candidate,
            "answer": candidate,
            "question": case.prompt if case else "",
            "expected_output": expected,
            "reference_answer": case.expected if case else "",
            "criteria": str(case.metadata.get("criteria", "")) if case else "",
            "messages": answer,
            "vars": dict(case.variables) if case else {},
            "metadata": dict(case.metadata) if case else {},
            "config": check.parameters.get("config"),
            "trace_summary": {"event_count": 0, "tool_calls": {}, "error_count": 0, "llm_call_count": 1},
        }


def carried_out(
    command: Command, given: str, seconds: float, control: CallControl
) -> CommandResult | Finding:
    """How the command ended, or the finding that it took too long. Raises Cancelled, CannotCheck."""
    until = time.monotonic() + seconds

    def check_limits() -> None:
        if control.is_cancelled():
            raise Cancelled(f"The script {command.name} was stopped.")
        if time.monotonic() > until:
            raise _TooLong

    try:
        return run_command(command, given, check_limits)
    except _TooLong:
        return Finding(False, f"The script {command.name} did not come to an end within {seconds:g} seconds.")
    except OSError as error:
        raise CannotCheck(
            f"the script {command.name} cannot be started ({error.strerror}). Check its path and permissions."
        ) from error


def failure_message(command: Command, ended: CommandResult) -> str:
    """The script's output, for people and for the next prompt."""
    if ended.too_long:
        return f"The script {command.name} wrote more than {command.output_bytes:,} bytes."
    output = (ended.out.strip() or ended.err.strip())[:OUTPUT_CHARS]
    return output or f"The script {command.name} ended with status {ended.code}."


def python_path() -> str:
    """The caller's Python: $WIGGUM_PYTHON, or the first one on the PATH, or this one."""
    return os.environ.get(PYTHON) or shutil.which("python3") or shutil.which("python") or sys.executable


def _negated(check: Check, finding: Finding) -> Finding:
    if not check.parameters.get("negate"):
        return finding
    score = None if finding.score is None else 1 - finding.score
    if finding.passed:
        return Finding(False, f"{check.kind} accepts the text, which must not be.", score=score)
    return Finding(True, score=score)


def _parts(command: object) -> Sequence[str]:
    assert isinstance(command, list | tuple)
    return tuple(str(part) for part in command)


Controlled = Callable[[CallControl], LocalRunner]
