"""Reads promptfoo's providers and AgentV's targets as targets of Wiggum."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from refinement.evals.dialects.numbers import number_of
from refinement.evals.dialects.reader import Reader, without_scheme
from refinement.evals.filling import FILE
from refinement.evals.sources.plain import data, text_of
from refinement.evals.targets import instance_target
from refinement.evals.types import LOCAL_PREFIX, Dialect, Target
from refinement.interchange.imports.fields import brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar
from refinement.providers.registry import COMMAND, EndpointSpec

OLLAMA = re.compile(r"ollama:(?:chat:|completion:)?(?P<model>[^\s:][^\s]*)")
EMBEDDING = re.compile(r"ollama:embeddings?:")
OPENAI = re.compile(r"openai:(?:chat:|completion:|responses:)?(?P<model>[^\s:][^\s]*)")
NAME = re.compile(r"[^A-Za-z0-9._-]+")
UNKNOWN = "is not a model of Wiggum. Use --target, or map it under providers in targets.yaml."
OWN = "--target is used."


@dataclass(slots=True)
class ProviderReader:
    """Reads the providers of one file. `mapped` is the setting in targets.yaml: ids to targets."""

    reader: Reader
    mapped: Mapping[str, str]

    def targets(self, root: Fields) -> tuple[dict[str, Target], tuple[str, ...]]:
        """The targets that the file defines, and the names of those that it runs with."""
        reader = self.reader
        nodes = [
            (key, root.values[key])
            for key in ("providers", "targets")
            if not is_nothing(root.values.get(key))
        ]
        if reader.own_targets:
            for key, node in nodes:
                for entry in entries_of(node):
                    reader.log.ignore(entry.line, key, OWN)
            return {}, ()
        if reader.dialect == Dialect.AGENTV:
            return {}, tuple(name for _, node in nodes for name in map(label_of, entries_of(node)) if name)
        found: dict[str, Target] = {}
        for key, node in nodes:
            for place, entry in enumerate(entries_of(node), 1):
                for target in self.entry(entry, f"{key}, entry {place}"):
                    found[target.name] = target
        return found, tuple(found)

    def entry(self, node: Node, name: str) -> Iterator[Target]:
        if (
            isinstance(node, Scalar)
            and node.text.startswith(FILE)
            and node.text.endswith((".yaml", ".yml", ".json"))
        ):
            yield from self.from_file(node, name)
        elif isinstance(node, Scalar):
            target = self.target(node.text.strip(), node.line, name)
            if target:
                yield target
        elif isinstance(node, Fields):
            yield from self.record(node, name)
        else:
            self.reader.log.add(node.line, f"{name} must be a text, or keys with values such as id.")

    def from_file(self, node: Scalar, name: str) -> Iterator[Target]:
        read = self.reader.text(without_scheme(node.text), node.line, name)
        tree = self.reader.tree(*read) if isinstance(read, tuple) else None
        for entry in entries_of(tree) if isinstance(tree, Fields | Items) else []:
            yield from self.entry(entry, name)

    def record(self, node: Fields, name: str) -> Iterator[Target]:
        identity = node.values.get("id")
        if not isinstance(identity, Scalar):
            self.reader.log.add(node.line, f"{name} needs id.")
            return
        target = self.target(identity.text.strip(), identity.line, name)
        if target is None:
            return
        label = node.values.get("label")
        if isinstance(label, Scalar) and label.text.strip():
            target = replace(target, name=" ".join(label.text.split()))
        if "transform" in node.values:
            line = node.lines["transform"]
            self.reader.log.add(line, f"{name}: transform is not supported: it changes the answer with code.")
        if "prompts" in node.values:
            self.reader.log.ignore(
                node.lines["prompts"], "prompts of a provider", "Every target gets all prompts."
            )
        config = node.values.get("config")
        yield self.configured(target, config, name) if isinstance(config, Fields) else target

    def configured(self, target: Target, config: Fields, name: str) -> Target:
        """The target with its temperature and reply limit."""
        for key, value in config.values.items():
            if key == "temperature":
                temperature = number_of(self.reader.log, value, f"{name}.temperature", most=Decimal(2))
                target = replace(target, temperature=temperature or Decimal(0))
            elif key in ("max_tokens", "num_predict", "maxTokens"):
                limit = number_of(self.reader.log, value, f"{name}.{key}", most=Decimal(1_000_000))
                target = replace(target, max_tokens=int(limit) if limit and limit >= 1 else None)
            else:
                self.reader.log.ignore(
                    config.lines[key], f"{key} of a provider", "The endpoint's own settings are used."
                )
        return target

    def target(self, identity: str, line: int, name: str) -> Target | None:
        """The target that an id stands for."""
        chosen = self.mapping(identity)
        try:
            if chosen:
                return replace(instance_target(chosen), name=identity)
            match = None if EMBEDDING.match(identity) else OLLAMA.fullmatch(identity)
            if match:
                return instance_target(f"ollama/{match['model']}")
            if identity.startswith("exec:"):
                return self.command(identity.removeprefix("exec:").strip())
        except ValueError as error:
            self.reader.log.add(line, f"{name}: {error}")
            return None
        self.reader.log.add(line, f"{name}: {brief(identity)} {UNKNOWN}")
        return None

    def mapping(self, identity: str) -> str:
        """The target that targets.yaml names for this id, its beginning with a star, or its vendor."""
        if identity in self.mapped:
            return self.mapped[identity]
        for pattern, chosen in self.mapped.items():
            if pattern.endswith("*") and identity.startswith(pattern[:-1]):
                return chosen
        vendor = OPENAI.fullmatch(identity)
        if vendor and "openai" in self.mapped:
            return f"{self.mapped['openai']}/{vendor['model']}"
        return ""

    def command(self, text: str) -> Target:
        """A command of the caller's machine, which gets the prompt on stdin."""
        parts = shlex.split(text)
        if not parts:
            raise ValueError("exec: needs a command.")
        name = NAME.sub("-", f"exec-{Path(parts[0]).name}").strip("-")[:60]
        options = {"command": parts, "folder": str(self.reader.folder.resolve()), "shell": False}
        spec = EndpointSpec(f"{LOCAL_PREFIX}{name}", COMMAND, options=options)
        return Target(name, spec.name, name, spec)


def entries_of(node: Node) -> list[Node]:
    """The providers: a list, one text, one record, or a mapping of ids to settings."""
    if isinstance(node, Items):
        found: list[Node] = []
        for entry in node.values:
            found += entries_of(entry) if isinstance(entry, Fields) and "id" not in entry.values else [entry]
        return found
    if isinstance(node, Fields) and "id" not in node.values and "name" not in node.values:
        made: list[Node] = []
        for key, value in node.values.items():
            line = node.lines[key]
            inner = value if isinstance(value, Fields) else Fields(line)
            identity = {"id": Scalar(line, key, plain=False)}
            made.append(Fields(line, {**identity, **inner.values}, {"id": line, **inner.lines}))
        return made
    return [node]


def label_of(node: Node) -> str:
    """The name of an AgentV target."""
    if isinstance(node, Scalar):
        return node.text.strip()
    keys = ("label", "name", "id")
    return next(
        (text_of(data(node.values[key])) for key in keys if isinstance(node, Fields) and key in node.values),
        "",
    )
