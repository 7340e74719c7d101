"""What holds for every test of a file: vars, assertions, options and limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from refinement.evals.dialects.agentv_fields import targets_of
from refinement.evals.dialects.keys import AGENTV_TEST, PROMPTFOO_TEST
from refinement.evals.dialects.log import both, sort_keys
from refinement.evals.dialects.numbers import share_of, whole_of
from refinement.evals.dialects.reader import Reader, without_scheme
from refinement.evals.dialects.variables import VariableReader, Variables
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Dialect, Workspace
from refinement.interchange.imports.fields import is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

MOST_REPEATS = 1_000
ASSERT_KEYS = ("assert", "assertions", "evaluators", "evaluator")


@dataclass(frozen=True, slots=True)
class Defaults:
    """The settings that tests inherit."""

    variables: Variables = field(default_factory=Variables)
    asserts: tuple[Node, ...] = ()
    options: Fields | None = None
    threshold: Decimal | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    repeat: int = 1
    lead: object = None  # AgentV's input of the file, which comes before the test's own
    templates: Mapping[str, Node] = field(default_factory=dict)
    criteria: str = ""
    targets: tuple[str, ...] = ()  # that tests without their own run with
    workspace: Workspace | None = None


class DefaultsReader:
    """Reads the defaults of one file."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def read(self, root: Fields) -> Defaults:
        given = next(
            (root.values[key] for key in ("defaultTest", "default_test") if key in root.values), None
        )
        record = self.record(given) if given is not None else Fields(root.line)
        is_agentv = self.reader.dialect == Dialect.AGENTV
        known = both(AGENTV_TEST, PROMPTFOO_TEST) if is_agentv else PROMPTFOO_TEST
        sort_keys(self.log, record, "defaultTest", known)
        execution = root.values.get("execution")
        execution = execution if isinstance(execution, Fields) else Fields(root.line)
        variables = VariableReader(self.reader)
        options = record.values.get("options")
        kept = data(record.values.get("metadata"))
        threshold = next(
            (
                place.values["threshold"]
                for place in (record, root, execution)
                if not is_nothing(place.values.get("threshold"))
            ),
            None,
        )
        templates = root.values.get("assertionTemplates")
        return Defaults(
            targets=self.targets(record),
            variables=variables.read(record.values.get("vars"), "defaultTest.vars").over(
                variables.read(root.values.get("vars"), "vars")
            ),
            asserts=tuple(
                entry
                for place in (record, root, execution)
                for entry in assert_nodes(self.reader, place, "defaults")
            ),
            options=options if isinstance(options, Fields) else None,
            threshold=share_of(self.log, threshold, "threshold"),
            metadata=kept if isinstance(kept, dict) else {},
            repeat=self.repeat(root, execution),
            templates=templates.values if isinstance(templates, Fields) else {},
            criteria=text_of(data(root.values.get("criteria")))
            if isinstance(root.values.get("criteria"), Scalar)
            else "",
        )

    def record(self, node: Node) -> Fields:
        """defaultTest as a mapping, or the file that it names."""
        if isinstance(node, Fields):
            return node
        if isinstance(node, Scalar) and not is_nothing(node):
            wanted = without_scheme(node.text).removeprefix("ref://")
            read = self.reader.text(wanted, node.line, "defaultTest")
            tree = self.reader.tree(*read) if isinstance(read, tuple) else None
            if isinstance(tree, Fields):
                return tree
            if isinstance(read, tuple):
                self.log.add(node.line, f"defaultTest: {wanted} must consist of keys and values.")
        return Fields(node.line)

    def targets(self, record: Fields) -> tuple[str, ...]:
        return targets_of(self.reader, record, Fields(record.line))

    def repeat(self, root: Fields, execution: Fields) -> int:
        found = [root.values.get(key) for key in ("evaluateOptions", "evaluate_options")]
        options = next((node for node in found if isinstance(node, Fields)), Fields(root.line))
        self.note_options(options)
        places = ((options, "repeat"), (root, "repeat"), (root, "runs"), (execution, "trials"))
        for place, key in (*places, (execution, "repeat"), (execution, "runs")):
            if not is_nothing(place.values.get(key)):
                return self.count(place.values[key], key)
        return 1

    def note_options(self, options: Fields) -> None:
        for key, line in options.lines.items():
            if key != "repeat":
                self.log.ignore(line, f"{key} in evaluateOptions", "The command line decides how cases run.")

    def count(self, node: Node, name: str) -> int:
        """A number of repeats, alone or as `count` with a strategy."""
        if isinstance(node, Fields):
            for key in ("strategy", "early_exit", "cost_limit_usd"):
                if key in node.values:
                    self.log.ignore(
                        node.lines[key], f"{key} in {name}", "Each repeat is a result of its own."
                    )
            count = node.values.get("count")
            return whole_of(self.log, count, f"{name}.count", most=MOST_REPEATS) if count is not None else 1
        return whole_of(self.log, node, name, most=MOST_REPEATS)


def assert_nodes(reader: Reader, place: Fields, name: str) -> list[Node]:
    """The assertions under any of their names."""
    found: list[Node] = []
    rubrics = place.values.get("rubrics")
    if rubrics is not None and not is_nothing(rubrics) and reader.dialect == Dialect.AGENTV:
        found.append(Fields(rubrics.line, {"rubrics": rubrics}, {"rubrics": rubrics.line}))
    for key in ASSERT_KEYS:
        node = place.values.get(key)
        if node is None or is_nothing(node):
            continue
        if isinstance(node, Items):
            found += node.values
        elif isinstance(node, Scalar) and key == "evaluator":
            line = node.line
            found.append(Fields(line, {"type": node}, {"type": line}))
        elif isinstance(node, Fields):
            found.append(node)
        elif isinstance(node, Scalar) and node.text.startswith("file://"):
            found += from_file(reader, node, name)
        else:
            reader.log.add(place.lines.get(key, node.line), f"{name}: {key} must be a list.")
    return found


def from_file(reader: Reader, node: Scalar, name: str) -> list[Node]:
    read = reader.text(without_scheme(node.text), node.line, name)
    tree = reader.tree(*read) if isinstance(read, tuple) else None
    if isinstance(tree, Fields):
        tree = next((tree.values[key] for key in ASSERT_KEYS if key in tree.values), tree)
    return tree.values if isinstance(tree, Items) else [tree] if isinstance(tree, Fields) else []
