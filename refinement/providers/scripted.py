"""Replies from a file, in order and by role, for tests, demos and bug reports."""

import json
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from refinement.providers.base import (
    CallControl,
    CompletionRequest,
    ErrorKind,
    Health,
    ModelInfo,
    ProviderError,
    Reply,
)
from refinement.providers.cancelling import calling

MODEL = "scripted"
ROLES = ("judge", "producer", "clerk")
RETRYABLE = frozenset({ErrorKind.UNREACHABLE, ErrorKind.TIMEOUT, ErrorKind.BAD_REPLY})
FIELDS: dict[str, tuple[type, ...]] = {
    "role": (str,),
    "text": (str,),
    "thinking": (str,),
    "error": (str,),
    "message": (str,),
    "retryable": (bool,),
    "retry_after": (int, float),
    "delay": (int, float),
    "finish_reason": (str,),
    "prompt_tokens": (int,),
    "completion_tokens": (int,),
    "cached_tokens": (int,),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the script; `number` is its line number in the file."""

    number: int
    entry: Mapping[str, Any]


class ScriptedProvider:
    """Answers a role's request k with its line k; `consumed` is the number of earlier requests by role."""

    def __init__(self, path: str | Path, consumed: Mapping[str, int] | None = None) -> None:
        self._path = Path(path)
        self._lines = _read(self._path)
        self._taken = Counter(consumed or {})
        self._lock = threading.Lock()

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """The reply or error in the next line for the request's role, after the line's delay."""
        line = self._next(request.role)
        entry = line.entry
        with calling(control, f"The script {self._path.name}") as call:
            call.pause(entry.get("delay", 0))
            if "error" in entry:
                raise self._error(line)
            control.on_text(entry["text"])
            return Reply(
                text=entry["text"],
                thinking=entry.get("thinking", ""),
                model=MODEL,
                prompt_tokens=entry.get("prompt_tokens", 0),
                completion_tokens=entry.get("completion_tokens", 0),
                cached_tokens=entry.get("cached_tokens"),
                seconds=call.elapsed(),
                finish_reason=entry.get("finish_reason", "stop"),
            )

    def _next(self, role: str) -> Line:
        with self._lock:
            self._taken[role] += 1
            number = self._taken[role]
        lines = self._lines.get(role, [])
        if number > len(lines):
            raise ProviderError(
                ErrorKind.BAD_REPLY,
                f"The script {self._path.name} has {len(lines)} line{'' if len(lines) == 1 else 's'} for the "
                f"{role}, but line {number} is needed. Add the missing line.",
                retryable=False,
            )
        return lines[number - 1]

    def _error(self, line: Line) -> ProviderError:
        kind = ErrorKind(line.entry["error"])
        message = (
            line.entry.get("message") or f"Line {line.number} of the script {self._path.name} says {kind}."
        )
        return ProviderError(
            kind,
            message,
            retryable=line.entry.get("retryable", kind in RETRYABLE),
            retry_after=line.entry.get("retry_after"),
        )

    def models(self) -> list[ModelInfo]:
        """Empty: a script is not a model to choose."""
        return []

    def model_info(self, name: str) -> ModelInfo:
        """The given name, without a context length."""
        return ModelInfo(name=name, family=MODEL)

    def health(self) -> Health:
        """Always ok: the script was read when the provider was created."""
        count = sum(len(lines) for lines in self._lines.values())
        return Health(True, f"The script {self._path.name} has {count} lines.")


def _read(path: Path) -> dict[str, list[Line]]:
    try:
        texts = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ProviderError(
            ErrorKind.MODEL_MISSING, f"The script {path} cannot be read ({error}).", retryable=False
        ) from error
    lines: dict[str, list[Line]] = {}
    for number, text in enumerate(texts, start=1):
        if text.strip():
            entry = _checked(text, f"Line {number} of the script {path.name}")
            lines.setdefault(entry["role"], []).append(Line(number, entry))
    return lines


def _checked(text: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(text)
    except ValueError as error:
        raise _wrong(f"{where} is not valid JSON ({error}).") from error
    if not isinstance(entry, dict):
        raise _wrong(f"{where} must be a JSON object.")
    for name, value in entry.items():
        if name not in FIELDS:
            raise _wrong(f"{where} has an unknown field {name!r}; known are {', '.join(FIELDS)}.")
        if not isinstance(value, FIELDS[name]):
            raise _wrong(f"{where}: the field {name!r} must be {FIELDS[name][-1].__name__}.")
    if entry.get("role") not in ROLES:
        raise _wrong(f"{where}: the role must be one of {', '.join(ROLES)}.")
    if ("text" in entry) == ("error" in entry):
        raise _wrong(f"{where} needs either a text or an error.")
    if "error" in entry and entry["error"] not in tuple(ErrorKind):
        raise _wrong(f"{where}: the error must be one of {', '.join(ErrorKind)}.")
    return entry


def _wrong(message: str) -> ProviderError:
    return ProviderError(ErrorKind.BAD_REPLY, message, retryable=False)
