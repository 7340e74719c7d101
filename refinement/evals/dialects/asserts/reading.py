"""Reads assertions of promptfoo and AgentV as Assertion records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from refinement.engine.types import ONE, Severity
from refinement.evals.dialects.asserts.contexts import WORDS as CONTEXTS
from refinement.evals.dialects.asserts.contexts import as_rubric
from refinement.evals.dialects.asserts.fields import as_javascript
from refinement.evals.dialects.asserts.kinds import (
    ALWAYS_HOLD,
    CODE_KINDS,
    EMPTY,
    FORM_ONLY,
    NO_TOOLS,
    NOTHING,
    RUBRIC,
    SCRIPT,
    SET,
    TEXT_LISTS,
    TOOL_CALLS,
    kind_of,
    refusal_of,
)
from refinement.evals.dialects.asserts.rubrics import RubricAsserts
from refinement.evals.dialects.asserts.scripts import code_file, own_type, script_parameters
from refinement.evals.dialects.asserts.tools import KINDS as TOOL_KINDS
from refinement.evals.dialects.asserts.tools import as_constant, note_of
from refinement.evals.dialects.asserts.transforms import Steps, transformed
from refinement.evals.dialects.keys import ASSERTION
from refinement.evals.dialects.log import sort_keys
from refinement.evals.dialects.numbers import number_of
from refinement.evals.dialects.reader import Reader
from refinement.evals.dialects.templates import Names, Unfillable, fill
from refinement.evals.filling import FILE
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Assertion, Dialect
from refinement.interchange.imports.fields import brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

MOST_WEIGHT = Decimal(1000)
MOST_DEPTH = 5
ONE_ASSERTION = "an assertion"
TEMPLATES = "#/assertionTemplates/"
LIMITS = {"max_duration_ms": "latency", "max_cost_usd": "cost", "max_tokens": "token-usage"}
EXPLORATION = "target_exploration_ratio"  # the share of tool calls that only read
TOOL_LIMITS = ("max_tool_calls", "max_llm_calls")
OWN_PARAMETERS = (
    "flags",
    "min",
    "max",
    "unit",
    "fields",
    "aggregation",
    "max_total",
    "max_input",
    "max_output",
)


@dataclass(frozen=True, slots=True)
class Scope:
    """What the assertions of a case are read with."""

    values: Mapping[str, object]
    criteria: str = ""  # AgentV's criteria of the case
    expected: str = ""
    rubric_prompt: str = ""
    transforms: Steps = ()  # of the test's options
    templates: Mapping[str, Node] = field(default_factory=dict)  # assertionTemplates


class AssertionReader:
    """Reads the assertions of one case."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self.reader, self.log, self.scope = reader, reader.log, scope
        self.rubrics = RubricAsserts(
            reader, scope.values, scope.criteria, scope.expected, scope.rubric_prompt
        )

    def read(self, nodes: Sequence[Node], name: str = "assert", depth: int = 0) -> tuple[Assertion, ...]:
        """All assertions. Plain texts together make one rubric."""
        made: list[Assertion] = []
        texts: list[Scalar] = []
        for place, node in enumerate(nodes, 1):
            if isinstance(node, Scalar):
                texts.append(node)
                continue
            read = self.entry(node, f"{name}, entry {place}", depth)
            if read is not None:
                made.append(read)
        if texts and self.reader.dialect == Dialect.PROMPTFOO:
            for node in texts:
                self.log.add(
                    node.line, f"{name}: {brief(node.text)} must be keys with values, such as type and value."
                )
        elif texts:
            of_texts = self.rubrics.of_texts(texts, name)
            shared = self.scope.transforms
            made.append(transformed(self.reader, of_texts, Fields(of_texts.line), shared, name))
        return tuple(made)

    def entry(self, node: Node, name: str, depth: int) -> Assertion | None:
        if not isinstance(node, Fields):
            self.log.add(node.line, f"{name} must be keys with values, such as type and value.")
            return None
        node = self.resolved(node, name)
        made = self.untransformed(node, name, depth)
        return made and transformed(self.reader, made, node, self.scope.transforms, name)

    def untransformed(self, node: Fields, name: str, depth: int) -> Assertion | None:
        type_node = node.values.get("type")
        if not isinstance(type_node, Scalar) or is_nothing(type_node):
            if "rubrics" in node.values and self.reader.dialect == Dialect.AGENTV:
                type_node = Scalar(node.line, RUBRIC, plain=False)
            else:
                self.log.add(node.line, f"{name}: type is required.")
                return None
        kind, negated = kind_of(type_node.text)
        negated ^= data(node.values.get("negate")) is True
        own = own_type(self.reader, node, type_node.text.strip())
        if own is not None:
            node, kind = own, SCRIPT
        if kind in TOOL_KINDS:
            self.log.ignore(type_node.line, *note_of(kind))
            record = {key: data(value) for key, value in node.values.items()}
            return as_constant(self.base(node, kind, negated, name), record)
        if kind in ALWAYS_HOLD:
            self.log.ignore(type_node.line, kind, ALWAYS_HOLD[kind])
            return None
        if kind in TOOL_CALLS:
            self.log.ignore(type_node.line, f"the provider's tools in {kind}", FORM_ONLY)
            call = self.base(node, "is-json", negated, name)
            return replace(call, value=TOOL_CALLS[kind])
        if kind == EMPTY:
            return replace(self.base(node, "regex", negated, name), value=NOTHING)
        refusal = refusal_of(kind)
        if refusal:
            self.log.add(
                type_node.line,
                f"{name}: the assertion type {brief(type_node.text)} is not supported: {refusal}",
            )
            return None
        return self.known(node, kind, negated, name, depth)

    def resolved(self, node: Fields, name: str) -> Fields:
        """The entry with the keys of the template that `$ref` names."""
        ref = node.values.get("$ref")
        if not isinstance(ref, Scalar):
            return node
        template = self.scope.templates.get(ref.text.removeprefix(TEMPLATES))
        if not isinstance(template, Fields):
            self.log.add(
                ref.line, f"{name}: the template {brief(ref.text)} was not found in assertionTemplates."
            )
            return node
        values = {**template.values, **{key: value for key, value in node.values.items() if key != "$ref"}}
        return Fields(node.line, values, {**template.lines, **node.lines})

    def known(self, node: Fields, kind: str, negated: bool, name: str, depth: int) -> Assertion | None:
        if kind == SCRIPT:  # its other keys are its configuration
            known = {key: line for key, line in node.lines.items() if key in (ASSERTION.refused or {})}
            sort_keys(self.log, Fields(node.line, node.values, known), name, ASSERTION)
        else:
            sort_keys(self.log, node, name, ASSERTION, ONE_ASSERTION)
        if "provider" in node.values:
            self.log.ignore(node.lines["provider"], "provider in an assertion", "The target's judge is used.")
        base = self.base(node, kind, negated, name)
        if kind == SET:
            return self.set_of(node, base, name, depth)
        if kind == "token-usage" and not has(node.values, "max_total") and base.threshold is None:
            self.log.add(node.line, f"{name}: only max_total is supported, the tokens of a whole call.")
            return None
        if kind == "execution-metrics":
            return self.metrics(node, base, name)
        if kind == RUBRIC:
            return self.rubrics.read(node, base, name)
        if kind == SCRIPT:
            parameters = script_parameters(self.reader, node, name)
            return None if parameters is None else replace(base, parameters=parameters)
        return self.plain(node, base, name)

    # --- parts --------------------------------------------------------------------------------
    def base(self, node: Fields, kind: str, negated: bool, name: str) -> Assertion:
        values = node.values
        weight = (
            number_of(self.log, values["weight"], f"{name}.weight", most=MOST_WEIGHT)
            if has(values, "weight")
            else ONE
        )
        threshold = next((values[key] for key in ("threshold", "budget", "max_total") if key in values), None)
        limit = (
            number_of(self.log, threshold, f"{name}.threshold")
            if not is_nothing(threshold) and threshold
            else None
        )
        severity = values.get("severity")
        grade = None
        if isinstance(severity, Scalar):
            grade = Severity(severity.text) if severity.text in {entry.value for entry in Severity} else None
            if grade is None:
                known = ", ".join(entry.value for entry in Severity)
                self.log.add(
                    severity.line, f"{name}.severity must be one of: {known}, not {brief(severity.text)}."
                )
        return Assertion(
            kind=kind,
            negated=negated,
            weight=ONE if weight is None else weight,
            threshold=limit,
            severity=grade,
            suggestion=self.line(values.get("suggestion"), f"{name}.suggestion"),
            metric=self.line(values.get("metric") or values.get("name"), f"{name}.metric"),
            id=self.line(values.get("id"), f"{name}.id"),
            required=self.required(values, name),
            line=node.line,
            file=None if self.log.path == self.reader.path else self.log.path,
        )

    def line(self, node: Node | None, name: str) -> str:
        text = text_of(data(node)) if isinstance(node, Scalar) else ""
        return self.reader.filled(text, self.scope.values, node.line, name).strip() if text and node else ""

    def required(self, values: Mapping[str, Node], name: str) -> bool | Decimal:
        node = values.get("required")
        value = data(node)
        least = values.get("min_score")
        if isinstance(value, bool) or value is None:
            if value is True and least is not None:
                return number_of(self.log, least, f"{name}.min_score", most=ONE) or True
            return value is True
        assert node is not None
        return number_of(self.log, node, f"{name}.required", most=ONE) or False

    def set_of(self, node: Fields, base: Assertion, name: str, depth: int) -> Assertion | None:
        """An assert-set, or AgentV's composite with a mean or a threshold."""
        if depth >= MOST_DEPTH:
            self.log.add(node.line, f"{name}: sets of assertions are nested too deeply.")
            return None
        entries = next(
            (node.values[key] for key in ("assert", "assertions", "evaluators") if key in node.values), None
        )
        if not isinstance(entries, Items) or not entries.values:
            self.log.add(node.line, f"{name} needs assert, a list with at least one assertion.")
            return None
        parts = self.read(entries.values, f"{name}.assert", depth + 1)
        aggregator = node.values.get("aggregator")
        if isinstance(aggregator, Fields):
            return self.aggregated(aggregator, base, parts, name)
        return replace(base, parts=parts)

    def aggregated(
        self, node: Fields, base: Assertion, parts: tuple[Assertion, ...], name: str
    ) -> Assertion | None:
        kind = text_of(data(node.values.get("type"))).replace("-", "_")
        if kind == "threshold":
            share = node.values.get("threshold")
            threshold = (
                number_of(self.log, share, f"{name}.aggregator.threshold", most=ONE) if share else None
            )
            return replace(base, parts=parts, threshold=threshold)
        if kind in ("weighted_average", ""):
            weights = data(node.values.get("weights"))
            weights = weights if isinstance(weights, dict) else {}
            weighed = (replace(part, weight=weight_in(weights, part)) for part in parts)
            return replace(base, parts=tuple(weighed), threshold=base.threshold or Decimal("0.8"))
        if kind in ("minimum", "min", "all_or_nothing", "safety_gate"):
            return replace(base, parts=parts)
        self.log.add(
            node.line,
            f"{name}: the aggregator {brief(kind)} is not supported: use weighted_average or threshold.",
        )
        return None

    def metrics(self, node: Fields, base: Assertion, name: str) -> Assertion | None:
        """AgentV's limits on a whole execution as separate assertions."""
        parts: list[Assertion] = []
        for key, kind in LIMITS.items():
            if key in node.values:
                limit = number_of(self.log, node.values[key], f"{name}.{key}")
                parts.append(
                    replace(base, kind=kind, threshold=limit, metric=key, id="", weight=ONE, required=False)
                )
        if EXPLORATION in node.values:
            self.log.ignore(node.lines[EXPLORATION], *note_of(EXPLORATION))
            part = replace(base, kind=EXPLORATION, metric=EXPLORATION, id="", weight=ONE, required=False)
            parts.append(as_constant(part, {}))
        for key in TOOL_LIMITS:
            if key in node.values:
                self.log.ignore(node.lines[key], f"{key} in execution-metrics", NO_TOOLS)
        if not parts and not any(key in node.values for key in TOOL_LIMITS):
            self.log.add(node.line, f"{name} needs a limit, such as max_duration_ms.")
        return replace(base, kind=SET, parts=tuple(parts)) if parts else None

    def plain(self, node: Fields, base: Assertion, name: str) -> Assertion | None:
        """A kind whose value is text, a number, a list or a mapping."""
        parameters: dict[str, object] = {
            key: self.deeply(data(node.values[key]), node.line, name)
            for key in OWN_PARAMETERS
            if has(node.values, key)
        }
        config = data(node.values.get("config"))
        if isinstance(config, dict):
            parameters["config"] = config
        prompt = self.rubrics.prompt(node, name)
        if prompt:
            parameters["prompt"] = prompt
        if self.scope.expected:
            parameters["reference"] = self.scope.expected
        value_node = node.values.get("value")
        if isinstance(value_node, Scalar) and value_node.text.startswith((FILE, "package:")):
            read = self.from_file(value_node, base.kind, name)
            if read is None:
                return None
            value, more = read
            return replace(base, value=value, parameters=parameters | more)
        read_value = self.value(value_node, base.kind, name)
        made = replace(base, value=read_value, parameters=parameters)
        if made.kind == "field-accuracy":
            return as_javascript(self.log, made, self.scope.expected, node.line, name)
        return (made.kind in CONTEXTS and as_rubric(made, self.scope.values)) or made

    def value(self, node: Node | None, kind: str, name: str) -> object:
        if isinstance(node, Scalar) and kind in CODE_KINDS:
            return self.code(node.text)
        raw = (
            node.text
            if isinstance(node, Scalar) and kind in ("regex", "contains", "icontains")
            else data(node)
        )
        value = self.deeply(raw, node.line if node else 1, name)
        if kind in TEXT_LISTS and isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        return [text_of(part) for part in value] if kind in TEXT_LISTS and isinstance(value, list) else value

    def code(self, text: str) -> str:
        """Code with its variables. Braces that are not a template stay as they are."""
        try:
            return fill(text, {"env": self.reader.env, **self.scope.values}, Names())
        except Unfillable:
            return text

    def deeply(self, value: object, line: int, name: str) -> object:
        """The value with variables. A text that is one variable takes the variable's data."""
        if isinstance(value, str):
            whole = value.strip().removeprefix("{{").removesuffix("}}").strip()
            if value.strip().startswith("{{") and isinstance(self.scope.values.get(whole), list | dict):
                return self.scope.values[whole]
            return self.reader.filled(value, self.scope.values, line, name)
        if isinstance(value, list):
            return [self.deeply(entry, line, name) for entry in value]
        if isinstance(value, dict):
            return {key: self.deeply(entry, line, name) for key, entry in value.items()}
        return value

    def from_file(self, node: Scalar, kind: str, name: str) -> tuple[object, dict[str, object]] | None:
        """The value from a file: code for code, data for JSON and YAML, otherwise text."""
        wanted = self.reader.filled(node.text, self.scope.values, node.line, name).removeprefix(FILE)
        if kind in CODE_KINDS:
            return code_file(self.reader, wanted, node.line, kind, name)
        read = self.reader.text(wanted, node.line, f"{name}.value")
        if not isinstance(read, tuple):
            return None
        path, text = read
        if path.suffix.lower() in (".json", ".yaml", ".yml"):
            tree = self.reader.tree(path, text)
            return (data(tree), {}) if isinstance(tree, Fields | Items | Scalar) else None
        return self.deeply(text.strip(), node.line, name), {}


def has(values: Mapping[str, Node], key: str) -> bool:
    return not is_nothing(values.get(key))


def weight_in(weights: Mapping[str, object], part: Assertion) -> Decimal:
    weight = weights.get(part.metric)
    return (
        Decimal(str(weight))
        if isinstance(weight, int | float) and not isinstance(weight, bool)
        else part.weight
    )
