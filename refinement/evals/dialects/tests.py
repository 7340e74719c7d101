"""Finds the tests of a file: inline, in other files, in folders, and as scenarios."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from refinement.evals.dialects.csv_tests import test_of_row
from refinement.evals.dialects.reader import Reader, is_code, is_folder, without_scheme
from refinement.evals.sources.csv_rows import csv_rows
from refinement.evals.types import Dialect
from refinement.interchange.imports.fields import Missing, brief, is_nothing
from refinement.interchange.rubrics.yaml_reading import BadFile, Fields, Items, Node, Scalar

LIST_KEYS = ("tests", "evalcases", "eval_cases", "cases", "scenarios")
TEST_FILES = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv")
SHEETS = (".xlsx", ".xls", ".parquet")
CASE_FILES = ("case.yaml", "case.yml")
MOST_DEPTH = 5
GENERATED = "tests that code makes are not supported. Write them to a file."
REMOTE = "tests from the network are not supported. Save them as CSV, JSON or YAML."


@dataclass(frozen=True, slots=True)
class Test:
    """One test and the file that it is in."""

    node: Fields
    path: Path


class TestFinder:
    """Finds the tests of one file."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.log = reader, reader.log

    def tests(self, node: Node | None, name: str = "tests", depth: int = 0) -> Iterator[Test]:
        """Every test, in order."""
        if node is None or is_nothing(node):
            return
        if isinstance(node, Scalar):
            yield from self.referenced(node.text, node.line, name, depth)
        elif isinstance(node, Fields):
            yield from self.record(node, name, depth)
        else:
            for place, entry in enumerate(node.values, 1):
                yield from self.entry(entry, f"{name}, entry {place}", depth)

    def entry(self, node: Node, name: str, depth: int) -> Iterator[Test]:
        if isinstance(node, Scalar):
            yield from self.referenced(node.text, node.line, name, depth)
        elif isinstance(node, Fields):
            yield from self.record(node, name, depth)
        elif node.values:
            self.log.add(node.line, f"{name} must be a test: keys with values.")

    def record(self, node: Fields, name: str, depth: int) -> Iterator[Test]:
        """A test, or a record that names a file of tests."""
        path = node.values.get("path") or node.values.get("file")
        if isinstance(path, Scalar) and not {"vars", "input", "assert"} & node.values.keys():
            yield from self.referenced(path.text, path.line, name, depth)
        elif "include" in node.values:
            yield from self.tests(node.values["include"], name, depth)
        else:
            yield Test(node, self.log.path)

    def referenced(self, text: str, line: int, name: str, depth: int) -> Iterator[Test]:
        wanted = without_scheme(self.reader.filled(text, {}, line, name)).strip()
        if refusal := refused(wanted):
            self.log.add(line, f"{name}: {brief(wanted)}: {refusal}")
            return
        if depth >= MOST_DEPTH:
            self.log.add(line, f"{name}: files of tests include each other too deeply.")
            return
        paths = [*self.reader.matching(wanted), *self.in_folder(wanted)]
        if not paths:
            self.log.add(line, f"{name}: the file {wanted} was not found.")
        for path in paths:
            yield from self.of_file(path, line, name, depth)

    def in_folder(self, wanted: str) -> list[Path]:
        """The tests in a folder: AgentV's case folders, or all files of tests."""
        folder = next((place for place in self.reader.places(wanted) if is_folder(place)), None)
        if folder is None or self.reader.found(wanted):
            return []
        inside = sorted(folder.iterdir())
        cases = [
            place / case
            for place in inside
            if place.is_dir()
            for case in CASE_FILES
            if (place / case).is_file()
        ]
        return cases or [place for place in inside if place.suffix.lower() in TEST_FILES and place.is_file()]

    def of_file(self, path: Path, line: int, name: str, depth: int) -> Iterator[Test]:
        read = self.reader.content(path, line, name)
        if not isinstance(read, tuple):
            return
        suffix = path.suffix.lower()
        with self.log.inside(path):
            if suffix in (".csv", ".tsv"):
                yield from self.rows(path, read[1])
                return
            tree = self.reader.tree(path, read[1])
            if isinstance(tree, Missing) or tree is None:
                return
            yield from self.tests(self.list_in(tree, path), path.name, depth + 1)

    def list_in(self, tree: Node, path: Path) -> Node:
        """The list of tests in a file, or its one test."""
        if isinstance(tree, Fields):
            for key in LIST_KEYS:
                if key in tree.values:
                    return tree.values[key]
            if path.name.lower() in CASE_FILES and "id" not in tree.values:
                label = Scalar(tree.line, path.parent.name, plain=False)
                return Fields(tree.line, {"id": label, **tree.values}, {"id": tree.line, **tree.lines})
        return tree

    def rows(self, path: Path, text: str) -> Iterator[Test]:
        try:
            rows = csv_rows(text, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        except BadFile as bad:
            self.log.add_all(bad)
            return
        for row in rows:
            if self.reader.dialect == Dialect.AGENTV and "id" in row.cells:
                row.cells["__id"] = row.cells["id"]
            yield Test(test_of_row(row), path)

    # --- scenarios ----------------------------------------------------------------------------
    def scenarios(self, node: Node | None) -> Iterator[Test]:
        """Each configuration of a scenario with each of its tests."""
        if node is None or is_nothing(node):
            return
        entries = node.values if isinstance(node, Items) else [node]
        for place, entry in enumerate(entries, 1):
            name = f"scenarios, entry {place}"
            if isinstance(entry, Scalar):
                for test in self.referenced(entry.text, entry.line, name, 0):
                    with self.log.inside(test.path):
                        yield from self.scenario(test.node, name)
            elif isinstance(entry, Fields):
                yield from self.scenario(entry, name)
            else:
                self.log.add(entry.line, f"{name} must be keys with values: config and tests.")

    def scenario(self, node: Fields, name: str) -> Iterator[Test]:
        config = node.values.get("config")
        configs = list(self.tests(config, f"{name}.config")) if config is not None else []
        tests = list(self.tests(node.values.get("tests"), f"{name}.tests"))
        if not tests:
            tests = [Test(Fields(node.line), self.log.path)]
        for setting in configs or [Test(Fields(node.line), self.log.path)]:
            for test in tests:
                yield Test(merged(test.node, setting.node), test.path)


def merged(test: Fields, base: Fields) -> Fields:
    """The test with the base's keys: vars together, assertions of both, otherwise the test's own."""
    values: dict[str, Node] = {**base.values, **test.values}
    for key in ("vars", "options", "metadata"):
        own, other = test.values.get(key), base.values.get(key)
        if isinstance(own, Fields) and isinstance(other, Fields):
            values[key] = Fields(own.line, {**other.values, **own.values}, {**other.lines, **own.lines})
    own, other = test.values.get("assert"), base.values.get("assert")
    if isinstance(own, Items) and isinstance(other, Items):
        values["assert"] = Items(own.line, [*other.values, *own.values])
    return Fields(test.line, values, {**base.lines, **test.lines})


def refused(wanted: str) -> str:
    """Why tests cannot come from here; empty if they can."""
    lower = wanted.lower()
    if lower.partition("#")[0].endswith(SHEETS):
        return "spreadsheets are not supported. Save the sheet as CSV."
    if "://" in lower or lower.startswith("huggingface:"):
        return REMOTE
    return GENERATED if is_code(lower) else ""
