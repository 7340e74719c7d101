"""Reads targets from an eval file or a `targets.yaml` file."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from refinement.evals.filling import Unreadable, file_text
from refinement.evals.native.asserting import TEXT_CHARS, command_parts
from refinement.evals.types import LOCAL_PREFIX, BadEval, Target
from refinement.interchange.imports.fields import Missing, Notes, brief
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Items, Node, Scalar, read_tree
from refinement.providers.registry import (
    COMMAND,
    FACTORIES,
    NAME,
    EndpointSpec,
    parse_target,
    scripted_specs,
    spec_from,
)

PROVIDER = re.compile(r"ollama:chat:(?P<model>\S+)")
FILE_NAMES = ("targets.yaml", "targets.yml")
REPOSITORY = ".git"  # the search for a targets file stops at the folder that contains this
MOST_TARGETS = 100
LONGEST_SECONDS = 86_400
LARGEST_OUTPUT = 50_000_000
MOST_TOKENS = 1_000_000

FILE_KEYS = {"targets": True, "providers": False}
ALL = {"name": True, "kind": True, "model": False, "judge": False, "temperature": False, "max_tokens": False}
SERVED = {"url": False, "api_key_variable": False, "concurrency": False}
KEYS: Mapping[str, Mapping[str, bool]] = {
    "ollama": ALL | {"model": True} | SERVED,
    "openai_compatible": ALL | {"model": True} | SERVED | {"url": True},
    "embedded": {key: needed for key, needed in ALL.items() if key != "model"},
    COMMAND: ALL
    | {"command": True, "shell": False, "folder": False, "timeout": False, "output_limit": False}
    | {"concurrency": False},
}


def targets_file(folder: Path) -> Path | None:
    """The nearest targets file in this folder or its parents, up to the root of the repository."""
    for place in (folder.resolve(), *folder.resolve().parents):
        for name in FILE_NAMES:
            if (place / name).is_file():
                return place / name
        if (place / REPOSITORY).exists():
            break
    return None


def read_targets_file(path: Path) -> dict[str, Target]:
    """The targets in the file. Raises BadEval with all problems."""
    notes = Notes()
    targets: dict[str, Target] = {}
    try:
        root = notes.record(read_tree(file_text(path), "target list"), path.name, FILE_KEYS)
        if not isinstance(root, Missing) and "targets" in root.values:
            targets = read_targets(notes, root.values["targets"], path.parent)
        if notes.problems:
            raise BadFile(notes.problems)
    except BadFile as bad:
        raise BadEval([f"{path}:{problem.line}: {problem.message}" for problem in bad.problems]) from None
    except Unreadable as problem:
        raise BadEval([str(problem)]) from None
    return targets


def provider_names(path: Path) -> dict[str, str]:
    """`providers` of a targets file: ids of promptfoo's providers, or their vendor, and what they stand for.

    Raises BadEval if it is not a mapping of texts to texts.
    """
    try:
        node = read_tree(file_text(path), "target list").values.get("providers")
    except (BadFile, Unreadable):
        return {}  # read_targets_file says what is wrong
    if node is None:
        return {}
    if not isinstance(node, Fields) or not all(isinstance(entry, Scalar) for entry in node.values.values()):
        raise BadEval([f"{path}:{node.line}: providers must be names of providers with a target each."])
    return {name: entry.text.strip() for name, entry in node.values.items() if isinstance(entry, Scalar)}


def read_targets(notes: Notes, node: Node, folder: Path) -> dict[str, Target]:
    """The targets by name, without invalid ones."""
    targets: dict[str, Target] = {}
    read = notes.each(node, "targets", lambda entry, name: read_target(notes, entry, name, folder))
    for target in [] if isinstance(read, Missing) else read:
        if target.name in targets:
            notes.add(node.line, f"Two targets are named {brief(target.name)}.")
        targets[target.name] = target
    if len(targets) > MOST_TARGETS:
        notes.add(node.line, f"There are {len(targets)} targets; the limit is {MOST_TARGETS}.")
    return targets


def read_target(notes: Notes, node: Node, name: str, folder: Path) -> Target | Missing:
    """Reads one target. Text is a model of the instance; a record defines a target."""
    if isinstance(node, Scalar):
        try:
            return instance_target(node.text)
        except ValueError as error:
            return notes.add(node.line, f"{name}: {error}")
    if not isinstance(node, Fields):
        return notes.add(node.line, f"{name} must be keys with values, or a text such as ollama/qwen3:14b.")
    kind = node.values.get("kind")
    if not isinstance(kind, Scalar) or kind.text not in KEYS:
        line = kind.line if kind else node.line
        return notes.add(line, f"{name}.kind must be one of: {', '.join(KEYS)}.")
    before = len(notes.problems)
    notes.record(node, f"{name} ({kind.text})", KEYS[kind.text])
    if len(notes.problems) > before:
        return Missing()
    return described(notes, node, name, kind.text, folder)


def read_providers(notes: Notes, node: Node) -> dict[str, Target]:
    """Reads promptfoo's `providers`. Only models of the instance's Ollama endpoint are supported."""
    entries = Items(node.line, [node]) if isinstance(node, Scalar) else node
    read = notes.each(entries, "providers", lambda entry, name: read_provider(notes, entry, name))
    return {target.name: target for target in ([] if isinstance(read, Missing) else read)}


def read_provider(notes: Notes, node: Node, name: str) -> Target | Missing:
    """`ollama:chat:MODEL`, alone or as the `id` of an entry."""
    if isinstance(node, Fields):
        before = len(notes.problems)
        notes.record(node, name, {"id": True})
        if len(notes.problems) > before:
            return Missing()
        node = node.values["id"]
    match = PROVIDER.fullmatch(node.text.strip()) if isinstance(node, Scalar) else None
    if match is None:
        hint = "only ollama:chat:MODEL is supported; define other models under targets."
        return notes.add(node.line, f"{name}: {hint}")
    return instance_target(f"ollama/{match['model']}")


def instance_target(text: str) -> Target:
    """A model of the instance (ENDPOINT/MODEL or `embedded`), or scripted:FILE. Raises ValueError."""
    parsed = parse_target(text)
    spec = scripted_specs(parsed.endpoint).get(parsed.endpoint)
    return Target(name=text.strip(), endpoint=parsed.endpoint, model=parsed.model, spec=spec)


def described(notes: Notes, node: Fields, name: str, kind: str, folder: Path) -> Target | Missing:
    read = TargetFields(notes, node, name)
    own = read.text("name")
    if not NAME.fullmatch(own):
        notes.add(node.lines["name"], f"{name}.name must be letters, digits, '.', '_' or '-'.")
    options = command_options(read, folder) if kind == COMMAND else {}
    concurrency = read.whole("concurrency", 1_000)
    temperature = read.number("temperature", Decimal(0), most=2)
    max_tokens = read.whole("max_tokens", MOST_TOKENS)
    if read.failed:
        return Missing()
    entry: dict[str, object] = {
        "name": own,
        "kind": kind,
        "url": read.text("url"),
        "concurrency": concurrency,
    }
    entry["api_key_variable"] = read.text("api_key_variable")
    try:
        spec = local_spec(entry, options)
    except ValueError as error:
        return notes.add(node.line, f"{name}: {str(error).removeprefix('target.')}")
    if kind == "embedded":
        model = parse_target("embedded").model
        return Target(own, "embedded", model, None, read.text("judge"), temperature, max_tokens)
    model = read.text("model") or own
    return Target(own, spec.name, model, spec, read.text("judge"), temperature, max_tokens)


def local_spec(entry: dict[str, object], options: Mapping[str, object]) -> EndpointSpec:
    """The endpoint with a name that cannot clash with the instance's endpoints."""
    name = f"{LOCAL_PREFIX}{entry['name']}"
    if entry["kind"] not in FACTORIES:
        limit = entry["concurrency"]
        assert limit is None or isinstance(limit, int)
        return EndpointSpec(name, str(entry["kind"]), options=options, concurrency=limit)
    checked = spec_from(entry, "target")
    return EndpointSpec(name, checked.kind, checked.url, checked.api_key_variable, {}, checked.concurrency)


