"""Reads assertions that run programs: scripts, and code in files."""

import re
import shlex
import shutil
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from refinement.evals.dialects.keys import SCRIPT
from refinement.evals.dialects.numbers import number_of
from refinement.evals.dialects.reader import Reader
from refinement.evals.filling import Unreadable, file_text
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Dialect
from refinement.interchange.imports.fields import brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Scalar

SECONDS = 60
PROXY = "scripts that call a model through AgentV are not supported. Use llm-rubric."
NOT_INSTALLED = "It is not installed here. Install it before you run the eval."
ENDINGS: Mapping[str, tuple[str, ...]] = {
    "javascript": (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts"),
    "python": (".py",),
}
TYPESCRIPT = (".ts", ".cts", ".mts")
OWN_TYPE = re.compile(r"[A-Za-z0-9][\w-]*")
OWN_TYPES = ".agentv/assertions"  # the folder with the types of assertions that a project adds
RUNNERS: Mapping[str, tuple[str, ...]] = {
    ".py": ("python3",),
    ".ts": ("bun", "run"),
    ".mts": ("bun", "run"),
    ".js": ("node",),
    ".mjs": ("node",),
    ".sh": ("sh",),
}


def own_type(reader: Reader, node: Fields, kind: str) -> Fields | None:
    """The assertion as a script, if a file in AgentV's folder of own types has the type's name."""
    if reader.dialect != Dialect.AGENTV or not OWN_TYPE.fullmatch(kind):
        return None
    files = (reader.found(f"{OWN_TYPES}/{kind}{ending}") for ending in RUNNERS)
    path = next(filter(None, files), None)
    if path is None:
        return None
    command = Scalar(node.line, shlex.quote(str(path.absolute())), plain=False)
    return Fields(node.line, {**node.values, "command": command}, {**node.lines, "command": node.line})


def script_parameters(reader: Reader, node: Fields, name: str) -> dict[str, object] | None:
    """The command, its folder, its time limit, and all other keys as its configuration."""
    command = command_of(reader, node, name)
    if command is None:
        return None
    if isinstance(node.values.get("target"), Fields):
        reader.log.add(node.lines["target"], f"{name}: {PROXY}")
    if "/" not in command[0] and shutil.which(command[0]) is None:
        reader.log.ignore(node.line, f"the program {command[0]}", NOT_INSTALLED)
    cwd = node.values.get("cwd")
    place = Path(text_of(data(cwd))) if cwd is not None and not is_nothing(cwd) else None
    config = {key: data(value) for key, value in node.values.items() if key not in SCRIPT}
    given = data(node.values.get("config"))
    if isinstance(given, dict):
        config |= given
    return {
        "command": command,
        "cwd": str((reader.folder / place if place else reader.folder).absolute()),
        "timeout": seconds_of(reader, node, name),
        "contract": "json",
        "config": config,
    }


def command_of(reader: Reader, node: Fields, name: str) -> list[str] | None:
    """The command as a list. A text is split as a shell does; a lone script gets its interpreter."""
    found = next(
        (node.values[key] for key in ("command", "script", "value", "path") if key in node.values), None
    )
    if found is None or is_nothing(found):
        reader.log.add(node.line, f"{name} needs command, such as [python3, check.py].")
        return None
    if isinstance(found, Items):
        parts = [text_of(data(part)) for part in found.values]
    elif isinstance(found, Fields):
        reader.log.add(found.line, f"{name}.command must be a text or a list.")
        return None
    else:
        try:
            parts = shlex.split(found.text)
        except ValueError as error:
            reader.log.add(found.line, f"{name}: the command cannot be split ({error}). Write it as a list.")
            return None
    if not parts or not parts[0].strip():
        reader.log.add(found.line, f"{name}: the command is empty.")
        return None
    if len(parts) == 1:
        return [*RUNNERS.get(Path(parts[0]).suffix.lower(), ()), *parts]
    return parts


def seconds_of(reader: Reader, node: Fields, name: str) -> int:
    for key, per_second in (("timeout", 1), ("timeout_seconds", 1), ("timeout_ms", 1000)):
        if key in node.values:
            number = number_of(reader.log, node.values[key], f"{name}.{key}", most=Decimal(86_400_000))
            if number:
                # AgentV counts `timeout` in milliseconds, too.
                scale = 1000 if key == "timeout" and number >= 1000 else per_second
                return max(1, int(number / scale))
    return SECONDS


def code_file(
    reader: Reader, wanted: str, line: int, kind: str, name: str
) -> tuple[object, dict[str, object]] | None:
    """The code in a file, maybe with the function to call: `checks.py:is_polite`."""
    if wanted.startswith("package:"):
        reader.log.add(line, f"{name}: code from packages is not supported.")
        return None
    path_text, colon, function = wanted.rpartition(":")
    if not colon or not path_text.lower().endswith(ENDINGS["javascript"] + ENDINGS["python"]):
        path_text, function = wanted, ""
    if not path_text.lower().endswith(ENDINGS[kind]):
        endings = ", ".join(ENDINGS[kind])
        reader.log.add(line, f"{name}: {brief(path_text)} is not {kind} code ({endings}).")
        return None
    if path_text.lower().endswith(TYPESCRIPT):
        reader.log.add(line, f"{name}: {path_text}: TypeScript is not supported. Compile it to JavaScript.")
        return None
    path = reader.found(path_text)
    if path is None:
        reader.log.add(line, f"{name}: the file {path_text} was not found.")
        return None
    try:
        text = file_text(path)
    except Unreadable as problem:
        reader.log.add(line, f"{name}: {problem}")
        return None
    more: dict[str, object] = {"file": str(path.absolute())}
    return text, more | ({"function": function} if function else {})
