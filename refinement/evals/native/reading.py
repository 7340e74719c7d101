"""Reads the cases of an eval file in Wiggum's own format."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from refinement.evals.assertions.preparing import MARK, Prepared, prepared
from refinement.evals.dialects.asserts.kinds import UNDERSTOOD, UNKNOWN, kind_of, refusal_of
from refinement.evals.dialects.asserts.reading import AssertionReader, Scope
from refinement.evals.dialects.log import Log
from refinement.evals.dialects.providers import OWN
from refinement.evals.dialects.reader import Reader
from refinement.evals.filling import (
    Unreadable,
    Value,
    combinations,
    file_text,
    filler,
    label_of,
    read_vars,
)
from refinement.evals.native.asserting import TYPES, Asserted, read_assert
from refinement.evals.native.prompting import Prompt, read_input, read_prompts
from refinement.evals.targets import read_providers, read_targets
from refinement.evals.types import BadEval, Case, Dialect, EvalFile, Loop, Rule, Target
from refinement.interchange.imports.fields import Missing, brief
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar
from refinement.judging.templating import check_template

NAME_CHARS = 100
LINE_CHARS = 200
MOST_ITERATIONS = 100
MOST_CASES = 10_000
MOST_REPEATS = 1_000

FILE_KEYS = dict.fromkeys(
    (
        "name", "description", "prompts", "input", "vars", "default_test", "defaultTest", "tests", "assert",
        "targets", "providers", "execution",
    ),
    False,
)  # fmt: skip
TEST_KEYS = dict.fromkeys(("id", "description", "input", "vars", "assert", "threshold", "repeat"), False)
DEFAULT_KEYS = dict.fromkeys(("vars", "assert", "threshold", "repeat"), False)
EXECUTION_KEYS = dict.fromkeys(("target", "targets", "judge", "ralph"), False)
LOOP_KEYS = dict.fromkeys(
    ("max_iterations", "threshold", "improvement_threshold", "feedback_template"), False
)


def feedback_template(path: Path) -> str:
    """The source of a feedback template. Raises BadEval if it cannot be rendered."""
    try:
        source = file_text(path)
    except Unreadable as problem:
        raise BadEval([str(problem)]) from None
    problems = check_template("feedback", source)
    if problems:
        raise BadEval([f"{path}:{problem.line}: {problem.message}" for problem in problems])
    return source


@dataclass(frozen=True, slots=True)
class Defaults:
    """Defaults for every test of the file."""

    values: dict[str, list[Value]]
    asserts: list[Node]
    threshold: Decimal | None
    repeat: int = 1


class Reading:
    """Reads one file."""

    def __init__(self, notes: Log, folder: Path, root: Fields, *, own_targets: bool = False) -> None:
        self.notes, self.folder, self.root = notes, folder, root
        self.own_targets = own_targets  # whether the command line names the targets

    def whole(self, path: Path, default_name: str) -> EvalFile:
        notes, values = self.notes, self.root.values
        notes.record(self.root, "an eval file", FILE_KEYS)
        name = notes.text(values["name"], "name", most=NAME_CHARS, needed=True) if "name" in values else ""
        targets: dict[str, Target] = {}
        if "targets" in values:
            targets = read_targets(notes, values["targets"], self.folder)
        if "providers" in values and self.own_targets:
            notes.ignore(values["providers"].line, "providers", OWN)
        elif "providers" in values:
            targets |= read_providers(notes, values["providers"])
        wanted, judge, loop = self.execution()
        return EvalFile(
            path=path,
            name=name if isinstance(name, str) and name else default_name,
            cases=tuple(self.cases()),
            targets=targets,
            wanted=wanted or tuple(targets),
            judge=judge,
            loop=loop,
        )

    # --- execution ----------------------------------------------------------------------------
    def execution(self) -> tuple[tuple[str, ...], str, Loop | None]:
        node = self.root.values.get("execution")
        record = self.notes.record(node, "execution", EXECUTION_KEYS) if node else Missing()
        if isinstance(record, Missing):
            return (), "", None
        wanted: list[str] = []
        if "target" in record.values:
            wanted.append(self.line(record.values["target"], "execution.target"))
        if "targets" in record.values:
            read = self.notes.each(record.values["targets"], "execution.targets", self.line)
            wanted += [] if isinstance(read, Missing) else read
        judge = self.line(record.values["judge"], "execution.judge") if "judge" in record.values else ""
        return tuple(dict.fromkeys(filter(None, wanted))), judge, self.loop(record.values.get("ralph"))

    def line(self, node: Node, name: str) -> str:
        text = self.notes.text(node, name, most=LINE_CHARS, needed=True)
        return "" if isinstance(text, Missing) else text.strip()

    def loop(self, node: Node | None) -> Loop | None:
        """The loop settings; None if the file has none. An empty block asks for the defaults."""
        record = self.notes.record(node, "execution.ralph", LOOP_KEYS) if node is not None else Missing()
        if isinstance(record, Missing):
            return None
        values, name = record.values, "execution.ralph"
        iterations = (
            self.notes.whole(
                values["max_iterations"], f"{name}.max_iterations", least=1, most=MOST_ITERATIONS
            )
            if "max_iterations" in values
            else None
        )
        return Loop(
            max_iterations=None if isinstance(iterations, Missing) else iterations,
            threshold=self.share(values.get("threshold"), f"{name}.threshold"),
            improvement_threshold=self.share(
                values.get("improvement_threshold"), f"{name}.improvement_threshold"
            ),
            feedback_template=self.template(values.get("feedback_template")),
        )

    def share(self, node: Node | None, name: str) -> Decimal | None:
        """A number from 0 to 1; None if missing."""
        if node is None:
            return None
        number = self.notes.number(node, name, places=6)
        if isinstance(number, Missing):
            return None
        if not 0 <= number <= 1:
            self.notes.add(node.line, f"{name} must be between 0 and 1.")
        return number

    def template(self, node: Node | None) -> str | None:
        if node is None:
            return None
        try:
            return feedback_template(self.folder / self.line(node, "execution.ralph.feedback_template"))
        except BadEval as bad:
            for problem in bad.problems:
                self.notes.add(node.line, f"feedback_template: {problem}")
            return None

    # --- cases --------------------------------------------------------------------------------
    def cases(self) -> Iterator[Case]:
        """Every test with every prompt, once for each combination of vars."""
        defaults = self.defaults()
        prompts = read_prompts(self.notes, self.root, self.folder)
        node = self.root.values.get("tests")
        if node is None or not isinstance(node, Items) or not node.values:
            self.notes.add(node.line if node else 1, "tests must be a list with at least one test.")
            return
        count = 0
        ids: set[str] = set()
        for place, entry in enumerate(node.values, 1):
            for case in self.test(entry, place, prompts, defaults, ids):
                count += 1
                if count > MOST_CASES:
                    self.notes.add(entry.line, f"The file makes more than {MOST_CASES:,} cases.")
                    return
                yield case

    def defaults(self) -> Defaults:
        values = read_vars(self.notes, self.root.values.get("vars"), self.folder)
        asserts = self.entries(self.root.values.get("assert"), "assert")
        threshold, repeat = None, 1
        for key in ("default_test", "defaultTest"):
            node = self.root.values.get(key)
            record = self.notes.record(node, key, DEFAULT_KEYS) if node else Missing()
            if isinstance(record, Missing):
                continue
            values |= read_vars(self.notes, record.values.get("vars"), self.folder)
            asserts += self.entries(record.values.get("assert"), f"{key}.assert")
            threshold = self.share(record.values.get("threshold"), f"{key}.threshold")
            repeat = self.count(record.values.get("repeat"), f"{key}.repeat") or repeat
        return Defaults(values, asserts, threshold, repeat)

    def count(self, node: Node | None, name: str) -> int | None:
        """A number of repeats; None if missing."""
        if node is None:
            return None
        number = self.notes.whole(node, name, least=1, most=MOST_REPEATS)
        return None if isinstance(number, Missing) else number

    def entries(self, node: Node | None, name: str) -> list[Node]:
        if node is None:
            return []
        if not isinstance(node, Items):
            self.notes.add(node.line, f"{name} must be a list.")
            return []
        return list(node.values)

    def test(
        self, node: Node, place: int, prompts: list[Prompt], defaults: Defaults, ids: set[str]
    ) -> Iterator[Case]:
        record = self.notes.record(node, f"tests, entry {place}", TEST_KEYS)
        if isinstance(record, Missing):
            return
        named = self.named(record, place, ids)
        own = read_input(self.notes, record.values.get("input"), f"{named}.input", self.folder)
        used_prompts = prompts if own is None else [Prompt("", record.line, own)]
        if not used_prompts:
            self.notes.add(node.line, f"{named} has no prompt: add prompts or input to the file or the test.")
        asserts = [*self.entries(record.values.get("assert"), f"{named}.assert"), *defaults.asserts]
        variables = defaults.values | read_vars(self.notes, record.values.get("vars"), self.folder)
        threshold = self.share(record.values.get("threshold"), f"{named}.threshold")
        repeat = self.count(record.values.get("repeat"), f"{named}.repeat") or defaults.repeat
        for chosen in combinations(self.notes, node.line, variables):
            for prompt in used_prompts:
                label = ", ".join(filter(None, (prompt.label, label_of(variables, chosen))))
                case = self.case(
                    f"{named} ({label})" if label else named,
                    prompt,
                    asserts,
                    chosen,
                    node.line,
                    threshold if threshold is not None else defaults.threshold,
                )
                yield replace(case, repeat=repeat)

    def named(self, record: Fields, place: int, ids: set[str]) -> str:
        for key in ("id", "description"):
            if key in record.values:
                text = " ".join(self.line(record.values[key], f"tests, entry {place}, {key}").split())
                if key == "id" and text in ids:
                    self.notes.add(record.lines["id"], f"Two tests have the id {brief(text)}.")
                ids.add(text)
                return text
        return f"test {place}"

    def case(
        self,
        name: str,
        prompt: Prompt,
        asserts: list[Node],
        chosen: dict[str, Value],
        line: int,
        threshold: Decimal | None,
    ) -> Case:
        fill = filler(chosen)
        text = fill(self.notes, prompt.line, prompt.text).strip()
        shared = self.shared([entry for entry in asserts if is_shared(entry)], chosen, text)
        asserted = Asserted(self.notes, fill, self.folder, types=dict(shared.types))
        for place, entry in enumerate(asserts, 1):
            if not is_shared(entry):
                read_assert(asserted, entry, f"assert, entry {place}")
        if not text:
            self.notes.add(prompt.line, f"The prompt of {brief(name)} is empty.")
        checks, criteria = tuple(asserted.checks), tuple(asserted.criteria)
        held = [Rule((check.key,)) for check in checks if check.key not in asserted.hints]
        rules = (*held, *(Rule((criterion.key,), MARK) for criterion in criteria))
        return Case(
            name=name,
            line=line,
            prompt=text,
            checks=(*checks, *shared.checks),
            criteria=(*criteria, *shared.criteria),
            threshold=threshold,
            types=asserted.types,
            rules=(*rules, *shared.rules),
            metrics=shared.metrics,
            sets=shared.sets,
            variables=dict(chosen),
        )

    def shared(self, entries: list[Node], chosen: dict[str, Value], prompt: str) -> Prepared:
        """The assertions of types that all dialects share, such as contains-any or javascript."""
        if not entries:
            return Prepared()
        reader = Reader(self.notes, self.notes.path, Dialect.WIGGUM)
        read = AssertionReader(reader, Scope(values=chosen)).read(entries)
        made = prepared(read, self.folder, prompt=prompt, variables=chosen)
        for problem in made.problems:
            self.notes.add(problem.line, problem.message)
        return made


def is_shared(entry: Node) -> bool:
    """Whether this is an assertion of a type that Wiggum's own format takes from the others."""
    kind = entry.values.get("type") if isinstance(entry, Fields) else None
    if not isinstance(kind, Scalar) or kind.text in TYPES:
        return False
    name, _ = kind_of(kind.text)
    return name in UNDERSTOOD or refusal_of(name) != UNKNOWN