def command_options(read: "TargetFields", folder: Path) -> dict[str, object]:
    """The options of a command target. Paths are relative to the file's folder."""
    shell = read.flag("shell")
    node = read.node.values["command"]
    if shell:
        text = read.text("command")
        parts: tuple[str, ...] | Missing = (text,) if text else Missing()
    else:
        parts = command_parts(read.notes, node, f"{read.name}.command")
    options: dict[str, object] = {
        "command": [] if isinstance(parts, Missing) else list(parts),
        "folder": str((folder / read.text("folder")).resolve()),
        "shell": shell,
    }
    for key, option, most in (
        ("timeout", "timeout", LONGEST_SECONDS),
        ("output_limit", "output_bytes", LARGEST_OUTPUT),
    ):
        value = read.whole(key, most)
        if value is not None:
            options[option] = value
    return options


class TargetFields:
    """Reads the fields of one target. Missing fields are empty."""

    def __init__(self, notes: Notes, node: Fields, name: str) -> None:
        self.notes, self.node, self.name = notes, node, name
        self._before = len(notes.problems)

    @property
    def failed(self) -> bool:
        return len(self.notes.problems) > self._before

    def _read(self, key: str, read: Callable[[Node, str], object]) -> object:
        node = self.node.values.get(key)
        value = read(node, f"{self.name}.{key}") if node is not None else None
        return None if isinstance(value, Missing) else value

    def text(self, key: str) -> str:
        value = self._read(key, lambda node, name: self.notes.text(node, name, most=TEXT_CHARS))
        return str(value or "").strip()

    def whole(self, key: str, most: int) -> int | None:
        value = self._read(key, lambda node, name: self.notes.whole(node, name, least=1, most=most))
        return value if isinstance(value, int) else None

    def flag(self, key: str) -> bool:
        return bool(self._read(key, self.notes.flag))

    def number(self, key: str, default: Decimal, *, most: int) -> Decimal:
        value = self._read(key, lambda node, name: self.notes.number(node, name, places=4))
        if not isinstance(value, Decimal):
            return default
        if not 0 <= value <= most:
            self.notes.add(self.node.lines[key], f"{self.name}.{key} must be between 0 and {most}.")
        return value
