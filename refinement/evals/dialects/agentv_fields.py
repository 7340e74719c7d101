"""Reads the fields of a test that only AgentV has: input, expected output, criteria and tags."""

from refinement.evals.dialects.messages import FILE_TYPES, MessageReader, is_messages
from refinement.evals.dialects.numbers import whole_of
from refinement.evals.dialects.reader import Reader
from refinement.evals.filling import FILE
from refinement.evals.sources.plain import data, text_of
from refinement.interchange.imports.fields import Missing, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Node, Scalar

INPUTS = ("input", "input_messages")
EXPECTED = ("expected_output", "expected_messages", "reference_answer")
CRITERIA = ("criteria", "expected_outcome", "outcome")
TRACE_KEYS = ("tool_calls",)
MOST_REPEATS = 1_000
SIMULATED = "promptfoo:"  # its simulated users, which talk with the target


class AgentvFields:
    """Reads these fields. For promptfoo's tests they are just empty."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def input(self, node: Fields, name: str) -> object | None:
        """The input as data, before variables are filled; None if the prompts of the file are used."""
        found = self.first(node, INPUTS)
        files = data(node.values.get("input_files"))
        if found is None and not files:
            return None
        value: object = data(found)
        if isinstance(found, Scalar) and found.text.startswith(FILE):
            value = self.from_file(found, name)
        if not isinstance(files, list) or not files:
            return value
        parts: list[object] = [{"type": "file", "value": text_of(entry)} for entry in files]
        if is_messages(value):
            assert isinstance(value, list)
            return [{"role": "user", "content": parts}, *value]
        text = [{"type": "text", "value": text_of(value)}] if value is not None else []
        return [{"role": "user", "content": [*parts, *text]}]

    def from_file(self, node: Scalar, name: str) -> object:
        read = self.reader.text(node.text.removeprefix(FILE), node.line, name)
        if not isinstance(read, tuple):
            return ""
        path, text = read
        if path.suffix.lower() in (".json", ".yaml", ".yml"):
            tree = self.reader.tree(path, text)
            return "" if isinstance(tree, Missing) else data(tree)
        return text

    def expected(self, node: Fields, name: str) -> str:
        """The reference answer: a text, structured data, or the content of messages."""
        found = self.first(node, EXPECTED)
        if found is None:
            return ""
        value = data(found)
        if isinstance(found, Scalar) and found.text.startswith(FILE):
            value = self.from_file(found, name)
        reader = MessageReader(self.reader)
        if is_messages(value):
            assert isinstance(value, list)
            contents = [entry.get("content") for entry in value]
            if any(key in entry for entry in value for key in TRACE_KEYS):
                self.log.ignore(
                    found.line, "tool_calls in the expected output", "Wiggum sees only the answer."
                )
            texts = [reader.content(content, found.line, name) for content in contents if content is not None]
            return "\n\n".join(texts)
        if isinstance(value, list) and value and all(is_file_part(entry) for entry in value):
            return reader.content(value, found.line, name)
        return text_of(value)

    def criteria(self, node: Fields) -> str:
        found = self.first(node, CRITERIA)
        return text_of(data(found)).strip() if found is not None else ""

    def first(self, node: Fields, keys: tuple[str, ...]) -> Node | None:
        return next((node.values[key] for key in keys if not is_nothing(node.values.get(key))), None)

    def tags(self, node: Fields) -> tuple[str, ...]:
        value = data(node.values.get("tags"))
        if isinstance(value, dict):
            return tuple(f"{key}:{text_of(inner)}" for key, inner in value.items())
        entries = value if isinstance(value, list) else [value] if value else []
        return tuple(text_of(entry) for entry in entries)

    def repeat(self, node: Fields, execution: Fields, default: int) -> int:
        for place, key in ((node, "repeat"), (node, "runs"), (execution, "repeat"), (execution, "trials")):
            found = place.values.get(key)
            if isinstance(found, Fields):
                found = found.values.get("count")
            if found is not None and not is_nothing(found):
                return whole_of(self.log, found, key, most=MOST_REPEATS)
        return default


def targets_of(reader: Reader, node: Fields, execution: Fields) -> tuple[str, ...]:
    """The targets that a test names. The command line's come first."""
    names: list[str] = []
    line = node.line
    places = ((execution, "target"), (execution, "targets"), (node, "provider"), (node, "providers"))
    for place, key in places:
        value = data(place.values.get(key))
        if not value:
            continue
        line = place.lines[key]
        for entry in value if isinstance(value, list) else [value]:
            name = text_of(entry.get("label") or entry.get("id") if isinstance(entry, dict) else entry)
            if name.startswith(SIMULATED):
                reader.log.add(line, f"{name} is not supported: it holds a conversation with the target.")
            names.append(name)
    if names and reader.own_targets:
        reader.log.ignore(line, "the target of a test", "--target is used.")
        return ()
    return tuple(names)


def is_file_part(value: object) -> bool:
    return isinstance(value, dict) and value.get("type") in (*FILE_TYPES, "text")
