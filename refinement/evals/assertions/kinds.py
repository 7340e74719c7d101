"""The types of assertions: how each becomes a check, and which are not supported and why."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from refinement.evals.types import Assertion
from refinement.judging.checks import COMMAND, TRANSFORMED
from refinement.providers.processes import Command

SCRIPT_SECONDS = 60
MOST_SCRIPT_SECONDS = 3_600
TEXT_CHARS = 100_000
_COMMA = re.compile(r"\s*,\s*")


class Refusal(ValueError):
    """An assertion cannot be used. The message is a sentence without the type."""


@dataclass(frozen=True, slots=True)
class Context:
    """What the code of an assertion may know about its case."""

    folder: Path
    prompt: str
    variables: Mapping[str, object]
    metadata: Mapping[str, object]

    @property
    def data(self) -> dict[str, object]:
        return {
            "prompt": self.prompt,
            "vars": dict(self.variables),
            "test": {"vars": dict(self.variables), "metadata": dict(self.metadata)},
        }


Converted = tuple[str, Mapping[str, object]]
Reader = Callable[[Assertion, Context], Converted]


def jsonable(value: object) -> object:
    """What JSON has no form for: exact numbers as numbers, anything else as text."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)


def plain(value: object) -> str:
    """A value as the text that the file means: numbers as written, data as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return json.dumps(value, ensure_ascii=False, default=jsonable)


def text_of(assertion: Assertion) -> str:
    value = assertion.value
    if value is None or isinstance(value, Mapping | list | tuple):
        raise Refusal("value must be a text.")
    text = plain(value)
    if not text:
        raise Refusal("value must not be empty.")
    if len(text) > TEXT_CHARS:
        raise Refusal(f"value has more than {TEXT_CHARS:,} characters.")
    return text


def texts_of(assertion: Assertion, *, split: bool = False) -> list[str]:
    value = assertion.value
    if isinstance(value, list | tuple):
        texts = [plain(entry) for entry in value]
    elif split:
        texts = [part for part in _COMMA.split(text_of(assertion).strip()) if part]
    else:
        texts = [text_of(assertion)]
    if not texts or not all(texts):
        raise Refusal("value must be a list of texts.")
    return texts


def negated(assertion: Assertion) -> dict[str, object]:
    return {"negate": True} if assertion.negated else {}


def threshold_of(assertion: Assertion) -> dict[str, object]:
    return {} if assertion.threshold is None else {"threshold": f"{assertion.threshold:f}"}


def contains(ignore_case: bool) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        kind = "not-contains" if assertion.negated else "contains"
        return kind, {"text": text_of(assertion)} | ({"ignore_case": True} if ignore_case else {})

    return read


def contains_several(kind: str, ignore_case: bool) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        texts = {"texts": texts_of(assertion, split=True)}
        return kind, texts | ({"ignore_case": True} if ignore_case else {}) | negated(assertion)

    return read


def phrase(kind: str) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        return kind, {"text": text_of(assertion)} | negated(assertion)

    return read


def equals(assertion: Assertion, context: Context) -> Converted:
    if isinstance(assertion.value, Mapping | list | tuple):
        return "equals-json", {"value": plain(assertion.value)} | negated(assertion)
    return "equals", {"text": text_of(assertion)} | negated(assertion)


def regex(assertion: Assertion, context: Context) -> Converted:
    flags = assertion.parameters.get("flags")
    parameters: dict[str, object] = {"pattern": text_of(assertion)}
    if flags:
        parameters["flags"] = str(flags)
    return "regex", parameters | ({"must_match": False} if assertion.negated else {})


def schema_of(assertion: Assertion) -> object:
    """The JSON schema; None if there is none."""
    value = assertion.value
    if value is None or isinstance(value, Mapping | bool):
        return value
    if not isinstance(value, str):
        raise Refusal("value must be a JSON schema.")
    try:
        return json.loads(value) if value.strip() else None
    except ValueError as error:
        raise Refusal(f"value must be a JSON schema; it is not valid JSON: {error}.") from None


def is_json(assertion: Assertion, context: Context) -> Converted:
    schema = schema_of(assertion)
    if schema is None:
        return "is-json", negated(assertion)
    return "json-schema", {"schema": schema} | negated(assertion)


def json_schema(assertion: Assertion, context: Context) -> Converted:
    schema = schema_of(assertion)
    if schema is None:
        raise Refusal("value must be a JSON schema.")
    return "json-schema", {"schema": schema} | negated(assertion)


def contains_json(assertion: Assertion, context: Context) -> Converted:
    schema = schema_of(assertion)
    return "contains-json", ({} if schema is None else {"schema": schema}) | negated(assertion)


def xml(kind: str) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        value = assertion.value
        elements = (
            value.get("requiredElements", value.get("required_elements"))
            if isinstance(value, Mapping)
            else value
        )
        if elements is None:
            return kind, negated(assertion)
        if not isinstance(elements, list | tuple) or not all(isinstance(path, str) for path in elements):
            raise Refusal("value.requiredElements must be a list of paths.")
        return kind, {"elements": list(elements)} | negated(assertion)

    return read


def bare(kind: str) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        return kind, negated(assertion)

    return read


def length(assertion: Assertion, context: Context) -> Converted:
    return "length", limits(assertion.parameters, str(assertion.parameters.get("unit") or "")) | negated(
        assertion
    )


def word_count(assertion: Assertion, context: Context) -> Converted:
    value = assertion.value
    bounds = value if isinstance(value, Mapping) else {"min": value, "max": value}
    return "length", limits(bounds, "words") | negated(assertion)


def limits(bounds: Mapping[str, object], unit: str) -> dict[str, object]:
    found: dict[str, object] = {"unit": unit} if unit else {}
    for key, parameter in (("min", "minimum"), ("max", "maximum")):
        value = bounds.get(key)
        if value is None:
            continue
        text = plain(value)
        if not text.isdigit():
            raise Refusal(f"{key} must be a whole number.")
        found[parameter] = int(text)
    if not {"minimum", "maximum"} & set(found):
        raise Refusal("min, max or both are required.")
    return found


def levenshtein(assertion: Assertion, context: Context) -> Converted:
    return "levenshtein", {"text": text_of(assertion)} | threshold_of(assertion) | negated(assertion)


def likeness(kind: str) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        return kind, {"references": texts_of(assertion)} | threshold_of(assertion) | negated(assertion)

    return read


def similar(assertion: Assertion, context: Context) -> Converted:
    provider = assertion.parameters.get("provider")
    found = {"references": texts_of(assertion)} | threshold_of(assertion) | negated(assertion)
    return "similar", found | ({"provider": plain(provider)} if provider else {})


def code(kind: str) -> Reader:
    """JavaScript and Python: the code, and what it may know about the case."""

    def read(assertion: Assertion, context: Context) -> Converted:
        data = context.data
        if assertion.parameters.get("config") is not None:
            data["config"] = assertion.parameters["config"]
        parameters: dict[str, object] = {
            "code": text_of(assertion),
            "context": json.loads(json.dumps(data, default=jsonable)),
        }
        for name in ("function", "file"):
            if assertion.parameters.get(name) and (name == "function" or kind == "python"):
                parameters[name] = plain(assertion.parameters[name])
        return kind, parameters | threshold_of(assertion) | negated(assertion)

    return read


def transformed(
    kind: str, parameters: Mapping[str, object], steps: Sequence[Mapping[str, object]], context: Context
) -> Converted:
    """The check on what the code makes of the answer."""
    data = json.loads(json.dumps(context.data, default=jsonable))
    return TRANSFORMED, {"steps": list(steps), "context": data, "kind": kind, "parameters": parameters}


def script(assertion: Assertion, context: Context) -> Converted:
    """A command that passes with exit status 0, or one that reads JSON and prints a score."""
    command = assertion.parameters.get("command")
    if not isinstance(command, list | tuple) or not command:
        raise Refusal("a command is required.")
    parts, folder = [plain(part) for part in command], plain(assertion.parameters.get("cwd") or "")
    seconds = assertion.parameters.get("timeout")
    seconds = SCRIPT_SECONDS if seconds is None else int(Decimal(plain(seconds)))
    if not 1 <= seconds <= MOST_SCRIPT_SECONDS:
        raise Refusal(f"timeout must be between 1 and {MOST_SCRIPT_SECONDS} seconds.")
    # What another tool's file needs may be installed before the run. The reader says that it is missing.
    is_foreign = assertion.parameters.get("contract") == "json" and "/" not in parts[0]
    problem = "" if is_foreign else Command(parts, folder or str(context.folder)).problem()
    if problem:
        raise Refusal(f"the script {parts[0]!r} cannot be started: {problem}.")
    found: dict[str, object] = {"command": parts, "timeout": seconds}
    if folder:
        found["cwd"] = folder
    if assertion.parameters.get("contract") == "json":
        found["contract"] = "json"
        if assertion.parameters.get("config") is not None:
            found["config"] = assertion.parameters["config"]
    return COMMAND, found | threshold_of(assertion) | negated(assertion)


def measured(kind: str) -> Reader:
    def read(assertion: Assertion, context: Context) -> Converted:
        if assertion.threshold is None and assertion.value is not None:
            return kind, {"threshold": text_of(assertion)} | negated(assertion)
        if assertion.threshold is None and not (kind == "cost" and not assertion.weight):
            raise Refusal("threshold is required.")
        return kind, threshold_of(assertion) | negated(assertion)

    return read


KINDS: Mapping[str, Reader] = {
    "contains": contains(False),
    "icontains": contains(True),
    "contains-any": contains_several("contains-any", False),
    "contains-all": contains_several("contains-all", False),
    "icontains-any": contains_several("contains-any", True),
    "icontains-all": contains_several("contains-all", True),
    "equals": equals,
    "starts-with": phrase("starts-with"),
    "ends-with": phrase("ends-with"),
    "regex": regex,
    "is-json": is_json,
    "json-schema": json_schema,
    "contains-json": contains_json,
    "is-xml": xml("is-xml"),
    "contains-xml": xml("contains-xml"),
    "is-html": bare("is-html"),
    "contains-html": bare("contains-html"),
    "is-refusal": bare("is-refusal"),
    "length": length,
    "word-count": word_count,
    "levenshtein": levenshtein,
    "rouge-n": likeness("rouge-n"),
    "bleu": likeness("bleu"),
    "gleu": likeness("gleu"),
    "similar": similar,
    "javascript": code("javascript"),
    "python": code("python"),
    "script": script,
    "latency": measured("latency"),
    "cost": measured("cost"),
    "token-usage": measured("token-usage"),
    "finish-reason": phrase("finish-reason"),
}
# What the judge reads for each type; `{}` is the value.
MODEL_GRADED: Mapping[str, str] = {
    "llm-rubric": "{}",
    "g-eval": "{}",
    "factuality": "The answer agrees with these facts and contradicts none of them: {}",
    "model-graded-factuality": "The answer agrees with these facts and contradicts none of them: {}",
    "model-graded-closedqa": "The answer meets this requirement: {}",
    "context-faithfulness": "Everything that the answer claims is supported by this context: {}",
    "answer-relevance": "The answer is about what was asked, and answers it without digressing. {}",
}
