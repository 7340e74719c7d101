"""Reads a whole file of promptfoo or AgentV."""

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from refinement.evals.dialects.agentv_fields import AgentvFields
from refinement.evals.dialects.cases import CaseReader
from refinement.evals.dialects.defaults import DefaultsReader
from refinement.evals.dialects.keys import (
    AGENTV_EXECUTION,
    AGENTV_FILE,
    HOOKS,
    LATE_HOOKS,
    PROMPTFOO_FILE,
    RED_TEAM,
)
from refinement.evals.dialects.log import sort_keys
from refinement.evals.dialects.numbers import number_of, whole_of
from refinement.evals.dialects.prompts import PromptReader
from refinement.evals.dialects.providers import OWN, ProviderReader
from refinement.evals.dialects.reader import Reader
from refinement.evals.dialects.tests import Test, TestFinder
from refinement.evals.dialects.workspaces import WorkspaceReader
from refinement.evals.sources.plain import data, text_of
from refinement.evals.types import Case, Dialect, EvalFile, Loop
from refinement.interchange.imports.fields import is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

MOST_CASES = 10_000
NAME_CHARS = 100
TEST_KEYS = ("tests", "evalcases", "eval_cases", "cases")
LATE_HOOK = re.compile(r":after(?:All|Each)$")
LOOP_KEYS = ("max_iterations", "threshold", "improvement_threshold")


class WholeReader:
    """Reads one file. Everything wrong is in the reader's log afterwards."""

    def __init__(self, reader: Reader, providers: ProviderReader) -> None:
        self.reader, self.log, self.providers = reader, reader.log, providers
        self.finder = TestFinder(reader)

    def read(self, root: Fields, name: str) -> EvalFile:
        is_agentv = self.reader.dialect == Dialect.AGENTV
        sort_keys(self.log, root, "the file", AGENTV_FILE if is_agentv else PROMPTFOO_FILE)
        if not is_agentv and "redteam" in root.values and not has_tests(root):
            self.log.add(root.lines["redteam"], f"redteam is not supported: {RED_TEAM}")
        if not is_agentv:
            self.hooks(root)
        self.environment(root)
        targets, wanted = self.providers.targets(root)
        execution_wanted, judge, loop = self.execution(root)
        cases = tuple(self.cases(root))
        given = root.values.get("name") or (root.values.get("description") if not is_agentv else None)
        own_name = " ".join(text_of(data(given)).split()) if isinstance(given, Scalar) else ""
        return EvalFile(
            path=self.reader.path,
            name=own_name[:NAME_CHARS] or name,
            cases=cases,
            targets=targets,
            wanted=wanted or execution_wanted,
            judge=judge,
            loop=loop,
            dialect=self.reader.dialect,
            ignored=self.log.ignored,
        )

    def hooks(self, root: Fields) -> None:
        """promptfoo's `extensions`: those that run before the tests can change them."""
        node = root.values.get("extensions")
        for entry in node.values if isinstance(node, Items) else [node] if node is not None else []:
            if is_nothing(entry):
                continue
            if LATE_HOOK.search(text_of(data(entry))):
                self.log.ignore(entry.line, "extensions in the file", LATE_HOOKS)
            else:
                self.log.add(entry.line, f"extensions in the file is not supported: {HOOKS}")

    def environment(self, root: Fields) -> None:
        """`env` adds to the environment that templates see."""
        own = data(root.values.get("env"))
        if isinstance(own, dict):
            self.reader.env = {**self.reader.env, **own}

    # --- cases --------------------------------------------------------------------------------
    def cases(self, root: Fields) -> Iterator[Case]:
        written = root.values.get("prompts")
        prompts = None if is_nothing(written) else PromptReader(self.reader).read(written)
        defaults = DefaultsReader(self.reader).read(root)
        if self.reader.dialect == Dialect.AGENTV:
            lead = AgentvFields(self.reader).input(root, "input")
            defaults = replace(defaults, lead=lead, workspace=WorkspaceReader(self.reader).read(root))
        reader = CaseReader(self.reader, prompts, defaults)
        count = 0
        for place, test in enumerate(self.tests(root), 1):
            for case in reader.cases(test, place):
                count += 1
                if count > MOST_CASES:
                    self.log.add(test.node.line, f"The file makes more than {MOST_CASES:,} cases.")
                    return
                yield case
        if not count and not self.log.refused:
            self.log.add(root.line, "The file has no tests.")

    def tests(self, root: Fields) -> Iterator[Test]:
        found = next((root.values[key] for key in TEST_KEYS if not is_nothing(root.values.get(key))), None)
        yield from self.finder.tests(found)
        yield from self.finder.scenarios(root.values.get("scenarios"))
        imports = root.values.get("imports")
        if isinstance(imports, Fields):
            yield from self.finder.tests(imports.values.get("tests"), "imports")
        nothing = found is None and not {"scenarios", "imports"} & root.values.keys()
        if nothing and self.reader.dialect == Dialect.PROMPTFOO and "prompts" in root.values:
            yield Test(Fields(root.line), self.reader.path)  # each prompt once

    # --- execution ----------------------------------------------------------------------------
    def execution(self, root: Fields) -> tuple[tuple[str, ...], str, Loop | None]:
        """AgentV's targets, judge and loop."""
        if self.reader.dialect != Dialect.AGENTV:
            return (), "", None
        node = root.values.get("execution")
        execution = node if isinstance(node, Fields) else Fields(root.line)
        sort_keys(self.log, execution, "execution", AGENTV_EXECUTION)
        names: list[str] = []
        for place, key in ((root, "target"), (execution, "target"), (execution, "targets")):
            found = place.values.get(key)
            if found is None or is_nothing(found):
                continue
            if self.reader.own_targets:
                self.log.ignore(place.lines[key], f"{key} of the file", OWN)
                continue
            names += [
                name
                for name in map(target_name, found.values if isinstance(found, Items) else [found])
                if name
            ]
        judge = execution.values.get("judge") or root.values.get("judge")
        ralph = execution.values.get("ralph")
        loop = self.loop(ralph) if isinstance(ralph, Fields) else Loop() if ralph is not None else None
        return tuple(names), text_of(data(judge)) if isinstance(judge, Scalar) else "", loop

    def loop(self, node: Fields) -> Loop:
        share = {
            key: number_of(self.log, node.values[key], f"execution.ralph.{key}", most=Decimal(1))
            for key in ("threshold", "improvement_threshold")
            if key in node.values
        }
        for key, line in node.lines.items():
            if key not in LOOP_KEYS:
                self.log.ignore(line, f"{key} in execution.ralph", "Unknown key.")
        count = node.values.get("max_iterations")
        iterations = (
            whole_of(self.log, count, "execution.ralph.max_iterations", most=100)
            if count is not None
            else None
        )
        return Loop(iterations, share.get("threshold"), share.get("improvement_threshold"))


def has_tests(root: Fields) -> bool:
    return any(not is_nothing(root.values.get(key)) for key in ("tests", "scenarios"))


def target_name(node: Node) -> str:
    if isinstance(node, Fields):
        return next(
            (text_of(data(node.values[key])) for key in ("name", "label", "id") if key in node.values), ""
        )
    return node.text.strip() if isinstance(node, Scalar) else ""
