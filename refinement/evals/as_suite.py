"""The cases of an eval file as tasks of a suite."""

from pathlib import Path

from refinement.evals.filling import FILE
from refinement.evals.reading import Reading, read_eval
from refinement.evals.types import BadEval, Case
from refinement.interchange.imports.fields import Notes
from refinement.interchange.rubrics.yaml_reading import (
    BadFile,
    Fields,
    Items,
    Node,
    Problem,
    Scalar,
    read_tree,
)
from refinement.interchange.suites.reading import CHECKS_SECONDS, tasks_from_values
from refinement.interchange.suites.types import (
    KEY,
    MAX_BYTES,
    TITLE_CHARS,
    SuiteText,
    check_fields,
    key_for,
    line_cleaned,
)
from refinement.interchange.suites.yaml import MAX_NODES
from refinement.judging.checks import COMMAND
from refinement.judging.isolation import time_limit
from refinement.judging.length import shorten

# Only what describes the cases. Models and loop settings are an experiment's, not a suite's.
CASE_KEYS = frozenset(
    {"name", "description", "prompts", "input", "vars", "default_test", "defaultTest", "tests", "assert"}
)
ELSEWHERE = "This text is in another file, which is not read here. Push the file with `wiggum suite push`."


def suite_from_eval(source: str, name: str = "") -> tuple[SuiteText, list[str]]:
    """The suite in an eval file's text, and notes on what is left out. Raises BadFile.

    No other file is read: the sender may not see the server's files.
    """
    root = read_tree(source, "test suite", max_bytes=MAX_BYTES, max_nodes=MAX_NODES)
    if problems := list(references(root)):
        raise BadFile(problems)
    notes, nowhere = Notes(), Path("nowhere")
    kept = {key: node for key, node in root.values.items() if key in CASE_KEYS}
    cut = Fields(root.line, kept, {key: line for key, line in root.lines.items() if key in kept})
    with time_limit(CHECKS_SECONDS):
        read = Reading(notes, nowhere, cut).whole(nowhere)
    if notes.problems:
        raise BadFile(notes.problems)
    own = root.values.get("name")
    return suite_of(read.cases, name or (own.text if isinstance(own, Scalar) else "") or "Imported eval")


def references(node: Node) -> list[Problem]:
    """Each text of the file that names another file."""
    if isinstance(node, Scalar):
        return [Problem(node.line, ELSEWHERE)] if node.text.lstrip().startswith(FILE) else []
    inner = node.values if isinstance(node, Items) else node.values.values()
    return [problem for value in inner for problem in references(value)]


def suite_from_eval_path(path: Path) -> tuple[SuiteText, list[str]]:
    """The same for a file on this computer, with the files that it names. Raises BadEval."""
    read = read_eval(path)
    try:
        return suite_of(read.cases, read.name)
    except BadFile as bad:
        raise BadEval([f"{path}: {problem.message}" for problem in bad.problems]) from None


def suite_of(cases: tuple[Case, ...], name: str) -> tuple[SuiteText, list[str]]:
    """The cases as tasks. Criteria become notes; scripts are left out. Raises BadFile."""
    values: list[dict[str, object]] = []
    keys: set[str] = set()
    scripts = 0
    for case in cases:
        checks = [check_fields(check) for check in case.checks if check.kind != COMMAND]
        scripts += len(case.checks) - len(checks)
        named = case.name if KEY.fullmatch(case.name) and case.name not in keys else key_for(case.name, keys)
        keys.add(named)
        values.append(
            {
                "key": named,
                "title": shorten(line_cleaned(case.name), TITLE_CHARS),
                "task": case.prompt,
                "expected": "\n".join(
                    f"- {criterion.description or criterion.name}" for criterion in case.criteria
                ),
                "checks": [{**check, "weight": float(str(check["weight"]))} for check in checks],
            }
        )
    notes = [f"{scripts} scripts were left out: a suite's checks run without commands."] if scripts else []
    return SuiteText(line_cleaned(name), "", tasks_from_values(values)), notes
