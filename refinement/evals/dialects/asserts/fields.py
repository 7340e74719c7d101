"""AgentV's comparison of single fields, as JavaScript for the sandbox."""

import json
from collections.abc import Mapping
from dataclasses import replace

from refinement.evals.dialects.log import Log
from refinement.evals.types import Assertion
from refinement.interchange.imports.fields import brief

KNOWN = "exact, numeric_tolerance or date"
MATCHES = ("exact", "numeric_tolerance", "numeric-tolerance", "date")
CODE = """
const fields = %(fields)s, expected = %(expected)s, strict = %(strict)s;
const months = ['jan','feb','mar','apr','may','jun','jul','aug','sep','oct','nov','dec'];
const at = (data, path) => path.replace(/\\[(\\d+)\\]/g, '.$1').split('.')
  .reduce((here, key) => here === null || here === undefined ? undefined : here[key], data);
const day = (text, formats) => {
  for (const format of formats) {
    const names = format.match(/[YMD]+/g) || [], parts = String(text).trim().split(/[^0-9A-Za-z]+/);
    if (names.length !== 3 || parts.length !== 3) continue;
    const found = {};
    names.forEach((name, place) => { found[name[0]] = parts[place]; });
    const month = /^[0-9]+$/.test(found.M) ? Number(found.M)
      : months.indexOf(found.M.slice(0, 3).toLowerCase()) + 1;
    const year = Number(found.Y.length === 2 ? '20' + found.Y : found.Y), date = Number(found.D);
    const valid = year > 31 && month >= 1 && month <= 12 && date >= 1 && date <= 31;
    if (valid) return year * 10000 + month * 100 + date;
  }
  return null;
};
let data;
try { data = JSON.parse(String(output).replace(/^\\s*```[a-z]*\\n|\\n```\\s*$/g, '')); }
catch (error) { return {pass: false, score: 0, reason: 'The answer is not JSON.'}; }
const same = (field) => {
  const got = at(data, field.path), wanted = at(expected, field.path);
  if (got === undefined || got === null) return wanted === undefined || wanted === null;
  if (field.match.startsWith('numeric')) {
    const limit = (field.tolerance || 0) * (field.relative ? Math.abs(Number(wanted)) : 1);
    return Math.abs(Number(got) - Number(wanted)) <= limit;
  }
  if (field.match === 'date') {
    const formats = field.formats || ['YYYY-MM-DD', 'DD-MMM-YYYY', 'MM/DD/YYYY'];
    return day(got, formats) !== null && day(got, formats) === day(wanted, formats);
  }
  return JSON.stringify(got) === JSON.stringify(wanted);
};
let total = 0, reached = 0;
const wrong = [];
for (const field of fields) {
  total += field.weight;
  if (same(field)) reached += field.weight; else wrong.push(field);
}
const score = strict && wrong.length ? 0 : total ? reached / total : 1;
return {
  pass: score >= 0.8 && !wrong.some((field) => field.required),
  score,
  reason: wrong.length ? 'Wrong: ' + wrong.map((field) => field.path).join(', ') : 'All fields are right.',
};
"""


def as_javascript(log: Log, assertion: Assertion, expected: str, line: int, name: str) -> Assertion | None:
    """The assertion as code. The expected answer must be JSON."""
    fields = assertion.parameters.get("fields")
    records = [field_of(log, field, line, name) for field in fields] if isinstance(fields, list) else []
    if not records:
        log.add(line, f"{name} needs fields, a list with a path each.")
        return None
    try:
        data = json.loads(expected)
    except ValueError:
        log.add(line, f"{name}: the expected output must be structured data.")
        return None
    strict = str(assertion.parameters.get("aggregation", "")).replace("-", "_") == "all_or_nothing"
    code = CODE % {"fields": json.dumps(records), "expected": json.dumps(data), "strict": json.dumps(strict)}
    return replace(assertion, kind="javascript", value=code, parameters={})


def field_of(log: Log, field: object, line: int, name: str) -> dict[str, object]:
    record = dict(field) if isinstance(field, Mapping) else {"path": field}
    match = str(record.get("match", "exact"))
    if match not in MATCHES:
        log.add(line, f"{name}: the match {brief(match)} is not supported: use {KNOWN}.")
    weight = record.get("weight", 1)
    return record | {
        "path": str(record.get("path", "")),
        "match": match,
        "weight": weight if isinstance(weight, int | float) else 1,
        "required": record.get("required", True) is not False,
    }
