"""Converts the assertions of a case to checks, criteria and the rules on which of them must hold."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path

from refinement.engine.types import ONE, Check, Criterion, Severity
from refinement.evals.assertions.field_accuracy import field_accuracy
from refinement.evals.assertions.kinds import KINDS, MODEL_GRADED, Context, Refusal, transformed
from refinement.evals.assertions.rubric_items import Item, items_of
from refinement.evals.types import Assertion, Rule
from refinement.interchange.imports.fields import brief
from refinement.judging.checks import check_problems, is_local

KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
SET = "assert-set"
MARK = Decimal("0.8")  # what a criterion must reach if nothing else is said
LEAST_WEIGHT = Decimal("0.0001")
MOST_WEIGHT = Decimal(10_000)
TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the assertions of a case become."""

    checks: tuple[Check, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)  # the type of each assertion, by key
    rules: tuple[Rule, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)  # the metric of each assertion, by key
    sets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the keys in each assert-set
    problems: tuple["Trouble", ...] = ()


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an assertion cannot be used. `file` is where it is, if not in the eval file."""

    line: int
    message: str
    file: Path | None = None


def prepared(
    assertions: Sequence[Assertion],
    folder: Path,
    *,
    prompt: str = "",
    variables: Mapping[str, object] | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Prepared:
    """The checks and criteria of these assertions. Scripts are looked for in `folder`."""
    making = _Making(Context(folder, prompt, variables or {}, metadata or {}))
    for assertion in assertions:
        making.add(assertion)
    return making.result()


@dataclass(slots=True)
class _Making:
    context: Context
    checks: list[Check] = field(default_factory=list)
    criteria: list[Criterion] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    metrics: dict[str, str] = field(default_factory=dict)
    sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    problems: list[Trouble] = field(default_factory=list)

    def result(self) -> Prepared:
        return Prepared(
            tuple(self.checks),
            tuple(self.criteria),
            self.types,
            tuple(self.rules),
            self.metrics,
            self.sets,
            tuple(self.problems),
        )

    def add(self, assertion: Assertion) -> list[str]:
        """Adds an assertion, and returns the keys of its checks and criteria."""
        if assertion.kind == SET:
            return self.add_set(assertion)
        if assertion.kind in MODEL_GRADED:
            return self.add_criteria(assertion)
        return self.add_check(assertion)

    def problem(self, assertion: Assertion, message: str) -> list[str]:
        self.problems.append(Trouble(assertion.line, f"{label(assertion)}: {message}", assertion.file))
        return []

    # --- checks -------------------------------------------------------------------------------
    def add_check(self, assertion: Assertion) -> list[str]:
        read = field_accuracy if assertion.kind == "field-accuracy" else KINDS.get(assertion.kind)
        if read is None:
            return self.problem(assertion, f"unknown type. Available: {', '.join(available())}.")
        try:
            kind, parameters = read(assertion, self.context)
        except Refusal as refusal:
            return self.problem(assertion, str(refusal))
        if assertion.transforms:
            kind, parameters = transformed(kind, parameters, assertion.transforms, self.context)
        weight, severity = self.weight(assertion), assertion.severity or Severity.WARNING
        if not assertion.weight:
            severity = Severity.INFO
        key = self.key_for(assertion, assertion.id)
        check = Check(key, kind, parameters, severity, weight, assertion.suggestion)
        for problem in problems_of(check):
            self.problem(assertion, problem)
        self.checks.append(check)
        self.rules += rules_for(assertion, (key,), ONE)
        return [key]

    # --- criteria -----------------------------------------------------------------------------
    def add_criteria(self, assertion: Assertion) -> list[str]:
        if assertion.kind == "context-faithfulness":
            assertion = replace(assertion, value=self.context.variables.get("context"))
            if not assertion.value:
                return self.problem(assertion, "the test needs a var named context.")
        try:
            items = items_of(assertion, MODEL_GRADED[assertion.kind])
        except Refusal as refusal:
            return self.problem(assertion, str(refusal))
        keys = [self.add_item(assertion, item) for item in items]
        if assertion.threshold is not None or any(item.required is False for item in items):
            mark = MARK if assertion.threshold is None else assertion.threshold
            overall = rules_for(assertion, tuple(keys), mark)
            self.rules += [rule for rule in overall if rule not in self.rules]
        return keys

    def add_item(self, assertion: Assertion, item: Item) -> str:
        key = self.key_for(assertion, item.id or assertion.id)
        weight = min(MOST_WEIGHT, max(LEAST_WEIGHT, self.weight(assertion) * item.weight))
        self.criteria.append(
            Criterion(key, title_of(item.text), item.description, item.ideal, weight.quantize(LEAST_WEIGHT))
        )
        mark = item.least if item.least is not None else assertion.threshold
        if item.required is not False:
            rules = rules_for(assertion, (key,), MARK if mark is None else mark)
            self.rules += [replace(rule, always=rule.always or item.required is True) for rule in rules]
        return key

    # --- sets ---------------------------------------------------------------------------------
    def add_set(self, assertion: Assertion) -> list[str]:
        """A set counts as one assertion: its weight is shared by its parts, and its threshold decides."""
        if assertion.negated:
            return self.problem(assertion, "a set cannot be negated.")
        if not assertion.parts:
            return self.problem(assertion, "assert must have at least one assertion.")
        key = self.key_for(assertion, assertion.id)
        total = sum((part.weight for part in assertion.parts), Decimal(0))
        before, keys = len(self.rules), []
        for part in assertion.parts:
            share = assertion.weight * part.weight / total if total else Decimal(0)
            keys += self.add(replace(part, weight=share))
        if assertion.threshold is not None:
            self.rules[before:] = rules_for(assertion, tuple(keys), assertion.threshold) if keys else []
        elif assertion.required:
            self.rules[before:] = [replace(rule, always=True) for rule in self.rules[before:]]
        self.sets[key] = tuple(keys)
        return keys

    # --- keys and weights -----------------------------------------------------------------------
    def key_for(self, assertion: Assertion, wanted: str) -> str:
        """The id from the file if it is usable and free, or one made from the type and a number."""
        kind = label(assertion)
        if wanted and KEY.fullmatch(wanted) and wanted not in self.types:
            key = wanted
        else:
            if (
                wanted
                and wanted in self.types
                and wanted == assertion.id
                and assertion.kind not in MODEL_GRADED
            ):
                self.problem(assertion, f"two assertions have the id {brief(wanted)}.")
            base = kind if KEY.fullmatch(f"{kind}-9999") else "assertion"
            numbers = range(1, len(self.types) + 2)
            key = next(made for number in numbers if (made := f"{base}-{number}") not in self.types)
        self.types[key] = kind
        if assertion.metric:
            self.metrics[key] = assertion.metric
        return key

    def weight(self, assertion: Assertion) -> Decimal:
        if not 0 <= assertion.weight <= MOST_WEIGHT:
            self.problem(assertion, f"weight must be from 0 to {MOST_WEIGHT:,}.")
            return ONE
        return max(LEAST_WEIGHT, assertion.weight.quantize(LEAST_WEIGHT))


def rules_for(assertion: Assertion, keys: tuple[str, ...], threshold: Decimal) -> list[Rule]:
    """What must hold for the case to pass. Warnings, hints and assertions without weight never decide."""
    if isinstance(assertion.required, Decimal):
        return [Rule(keys, assertion.required, always=True)]
    if assertion.required:
        return [Rule(keys, threshold, always=True)]
    if assertion.severity in (Severity.WARNING, Severity.INFO) or not assertion.weight:
        return []
    return [Rule(keys, threshold, always=assertion.severity is Severity.ERROR)]


def label(assertion: Assertion) -> str:
    """The type as it is written in files: `not-contains`."""
    return f"not-{assertion.kind}" if assertion.negated else assertion.kind


def available() -> Iterable[str]:
    return sorted((*KINDS, *MODEL_GRADED, SET))


def title_of(text: str) -> str:
    title = text.strip().splitlines()[0]
    return title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…"


_known: dict[str, list[str]] = {}  # checks that were verified already: cases often share them
MOST_KNOWN = 20_000


def problems_of(check: Check) -> list[str]:
    """Why the check cannot be used, as sentences."""
    if is_local(check):
        return []
    name = f"{check.kind} {dict(check.parameters)!r}"
    if name not in _known:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[name] = check_problems(check)
    return _known[name]


Reader = Callable[[Assertion, Context], tuple[str, Mapping[str, object]]]
