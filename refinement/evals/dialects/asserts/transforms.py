"""Reads `transform`: JavaScript that changes the answer before an assertion checks it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from refinement.evals.assertions.kinds import MODEL_GRADED
from refinement.evals.dialects.asserts.kinds import SCRIPT, SET
from refinement.evals.dialects.asserts.scripts import code_file
from refinement.evals.dialects.asserts.tools import needs_tools
from refinement.evals.dialects.reader import Reader, without_scheme
from refinement.evals.filling import FILE
from refinement.evals.types import Assertion
from refinement.interchange.imports.fields import is_nothing
from refinement.interchange.rubrics.yaml_reading import Fields, Scalar
from refinement.judging.checks import MEASURED

KEYS = ("transform", "postprocess")  # postprocess is the older name
JUDGED = "a judge sees the whole answer."
OTHERS: Mapping[str, str] = {
    SET: "put it into the assertions of the set.",
    SCRIPT: "scripts see the whole answer.",
    "python": "Python code sees the whole answer.",
}
NOTHING_CHANGED = "The test has no assertion that it would change."

Steps = tuple[Mapping[str, object], ...]


def transforms_of(reader: Reader, node: Fields, name: str) -> Steps:
    """The code of a test's options or of an assertion."""
    found = next((node.values[key] for key in KEYS if not is_nothing(node.values.get(key))), None)
    if found is None:
        return ()
    if not isinstance(found, Scalar):
        reader.log.add(found.line, f"{name}: transform must be JavaScript code.")
        return ()
    if not found.text.startswith(FILE):
        return ({"code": found.text},)
    read = code_file(reader, without_scheme(found.text), found.line, "javascript", f"{name}: transform")
    if read is None:
        return ()
    code, more = read
    return ({"code": code} | {key: value for key, value in more.items() if key == "function"},)


def transformed(reader: Reader, assertion: Assertion, node: Fields, shared: Steps, name: str) -> Assertion:
    """The assertion on what the test's and its own code make of the answer."""
    own = transforms_of(reader, node, name)
    if assertion.kind == SET and not own:
        return assertion  # its parts have the test's code already
    steps = (*shared, *own)
    if not steps or assertion.kind in MEASURED or needs_tools((assertion,)):
        return assertion
    why = JUDGED if assertion.kind in MODEL_GRADED else OTHERS.get(assertion.kind)
    if why:
        reader.log.add(line_of(node), f"{name}: transform before {assertion.kind} is not supported: {why}")
    return replace(assertion, transforms=steps)


def line_of(node: Fields) -> int:
    return next((node.lines[key] for key in KEYS if key in node.lines), node.line)


def note_unused(reader: Reader, options: Fields, assertions: Sequence[Assertion]) -> None:
    """Code that no assertion needs does not change a result."""
    for key in KEYS:
        if key in options.lines and not assertions:
            reader.log.ignore(options.lines[key], f"{key} in options", NOTHING_CHANGED)
