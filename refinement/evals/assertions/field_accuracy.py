"""AgentV's field-accuracy: compares fields of a JSON answer with the expected ones, as a javascript check."""

import json
from collections.abc import Mapping

from refinement.evals.assertions.kinds import Context, Converted, Refusal, jsonable, negated
from refinement.evals.types import Assertion

MATCHES = ("exact", "numeric_tolerance", "date")
PASSING = 0.8
CODE = """
(output, context) => {
  const { fields, expected, allOrNothing, least } = context.config;
  const text = output.trim().replace(/^```[a-z]*\\s*|\\s*```$/g, "");
  let actual;
  try { actual = JSON.parse(text); }
  catch (error) { return { pass: false, score: 0, reason: "The answer is not valid JSON." }; }
  const at = (value, path) => path.replace(/\\[(\\d+)\\]/g, ".$1").split(".").reduce(
    (part, key) => (part === null || part === undefined ? undefined : part[key]), value);
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const matches = (field, found, wanted) => {
    if (field.match === "numeric_tolerance") {
      const limit = field.relative ? Math.abs(Number(wanted)) * field.tolerance : field.tolerance;
      return Math.abs(Number(found) - Number(wanted)) <= limit;
    }
    if (field.match === "date") {
      const day = (value) => {
        const made = new Date(value);
        return isNaN(made) ? null : made.toISOString().slice(0, 10);
      };
      return day(found) !== null && day(found) === day(wanted);
    }
    const texts = typeof found === "string" && typeof wanted === "string";
    return texts ? found.trim() === wanted.trim() : same(found, wanted);
  };
  let sum = 0, total = 0;
  const wrong = [];
  for (const field of fields) {
    const wanted = at(expected, field.path), found = at(actual, field.path);
    if (wanted === undefined || (found === undefined && !field.required)) continue;
    total += field.weight;
    if (found !== undefined && matches(field, found, wanted)) sum += field.weight;
    else wrong.push(`${field.path} is ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
  }
  const mean = total ? sum / total : 0;
  const score = allOrNothing ? Number(total > 0 && !wrong.length) : mean;
  return { pass: score >= least, score, reason: wrong.join("; ") || "No field could be compared." };
}
"""


def field_accuracy(assertion: Assertion, context: Context) -> Converted:
    """The check. Raises Refusal without fields, or without an expected answer that is JSON."""
    fields = assertion.parameters.get("fields")
    if not isinstance(fields, list | tuple) or not fields:
        raise Refusal("fields must be a list of paths to compare.")
    try:
        expected = json.loads(str(assertion.parameters.get("reference") or ""))
    except ValueError:
        raise Refusal("the test needs an expected_output that is JSON.") from None
    config = {
        "fields": [_field(entry) for entry in fields],
        "expected": expected,
        "allOrNothing": assertion.parameters.get("aggregation") == "all_or_nothing",
        "least": PASSING if assertion.threshold is None else float(assertion.threshold),
    }
    return "javascript", {"code": CODE, "context": {**context.data, "config": config}} | negated(assertion)


def _field(entry: object) -> dict[str, object]:
    record: Mapping[str, object] = entry if isinstance(entry, Mapping) else {"path": entry}
    path, match = record.get("path"), record.get("match", "exact")
    if not isinstance(path, str) or not path:
        raise Refusal("each of fields must have a path.")
    if match not in MATCHES:
        raise Refusal(f"match must be one of: {', '.join(MATCHES)}.")
    numbers = {
        name: jsonable(record[name]) if record.get(name) is not None else default
        for name, default in (("weight", 1), ("tolerance", 0))
    }
    if not all(isinstance(number, int | float) for number in (_number(value) for value in numbers.values())):
        raise Refusal("weight and tolerance must be numbers.")
    return {
        "path": path,
        "match": match,
        "required": record.get("required") is not False,
        "relative": record.get("relative") is True,
        **{name: _number(value) for name, value in numbers.items()},
    }


def _number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None
