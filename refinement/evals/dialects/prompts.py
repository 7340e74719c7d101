"""Reads `prompts`: texts, files, globs, chat messages and records. Fills them into messages."""

import glob
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from refinement.evals.dialects.messages import MessageReader, is_messages
from refinement.evals.dialects.reader import CODE, Reader, is_code, without_scheme
from refinement.evals.filling import FILE
from refinement.evals.sources.csv_rows import csv_rows
from refinement.evals.sources.plain import data, storable
from refinement.evals.types import Dialect, Message
from refinement.interchange.imports.fields import Missing
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Items, Node, Scalar

TEXT_FILES = (".txt", ".md", ".j2", ".jinja", ".jinja2", ".prompt", ".tmpl", ".text")
DATA_FILES = (".json", ".jsonl", ".yaml", ".yml", ".csv")
SCRIPTS = (".sh", ".bash", ".rb", ".pl", ".php", ".exe", ".bat", ".ps1")
SEPARATOR = re.compile(r"(?:^|\n)---[ \t]*(?:\r?\n|$)")
WHOLE = re.compile(r"\s*\{\{-?\s*(?:vars\.)?([A-Za-z_]\w*)\s*-?\}\}\s*")
REMOTE = ("pf", "langfuse", "portkey", "helicone", "ftp", "http", "https", "package", "opik", "az", "s3")
LABEL_CHARS = 60
MOST_PROMPTS = 1_000
FUNCTION = "prompt functions are not supported. Write the prompt as text."


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt before its variables are filled: a text, or messages as data."""

    label: str
    line: int
    source: object  # a text, or a list of messages
    path: Path | None = None


class PromptReader:
    """Reads the prompts of one file."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def read(self, node: Node | None) -> list[Template]:
        """All prompts with distinct labels. Without `prompts` there is none."""
        if node is None:
            return []
        found: list[Template] = []
        for place, entry in enumerate(self.entries(node), 1):
            found += self.entry(entry, f"prompts, entry {place}")
            if len(found) > MOST_PROMPTS:
                self.log.add(node.line, f"There are more than {MOST_PROMPTS:,} prompts.")
                break
        if len(found) == 1:
            return found
        return [
            replace(prompt, label=prompt.label or f"prompt {place}") for place, prompt in enumerate(found, 1)
        ]

    def entries(self, node: Node) -> list[Node]:
        """A list, one text, or the older mapping of files to labels."""
        if isinstance(node, Items):
            return node.values
        if isinstance(node, Fields) and not {"raw", "id", "prompt"} & node.values.keys():
            made: list[Node] = []
            for name, label in node.values.items():
                line = node.lines[name]
                made.append(
                    Fields(
                        line,
                        {"id": Scalar(line, name, plain=False), "label": label},
                        {"id": line, "label": line},
                    )
                )
            return made
        if isinstance(node, Scalar) and node.text.startswith(FILE) and node.text.endswith((".yaml", ".yml")):
            return self.listed(node)
        return [node]

    def listed(self, node: Scalar) -> list[Node]:
        """The prompts that another YAML file lists; a file with messages is one prompt."""
        path = self.reader.found(without_scheme(node.text))
        read = self.reader.content(path, node.line, "prompts") if path else Missing()
        tree = self.reader.tree(*read) if isinstance(read, tuple) else Missing()
        if isinstance(tree, Items) and not is_messages(data(tree)):
            return tree.values
        return [node]

    def entry(self, node: Node, name: str) -> list[Template]:
        if isinstance(node, Scalar):
            return self.text(node.text, node.line, name, "")
        if isinstance(node, Items):
            return [Template("", node.line, data(node))]
        label_node = node.values.get("label") or node.values.get("display")
        if label_node is None and {"raw", "prompt"} & node.values.keys():
            label_node = node.values.get("id")
        label = " ".join(label_node.text.split())[:LABEL_CHARS] if isinstance(label_node, Scalar) else ""
        if "config" in node.values:
            self.log.ignore(node.lines["config"], "config of a prompt", "The target's own settings are used.")
        for key in ("raw", "prompt", "id", "file", "template"):
            source = node.values.get(key)
            if source is None:
                continue
            if "function" in node.values:
                self.log.add(node.line, f"{name}: {FUNCTION}")
                return []
            if isinstance(source, Scalar):
                return self.text(source.text, source.line, name, label)
            return [Template(label, node.line, data(source))]
        return self.chat(node, name, label)

    def chat(self, node: Fields, name: str, label: str) -> list[Template]:
        """A prompt that is one message, or has `messages`."""
        if "role" in node.values:
            return [Template(label, node.line, [data(node)])]
        messages = node.values.get("messages")
        if isinstance(messages, Items):
            return [Template(label, node.line, self.with_files(data(messages), messages.line, name))]
        self.log.add(node.line, f"{name} needs raw, prompt, messages or id.")
        return []

    def with_files(self, messages: object, line: int, name: str) -> object:
        """The messages with the text of the files that their contents name."""
        for message in messages if isinstance(messages, list) else []:
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, str) and content.startswith(FILE):
                read = self.reader.text(without_scheme(content).strip(), line, name)
                message["content"] = read[1].strip() if isinstance(read, tuple) else ""
        return messages

    def text(self, text: str, line: int, name: str, label: str) -> list[Template]:
        """A prompt's text, or the prompts in the file or files that it names."""
        text = self.reader.filled(text, {}, line, name) if "env." in text and text.startswith(FILE) else text
        if text.startswith("exec:"):
            self.log.add(line, f"{name}: prompts made by a program are not supported.")
            return []
        scheme, separator, _ = text.partition("://")
        if separator and scheme in REMOTE and "\n" not in text.strip() and " " not in text.strip():
            self.log.add(
                line, f"{name}: prompts from {scheme}:// are not supported. Copy the prompt into a file."
            )
            return []
        wanted = without_scheme(text).strip()
        if text.startswith(FILE) or self.names_file(wanted):
            return self.files(wanted, line, name, label)
        if self.reader.dialect == Dialect.PROMPTFOO and "\n---\n" in text:
            return self.several(text, line, label, None)
        return [Template(label, line, storable(text))]

    def names_file(self, text: str) -> bool:
        """Whether a text without file:// is a path, as promptfoo allows."""
        if not text or len(text) > 250 or "\n" in text or "{{" in text:
            return False
        lower = text.lower()
        path_like = lower.endswith((*TEXT_FILES, *DATA_FILES, *SCRIPTS, *CODE)) or is_code(lower)
        if path_like and " " not in text:
            return True
        return self.reader.found(text) is not None or (path_like and glob.has_magic(text))

    def files(self, wanted: str, line: int, name: str, label: str) -> list[Template]:
        if is_code(wanted):
            self.log.add(line, f"{name}: {wanted}: {FUNCTION}")
            return []
        if wanted.lower().endswith(SCRIPTS):
            self.log.add(line, f"{name}: {wanted}: prompts made by a program are not supported.")
            return []
        paths = self.reader.matching(wanted)
        if not paths:
            self.log.add(line, f"{name}: the file {wanted} was not found.")
        made: list[Template] = []
        for path in paths:
            read = self.reader.content(path, line, name)
            if isinstance(read, tuple):
                made += self.of_file(
                    *read, line, label if len(paths) == 1 else label and f"{label}: {path.name}"
                )
        return made

    def of_file(self, path: Path, text: str, line: int, label: str) -> list[Template]:
        suffix = path.suffix.lower()
        if suffix == ".csv":
            return self.of_csv(path, text, line, label)
        if suffix == ".jsonl":
            tree = self.reader.tree(path, text)
            values = data(tree) if isinstance(tree, Items) else []
            assert isinstance(values, list)
            return [Template(label, line, value, path) for value in values]
        if suffix in (".yaml", ".yml") and "{%" not in text:
            tree = self.reader.tree(path, text)
            value = data(tree) if not isinstance(tree, Missing) else None
            return [Template(label, line, value if is_messages(value) else text, path)]
        if suffix in TEXT_FILES:
            return self.several(text, line, label, path)
        return [Template(label, line, text.strip(), path)]

    def of_csv(self, path: Path, text: str, line: int, label: str) -> list[Template]:
        """One prompt per row, in the column `prompt`, or the only one."""
        try:
            rows = csv_rows(text)
        except BadFile as bad:
            with self.log.inside(path):
                self.log.add_all(bad)
            return []
        made = []
        for row in rows:
            prompt = row.cells.get("prompt") or next(iter(row.cells.values()))
            made.append(Template(row.cells.get("label") or label, line, prompt, path))
        return made

    def several(self, text: str, line: int, label: str, path: Path | None) -> list[Template]:
        """The prompts of a text, which lines of --- separate."""
        parts = [part.strip() for part in SEPARATOR.split(text) if part.strip()]
        return [
            Template(
                f"{label} {place}".strip() if label and len(parts) > 1 else label, line, storable(part), path
            )
            for place, part in enumerate(parts, 1)
        ]

    # --- filling ------------------------------------------------------------------------------
    def messages(self, prompt: Template, values: Mapping[str, object], name: str) -> tuple[Message, ...]:
        """The prompt with these values as messages."""
        reader = MessageReader(self.reader)
        source = prompt.source
        if isinstance(source, str):
            whole = WHOLE.fullmatch(source)
            if whole and not isinstance(values.get(whole[1]), str | None):
                return reader.read(values[whole[1]], prompt.line, name)
            chat = chat_of(source)
            if chat is None:
                return self.from_text(self.reader.filled(source, values, prompt.line, name), prompt, name)
            source = chat
        return reader.read(self.deeply(source, values, prompt.line, name), prompt.line, name)

    def from_text(self, text: str, prompt: Template, name: str) -> tuple[Message, ...]:
        chat = chat_of(text)
        return MessageReader(self.reader).read(text if chat is None else chat, prompt.line, name)

    def of_data(self, value: object, line: int, name: str) -> tuple[Message, ...]:
        """Filled data as messages."""
        return MessageReader(self.reader).read(value, line, name)

    def deeply(self, value: object, values: Mapping[str, object], line: int, name: str) -> object:
        """The data with every text filled. A text that is one variable takes the variable's data."""
        if isinstance(value, str):
            whole = WHOLE.fullmatch(value)
            if whole and isinstance(values.get(whole[1]), list | dict):
                return values[whole[1]]
            return self.reader.filled(value, values, line, name)
        if isinstance(value, list):
            return [self.deeply(entry, values, line, name) for entry in value]
        if isinstance(value, dict):
            return {key: self.deeply(entry, values, line, name) for key, entry in value.items()}
        return value


def chat_of(text: str) -> object | None:
    """The messages that a text holds as JSON; None if it is something else."""
    stripped = text.strip()
    if not stripped.startswith(("[", "{")) or '"role"' not in stripped:
        return None
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict) and is_messages(value.get("messages")):
        value = value["messages"]
    return value if is_messages(value) else None
