"""Reads assertions that a judge scores: texts, items, prompts of their own and reference answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refinement.evals.dialects.asserts.items import items_of
from refinement.evals.dialects.asserts.kinds import RUBRIC
from refinement.evals.dialects.messages import is_messages
from refinement.evals.dialects.prompts import chat_of
from refinement.evals.dialects.reader import Reader, is_code
from refinement.evals.filling import FILE
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Assertion, Dialect
from refinement.interchange.imports.fields import is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

PROMPT_KEYS = ("rubricPrompt", "rubric_prompt", "prompt")
PROMPT_FILES = (".md", ".txt", ".j2", ".json", ".yaml", ".yml", ".prompt")
VALUE_KEYS = ("value", "rubrics", "criteria", "rubric")
AGREES = "The answer agrees in substance with the reference answer."
GENERAL = "The answer does what the prompt asks for."


class RubricAsserts:
    """Reads the rubrics of one case."""

    def __init__(
        self, reader: Reader, values: Mapping[str, object], criteria: str, expected: str, rubric_prompt: str
    ) -> None:
        self.reader, self.log, self.values = reader, reader.log, values
        self.criteria, self.expected, self.default_prompt = criteria, expected, rubric_prompt

    def of_texts(self, nodes: Sequence[Scalar], name: str) -> Assertion:
        """Plain texts as one rubric. Each of them must hold."""
        items = items_of(self.reader, list(nodes), self.values, name)
        return Assertion(RUBRIC, items, self.parameters(""), line=nodes[0].line)

    def implied(self, line: int) -> Assertion | None:
        """AgentV's grader of a case that has only criteria or a reference answer."""
        if not self.criteria and not self.expected:
            return None
        return Assertion(RUBRIC, self.criteria or AGREES, self.parameters(""), line=line)

    def read(self, node: Fields, base: Assertion, name: str) -> Assertion | None:
        value: object = self.value(node, name)
        if value is None:
            return None
        prompt = self.prompt(node, name)
        if prompt and value == "":
            value, prompt = (self.criteria or prompt, prompt if self.criteria else "")
        if value == "":
            value = (
                self.criteria or (AGREES if self.expected else "") or base.metric.replace("_", " ") or GENERAL
            )
        config = data(node.values.get("config"))
        parameters = self.parameters(prompt) | ({"config": config} if isinstance(config, dict) else {})
        return replace(base, value=value, parameters=parameters)

    def value(self, node: Fields, name: str) -> object:
        """The rubric's text or items; empty without one, None if it cannot be read."""
        for key in VALUE_KEYS:
            value = node.values.get(key)
            if value is None or is_nothing(value):
                continue
            if isinstance(value, Items):
                return items_of(self.reader, value.values, self.values, f"{name}.{key}") or None
            if isinstance(value, Fields):
                return self.reader.filled(text_of(data(value)), self.values, value.line, name)
            if value.text.startswith(FILE):
                return self.from_file(value, name)
            return self.reader.filled(value.text, self.values, value.line, name).strip()
        return ""

    def from_file(self, node: Scalar, name: str) -> object:
        read = self.reader.text(node.text.removeprefix(FILE), node.line, f"{name}.value")
        if not isinstance(read, tuple):
            return None
        path, text = read
        if path.suffix.lower() in (".yaml", ".yml"):
            tree = self.reader.tree(path, text)
            if isinstance(tree, Items):
                return items_of(self.reader, tree.values, self.values, name) or None
        return self.reader.filled(text, self.values, node.line, name).strip()

    def prompt(self, node: Fields, name: str) -> str:
        """The judge's own prompt, from the assertion, a file, or the defaults."""
        for key in PROMPT_KEYS:
            value = node.values.get(key)
            if value is not None and not is_nothing(value):
                return self.prompt_text(value, f"{name}.{key}")
        return self.default_prompt

    def prompt_text(self, node: Node, name: str) -> str:
        if isinstance(node, Fields):
            self.log.add(node.line, f"{name}: a prompt that a program makes is not supported.")
            return ""
        if isinstance(node, Items):
            return messages_text(data(node))
        text = node.text
        path_like = (
            "\n" not in text.strip()
            and text.strip().lower().endswith(PROMPT_FILES)
            and " " not in text.strip()
        )
        if is_code(text.strip()) and " " not in text.strip():
            self.log.add(node.line, f"{name}: {text}: prompts that code makes are not supported.")
            return ""
        if text.startswith(FILE) or (path_like and self.reader.dialect == Dialect.AGENTV):
            read = self.reader.text(text.strip().removeprefix(FILE), node.line, name)
            text = read[1] if isinstance(read, tuple) else ""
        chat = chat_of(text)
        return messages_text(chat) if chat is not None else text.strip()

    def parameters(self, prompt: str) -> dict[str, object]:
        made: dict[str, object] = {}
        if prompt or self.default_prompt:
            made["prompt"] = prompt or self.default_prompt
        if self.expected:
            made["reference"] = self.expected
        return made


def messages_text(value: object) -> str:
    """A chat prompt as one text."""
    if not is_messages(value):
        return text_of(value)
    assert isinstance(value, list)
    return "\n\n".join(text_of(entry.get("content")) for entry in value)
