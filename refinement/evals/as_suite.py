"""The cases of an eval file as tasks of a suite."""

from pathlib import Path

from refinement.evals.dialects.detecting import dialect_of
from refinement.evals.dialects.log import Log
from refinement.evals.filling import FILE
from refinement.evals.native.reading import Reading
from refinement.evals.planning import held_checks
from refinement.evals.reading import read_eval
from refinement.evals.types import BadEval, Case, Dialect
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
from refinement.judging.checks import LOCAL, TRANSFORMED
from refinement.judging.isolation import time_limit
from refinement.judging.length import shorten

# Only what describes the cases. Models and loop settings are an experiment's, not a suite's.
CASE_KEYS = frozenset(
    {"name", "description", "prompts", "input", "vars", "default_test", "defaultTest", "tests", "assert"}
)
EVAL_ONLY = (*LOCAL, TRANSFORMED)
LEFT_OUT = "{} scripts, measurements and checks after a transform were left out: only evals have them."
NOWHERE = Path("nowhere/eval.yaml")
DIALECT = "This is a file of another tool. Push it with `wiggum suite push`, which reads its format."
ELSEWHERE = "This text is in another file, which is not read here. Push the file with `wiggum suite push`."


def suite_from_eval(source: str, name: str = "") -> tuple[SuiteText, list[str]]:
    """The suite in an eval file's text, and notes on what is left out. Raises BadFile.

    No other file is read: the sender may not see the server's files.
    """
    root = read_tree(source, "test suite", max_bytes=MAX_BYTES, max_nodes=MAX_NODES)
    if problems := references(root):
        raise BadFile(problems)
    notes = Log(NOWHERE)
    kept = {key: node for key, node in root.values.items() if key in CASE_KEYS}
    cut = Fields(root.line, kept, {key: line for key, line in root.lines.items() if key in kept})
    with time_limit(CHECKS_SECONDS):
        # Not `check_eval`: the readers of other dialects look for files.
        read = Reading(notes, NOWHERE.parent, cut).whole(NOWHERE, "Imported eval")
    if notes.problems:
        other = dialect_of(root, NOWHERE) != Dialect.WIGGUM
        raise BadFile([*([Problem(1, DIALECT)] if other else []), *notes.problems])
    return suite_of(read.cases, name or read.name)


def references(node: Node) -> list[Problem]:
    """Each text of the file that names another file."""
    if isinstance(node, Scalar):
        return [Problem(node.line, ELSEWHERE)] if node.text.lstrip().startswith(FILE) else []
    inner = node.values if isinstance(node, Items) else node.values.values()
    return [problem for value in inner for problem in references(value)]


def suite_from_eval_path(path: Path) -> tuple[SuiteText, list[str]]:
    """The same for a file on this computer, with the files that it names. Raises BadEval."""
    read = read_eval(path, own_targets=True)
    try:
        return suite_of(read.cases, read.name)
    except BadFile as bad:
        raise BadEval([f"{path}: {problem.message}" for problem in bad.problems]) from None


def suite_of(cases: tuple[Case, ...], name: str) -> tuple[SuiteText, list[str]]:
    """The cases as tasks. Criteria become notes; scripts are left out. Raises BadFile."""
    keys: set[str] = set()
    values = [case_values(case, keys) for case in cases]
    try:
        tasks = tasks_from_values(values)
    except BadFile as bad:  # its lines are the places of cases
        lines = [1, *(case.line for case in cases)]
        problems = [Problem(lines[problem.line], problem.message) for problem in bad.problems]
        raise BadFile(problems) from None
    left_out = sum(check.kind in EVAL_ONLY for case in cases for check in case.checks)
    notes = [LEFT_OUT.format(left_out)] if left_out else []
    return SuiteText(line_cleaned(name), "", tasks), notes


def case_values(case: Case, taken: set[str]) -> dict[str, object]:
    """A case as the fields of a task. Its key is added to `taken`."""
    own = KEY.fullmatch(case.name) and case.name not in taken
    key = case.name if own else key_for(case.name, taken)
    taken.add(key)
    wanted = [f"- {criterion.description or criterion.name}" for criterion in case.criteria]
    checks = [check_fields(check) for check in held_checks(case) if check.kind not in EVAL_ONLY]
    return {
        "key": key,
        "title": shorten(line_cleaned(case.name), TITLE_CHARS),
        "task": case.prompt,
        "tags": list(case.tags),
        "expected": "\n".join(filter(None, [case.expected, *wanted])),
        "checks": [{**check, "weight": float(str(check["weight"]))} for check in checks],
    }
