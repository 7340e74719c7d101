"""Python assertions: run by the caller's interpreter, which reads the case as JSON and prints the verdict."""

import json

from refinement.engine.types import Check
from refinement.judging.checks.javascript import graded
from refinement.judging.checks.kinds import Broken, Finding, decimal_of
from refinement.providers.processes import CommandResult

PYTHON_SECONDS = 60.0
MARK = "\x1e"  # starts the line with the verdict; whatever else the code prints is ignored
WRAPPER = """
import asyncio, contextlib, importlib.util, inspect, io, json, os, sys, textwrap

def inline(code, output, context):
    names = {"output": output, "context": context}
    try:
        return eval(compile(code.strip(), "<assertion>", "eval"), names)
    except SyntaxError:
        pass
    body = "def main(output, context):\\n" + textwrap.indent(code, "    ")
    exec(compile(body, "<assertion>", "exec"), names)
    return names["main"](output, context)

def from_file(path, name, output, context):
    sys.path.insert(0, os.path.dirname(path))
    sys.argv = [path, output, json.dumps(context)]
    spec = importlib.util.spec_from_file_location("assertion", path)
    module = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        spec.loader.exec_module(module)
    function = getattr(module, name or "get_assert", None)
    if function is None:
        if name or not printed.getvalue().strip():
            raise NameError("there is no function " + (name or "get_assert") + " in " + path)
        return json.loads(printed.getvalue())
    return function(output, context)

given = json.load(sys.stdin)
real = sys.stdout
with contextlib.redirect_stdout(sys.stderr):
    if given.get("file"):
        value = from_file(given["file"], given.get("function"), given["output"], given["context"])
    else:
        value = inline(given["code"], given["output"], given["context"])
    if inspect.iscoroutine(value):
        value = asyncio.run(value)
for name in ("model_dump", "dict", "_asdict"):
    if hasattr(value, name) and not isinstance(value, dict):
        value = getattr(value, name)()
        break
if hasattr(value, "__dataclass_fields__"):
    value = vars(value)
real.write("\\x1e" + json.dumps(value, default=float) + "\\n")
"""


def python_grade(check: Check, ended: CommandResult) -> Finding:
    """The verdict that the wrapper printed. Raises Broken if the code failed."""
    lines = [line for line in ended.out.split("\n") if line.startswith(MARK)]
    if ended.too_long:
        raise Broken("the code printed too much.")
    if ended.code or not lines:
        last = (ended.err.strip().splitlines() or [f"it ended with status {ended.code}"])[-1]
        raise Broken(f"{last.rstrip('.')}.")
    return graded(json.loads(lines[-1][1:]), decimal_of(check.parameters, "threshold"), "The code")
