"""Reads prompts from texts, files or messages."""

from dataclasses import dataclass
from pathlib import Path

from refinement.evals.filling import text_or_file
from refinement.interchange.imports.fields import Missing, Notes, brief
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

ROLES = ("system", "user")
LABEL_CHARS = 60


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt before its variables are filled. The label distinguishes several prompts."""

    label: str
    line: int
    text: str


def read_prompts(notes: Notes, root: Fields, folder: Path) -> list[Prompt]:
    """The prompts for every test, from `prompts` or `input`."""
    both = [key for key in ("prompts", "input") if key in root.values]
    if len(both) > 1:
        notes.add(root.lines["input"], "Use prompts or input, not both.")
    if "prompts" not in root.values:
        text = read_input(notes, root.values.get("input"), "input", folder)
        return [] if text is None else [Prompt("", root.lines["input"], text)]
    node = root.values["prompts"]
    entries = node.values if isinstance(node, Items) else [node]
    read = [
        _prompt(notes, entry, f"prompts, entry {place}", folder) for place, entry in enumerate(entries, 1)
    ]
    prompts = [prompt for prompt in read if prompt is not None]
    if len(prompts) == 1:
        return [Prompt("", prompts[0].line, prompts[0].text)]
    return [
        Prompt(prompt.label or f"prompt {place}", prompt.line, prompt.text)
        for place, prompt in enumerate(prompts, 1)
    ]


def _prompt(notes: Notes, node: Node, name: str, folder: Path) -> Prompt | None:
    if not isinstance(node, Fields):
        text = text_or_file(notes, node, name, folder)
        return None if isinstance(text, Missing) else Prompt("", node.line, text)
    record = notes.record(node, name, {"label": False, "raw": True})
    if isinstance(record, Missing) or "raw" not in record.values:
        return None
    text = text_or_file(notes, record.values["raw"], f"{name}.raw", folder)
    label_node = record.values.get("label")
    label = notes.text(label_node, f"{name}.label", most=LABEL_CHARS) if label_node else ""
    return None if isinstance(text, Missing) else Prompt(str(label or ""), node.line, text)


def read_input(notes: Notes, node: Node | None, name: str, folder: Path) -> str | None:
    """One prompt from a text or from messages, with system messages first; None if there is none."""
    if node is None:
        return None
    if not isinstance(node, Items):
        text = text_or_file(notes, node, name, folder)
        return "" if isinstance(text, Missing) else text
    parts: list[tuple[str, str]] = []
    for place, entry in enumerate(node.values, 1):
        message = _message(notes, entry, f"{name}, entry {place}", folder)
        if message is not None:
            parts.append(message)
    ordered = sorted(parts, key=lambda part: ROLES.index(part[0]))
    return "\n\n".join(text for _, text in ordered)


def _message(notes: Notes, node: Node, name: str, folder: Path) -> tuple[str, str] | None:
    record = notes.record(node, name, {"role": True, "content": True})
    if isinstance(record, Missing) or not {"role", "content"} <= record.values.keys():
        return None
    role = record.values["role"]
    if not isinstance(role, Scalar) or role.text not in ROLES:
        value = brief(role.text) if isinstance(role, Scalar) else "this"
        notes.add(role.line, f"{name}.role must be one of: {', '.join(ROLES)}, not {value}.")
        return None
    text = text_or_file(notes, record.values["content"], f"{name}.content", folder)
    return None if isinstance(text, Missing) else (role.text, text.strip())
