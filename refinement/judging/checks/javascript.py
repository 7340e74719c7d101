"""The javascript check: an expression or a function about the text, in QuickJS.

The code sees the text as `output`, and the case as `context`. It has no files, network, modules or timers.
It runs in the child process of `isolation`, with its own second of processor time and 64 MB of memory.
"""

import json
import re
from typing import Any

from refinement.judging.checks.kinds import (
    NEGATE,
    Broken,
    CheckKind,
    Finding,
    Parameter,
    Parameters,
    ParameterType,
    decimal_of,
    negatable,
    share_of,
)

MEMORY_BYTES = 64 * 1024 * 1024
STACK_BYTES = 512 * 1024
CODE_CHARS = 100_000
REASON_CHARS = 600
MOST_JOBS = 10_000  # pending promises
_EXPORT_DEFAULT = re.compile(r"^export\s+default\s+", re.MULTILINE)
_EXPORT = re.compile(r"^export\s+(?=(?:async\s+)?function|const|let|class)", re.MULTILINE)

# Evaluates the code as an expression, a function body or a module, and keeps the JSON of what it returns.
HARNESS = """
(function (code, name, given) {
  "use strict";
  const { output, context } = JSON.parse(given);
  const ignore = () => undefined;
  globalThis.console = { log: ignore, info: ignore, warn: ignore, error: ignore, debug: ignore };
  globalThis.output = output;
  globalThis.context = context;
  const make = (body) => Function("output", "context", "module", "exports", "process", body);
  const module = { exports: undefined };
  const call = (made) => made(output, context, module, {}, { env: {} });
  const answer = (value) => {
    if (value && typeof value === "object" && typeof value.then === "function") {
      value.then(answer, (error) => { globalThis.__failure = String(error); });
      return;
    }
    if (typeof value === "function") { answer(value(output, context)); return; }
    if (value && typeof value === "object" && typeof value.default === "function") {
      answer(value.default(output, context));
      return;
    }
    globalThis.__answer = JSON.stringify(value === undefined ? null : value);
  };
  if (name !== null || /\\bmodule\\.exports\\b/.test(code)) {
    const pick = name ? `\\n;if (typeof ${name} === "function") module.exports = ${name};` : "";
    call(make(code + pick));
    const made = module.exports;
    answer(name && made && typeof made[name] === "function" ? made[name](output, context) : made);
    return;
  }
  let made;
  try { made = make(`return (${code.trim().replace(/;+$/, "")}\\n);`); }
  catch (error) { if (!(error instanceof SyntaxError)) throw error; made = make(code); }
  answer(call(made));
})
"""


def run_javascript(parameters: Parameters, candidate: str) -> Finding:
    value = answer_of(parameters, candidate)
    return graded(value, decimal_of(parameters, "threshold"), "The code")


def answer_of(parameters: Parameters, output: object) -> Any:
    """What the code returned for the text, or for data. As JSON data. Raises Broken if it failed."""
    import quickjs  # type: ignore[import-untyped]

    engine = quickjs.Context()
    engine.set_memory_limit(MEMORY_BYTES)
    engine.set_max_stack_size(STACK_BYTES)
    name = str(parameters["function"]) if parameters.get("function") else None
    given = json.dumps({"output": output, "context": parameters.get("context") or {}}, default=dict)
    arguments = ", ".join(json.dumps(part) for part in (plain_script(str(parameters["code"])), name, given))
    try:
        engine.eval(f"({HARNESS.strip()})({arguments})")
        for _ in range(MOST_JOBS):
            if not engine.execute_pending_job():
                break
        failure, answer = engine.eval("globalThis.__failure"), engine.eval("globalThis.__answer")
    except quickjs.JSException as error:
        raise Broken(sentence(str(error))) from None
    if failure:
        raise Broken(sentence(str(failure)))
    return json.loads(answer) if isinstance(answer, str) else None


def plain_script(code: str) -> str:
    """ES module exports as plain script: `export default` sets `module.exports`."""
    return _EXPORT.sub("", _EXPORT_DEFAULT.sub("module.exports = ", code))


def sentence(error: str) -> str:
    """The first line of an error: `ReferenceError: x is not defined`."""
    line = (error.strip().splitlines() or ["unknown error"])[0][:REASON_CHARS]
    if "out of memory" in line:
        return "the code needs more than 64 MB of memory."
    if "interrupted" in line:
        return "the code takes too long."
    return f"{line}."


def graded(value: Any, threshold: Any, who: str) -> Finding:
    """A returned boolean, number or `{pass, score, reason}` as a finding. Raises Broken for anything else."""
    if isinstance(value, bool):
        return Finding(value, "" if value else f"{who} returned false.", score=share_of(float(value)))
    if isinstance(value, int | float):
        passed = value > 0 if threshold is None else value >= threshold
        needed = "above 0" if threshold is None else f"at least {threshold:f}"
        message = "" if passed else f"{who} returned the score {value:g}; {needed} is needed."
        return Finding(passed, message, score=share_of(float(value)))
    if isinstance(value, dict):
        return _record(value, threshold, who)
    raise Broken(
        f"{who.lower()} must return true, false, a number, or an object with pass, score and reason."
    )


def _record(value: dict[str, Any], threshold: Any, who: str) -> Finding:
    passed, score = value.get("pass", value.get("pass_")), value.get("score")
    if (
        not isinstance(passed, bool | None)
        or isinstance(score, bool)
        or not isinstance(score, int | float | None)
    ):
        raise Broken(
            f"{who.lower()} returned an object whose pass is no boolean, or whose score is no number."
        )
    if passed is None and score is None:
        raise Broken(f"{who.lower()} returned an object without pass and score.")
    if score is None:
        score = float(bool(passed))
    if passed is None:
        passed = score > 0 if threshold is None else True
    if threshold is not None:
        passed = passed and score >= threshold
    reason = str(value.get("reason") or "")[:REASON_CHARS]
    message = "" if passed else reason or f"{who} returned the score {score:g}."
    return Finding(passed, message, score=share_of(float(score)))


def code_problems(parameters: Parameters) -> list[str]:
    if len(str(parameters["code"])) > CODE_CHARS:
        return [f"The code has more than {CODE_CHARS:,} characters."]
    function = str(parameters.get("function") or "")
    if function and not re.fullmatch(r"[A-Za-z_$][\w$]{0,59}", function):
        return ["Function must be a name."]
    try:
        decimal_of(parameters, "threshold")
    except Broken as problem:
        return [str(problem)]
    return []


KINDS = (
    CheckKind(
        "javascript",
        "JavaScript",
        "Code must return true, a score, or an object with pass, score and reason.",
        (
            Parameter(
                "code",
                "Code",
                ParameterType.TEXT,
                required=True,
                description="An expression or a function body about output, such as output.length < 100. It "
                "has no files and no network, and 1 second of time.",
            ),
            Parameter(
                "threshold", "Threshold", ParameterType.TEXT, description="The least score. Default: above 0."
            ),
            Parameter(
                "function", "Function", ParameterType.TEXT, description="Its name, if it is in a module."
            ),
            Parameter("context", "Context", ParameterType.JSON, description="What the code sees as context."),
            NEGATE,
        ),
        negatable(run_javascript, lambda parameters: "The code accepts the text"),
        code_problems,
    ),
)
