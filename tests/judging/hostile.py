# ruff: noqa: E501  one case, one line
"""Templates and checks that take forever, fill the memory or crash, with the expected result of each.

`python -m tests.judging.hostile templates` (or `checks`) runs them all in a separate process, and prints
the result, time and memory of each as JSON.
"""

import json
import os
import resource
import sys

from benchmarks.instance import cpu_seconds
from refinement.engine.types import Check
from refinement.judging.checks import check_problems, run_checks
from refinement.judging.isolation import SECONDS, process, time_limit
from refinement.judging.isolation.pool import close
from refinement.judging.template_names import sample_values
from refinement.judging.templating import TemplateFailure, check_template, render
from tests.house.processes import children

# Which limit comes first depends on the machine, and on how much time the case is given.
LIMITED = r"longer than|too much memory|stopped unexpectedly|used up the time"
# An endless case uses up its whole time limit, so a quarter of a second tests as much as a whole one.
LIMITED_SECONDS = 0.25
ENDS = ""  # harmless: the template renders, or the check has a result

LOOP = "{%% for a in criteria %%}{%% for b in criteria %%}%s{%% endfor %%}{%% endfor %%}x"
BUSY_LOOP = LOOP % (
    "{% if " + " or ".join(["(a.name|upper|lower|title|upper|lower) == 'x'"] * 30) + " %}y{% endif %}"
)
WIDE_LOOP = LOOP % ("{% if a.name|upper|title == b.name|lower|title %}" * 6 + "{% endif %}" * 6)

# The template's name, its source, and a pattern for the refusal.
TEMPLATES = {
    # --- digits: constants that a compiler computes
    "power of powers": ("draft", "{{ 9**(9**9) }}", "Pow is not available"),
    "power without brackets": ("draft", "{{ 9**9**9 }}", "Pow is not available"),
    "power in a condition": ("draft", "{% if 9**(9**9) > 1 %}x{% endif %}", "Pow is not available"),
    "power in a filter": ("draft", "{{ task|truncate(9**(9**9)) }}", "Pow is not available"),
    "power in an assignment": ("draft", "{% set a = 9**(9**9) %}{{ task }}", "Pow is not available"),
    "power in a list": ("draft", "{% if 1 in [9**(9**9)] %}x{% endif %}", "only texts and numbers"),
    "power in a loop": ("judge", "{% for c in criteria %}{{ 9**(9**9) }}{% endfor %}", "Pow is not"),
    "power in a loop's list": ("judge", "{% for c in [9**(9**9)] %}x{% endfor %}", "A loop must iterate over"),
    "power in a test": ("draft", "{% if task is divisibleby(9**(9**9)) %}x{% endif %}", "Pow is not"),
    "power below a power": ("draft", "{{ 2**2**2**2**2**2 }}", "Pow is not available"),
    "power in a slice": ("draft", "{{ task[9**(9**9)] }}", "is not available"),
    "power in a dict": ("draft", "{{ {1: 9**(9**9)} }}", "is not available"),
    "power in a tuple": ("draft", "{{ (1, 9**(9**9)) }}", "is not available"),
    "power in an unused branch": ("draft", "{{ task if task else 9**(9**9) }}", "Pow is not available"),
    "power in a macro": ("draft", "{% macro m(a=9**(9**9)) %}{% endmacro %}x", "macro is not available"),
    "power in a block": ("draft", "{% block b %}{{ 9**(9**9) }}{% endblock %}", "block is not available"),
    "power in an include": ("draft", "{% include 'a' * 9**(9**9) %}", "include is not available"),
    "power in an extends": ("draft", "{% extends 'a' * 9**(9**9) %}", "extends is not available"),
    "power in a call": ("draft", "{{ task(9**(9**9)) }}", "Calls are not available"),
    "power after an unknown filter": ("draft", "{{ 9**(9**9)|pprint }}", "Pow is not available"),
    "factors": ("draft", "{{ " + "*".join(["9999999999999999"] * 600) + " }}", "nested too deeply"),
    "a few factors": ("draft", "{{ 10**9 * 10**9 }}", "is not available"),
    "a long number": ("draft", "{{ " + "9" * 5_000 + " }}", "number in the template is too long"),
    "a long hexadecimal number": ("draft", "{{ 0x" + "f" * 15_000 + " }}", "cannot be rendered"),
    "a long number in a test": ("draft", "{% if task is divisibleby(0x" + "f" * 9_000 + ") %}x{% endif %}", "cannot be"),
    "a large float": ("draft", "{{ 1e999 }}", ENDS),
    "division by zero": ("draft", "{{ 1/0 }}", "Div is not available"),
    # --- memory and width
    "a text a billion times": ("draft", "{{ 'a' * 10**9 }}", "Mul is not available"),
    "a text many times": ("draft", "{{ 'a' * 2000000000 }}", "Mul is not available"),
    "a list a billion times": ("draft", "{{ [1] * 1000000000 }}", "Mul is not available"),
    "a given text many times": ("draft", "{{ task * 1000000000 }}", "Mul is not available"),
    "a wide number": ("draft", "{{ '%1000000000d' % 1 }}", "Mod is not available"),
    "a wide text": ("draft", "{{ '%1000000000s' % task }}", "Mod is not available"),
    "a wide float": ("draft", "{{ '%.1000000000f' % 1.0 }}", "Mod is not available"),
    "format as a call": ("draft", "{{ '{:1000000000}'.format(1) }}", "Calls are not available"),
    "format as a filter": ("draft", "{{ '%1000000000d'|format(1) }}", "Unknown filter 'format'"),
    "center": ("draft", "{{ task|center(1000000000) }}", "Unknown filter 'center'"),
    "indent": ("draft", "{{ task|indent(1000000000) }}", "Unknown filter 'indent'"),
    "wordwrap": ("draft", "{{ task|wordwrap(1) }}", "Unknown filter 'wordwrap'"),
    "replace": ("draft", "{{ task|replace('', task) }}", "Unknown filter 'replace'"),
    "batch": ("judge", "{{ criteria|batch(1000000000, 'x')|list }}", "Unknown filter 'batch'"),
    "truncate to a billion": ("draft", "{{ task|truncate(1000000000) }}", ENDS),
    "truncate below zero": ("draft", "{{ task|truncate(-1000000000) }}", "Neg is not available"),
    "a joined separator": ("feedback", "{{ issues|join('" + "x" * 10_000 + "') }}", "A separator may have"),
    "a text added to itself": ("draft", "{{ task ~ task ~ task }}", "~ is not available"),
    "a text that doubles": ("draft", "{% set a = task + task %}{{ a }}", "Add is not available"),
    # --- output
    "a range": ("draft", "{% for i in range(1000000000) %}x{% endfor %}", "A loop must iterate over"),
    "everything for everything": ("revision", LOOP % "{{ task }}", "repeat less in loops"),
    "much text in a loop": ("judge", LOOP % ("z" * 15_000), "repeat less in loops"),
    "everything and its length": ("draft", "{{ task }}" * 1_900, ENDS),
    # --- time
    "filters in loops": ("judge", BUSY_LOOP, LIMITED),
    "comparisons in loops": ("judge", WIDE_LOOP, LIMITED),
    "a loop that prints nothing": ("feedback", "{% for a in failures %}{% for b in failures %}{% if "
                                   + " and ".join(["(a.message|title|upper|title|lower) != 'x'"] * 30)
                                   + " %}{% endif %}{% endfor %}{% endfor %}x", LIMITED),
    # --- recursion
    "brackets": ("draft", "{{ " + "(" * 9_000 + "task" + ")" * 9_000 + " }}", "nested too deeply"),
    "negations": ("draft", "{{ " + "not " * 4_000 + "task }}", "nested too deeply"),
    "lists in lists": ("draft", "{{ " + "[" * 9_000 + "]" * 9_000 + " }}", "nested too deeply"),
    "conditions in conditions": ("draft", "{% if task %}" * 150 + "x" + "{% endif %}" * 150, "nested too deeply"),
    "many conditions": ("draft", "{% if task %}" * 700 + "x" + "{% endif %}" * 700, "nested too deeply"),
    "filters on filters": ("draft", "{{ task" + "|upper|lower" * 1_500 + " }}", "nested too deeply"),
    "fields of fields": ("draft", "{{ task" + ".name" * 3_500 + " }}", "nested too deeply"),
    "a chain of terms": ("draft", "{{ " + " and ".join(["task"] * 2_000) + " }}", "nested too deeply"),
    "choices in choices": ("draft", "{{ " + "task if task else " * 1_000 + "task }}", "nested too deeply"),
    "loops in loops": ("judge", "{% for a in criteria %}" * 30 + "x" + "{% endfor %}" * 30, "2 deep"),
    "a recursive loop": ("judge", "{% for a in criteria recursive %}{{ loop(criteria) }}{% endfor %}", "recursive"),
    "a macro that calls itself": ("draft", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macro is not"),
    "a template that includes itself": ("draft", "{% include 'draft.j2' %}", "include is not available"),
    # --- the way out of the sandbox
    "the classes of a text": ("draft", "{{ ''.__class__.__mro__ }}", "Unknown field '__class__'"),
    "the globals of a function": ("draft", "{{ task.format.__globals__ }}", "Unknown field '__globals__'"),
    # --- the lexer
    "brackets that never close": ("draft", "{{" * 9_000, "nested too deeply"),
    "a comment that never closes": ("draft", "{#" * 9_000, "omment"),
    "many blocks": ("draft", "{% set a = 1 %}" * 1_300 + "x", ENDS),
    "many names": ("draft", "".join(f"{{{{ a{n} }}}}" for n in range(1_500)), "Unknown variable"),
}  # fmt: skip

A60, JSON_OBJECTS = "a" * 60 + "!", json.dumps([{"a": n, "b": [n]} for n in range(5_000)])
DEEP = "[" * 900 + "]" * 900


def schema(**keywords):
    return "json-schema", {"schema": keywords}


def pattern(text, **more):
    return "regex", {"pattern": text, **more}


def nested(depth):
    made = {"type": "object"}
    for _ in range(depth):
        made = {"properties": {"a": made}, "additionalProperties": made if depth < 20 else False}
    return made


def any_of(depth):
    """Doubles with each level."""
    made = {"type": "string"}
    for _ in range(depth):
        made = {"anyOf": [made, made]}
    return made


DEFINITIONS = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 8} for n in range(12)} | {
    "d12": {"type": "null"}
}
# The check (or several), the text that it runs on, and a pattern for the message.
CHECKS = {
    # --- schemas: time
    "unique objects": (schema(uniqueItems=True), JSON_OBJECTS, LIMITED),
    "unique lists": (schema(uniqueItems=True), json.dumps([[{}, n] for n in range(6_000)]), ENDS),
    "unique mixed": (schema(uniqueItems=True), json.dumps([n if n % 2 else {"a": n} for n in range(8_000)]), LIMITED),
    "unique lists of lists": (schema(items={"uniqueItems": True}), json.dumps([[{"a": n} for n in range(2_500)]] * 3), LIMITED),
    "unique in a definition": (schema(**{"$ref": "#/$defs/u", "$defs": {"u": {"uniqueItems": True}}}), JSON_OBJECTS, LIMITED),
    "not unique": (schema(**{"not": {"uniqueItems": True}}), JSON_OBJECTS, LIMITED),
    "references that multiply": (schema(**{"$ref": "#/$defs/d0", "$defs": DEFINITIONS}), "1", LIMITED),
    "one of many": (schema(oneOf=[{"items": {"enum": [n]}} for n in range(1_500)]), json.dumps([{}] * 1_500), LIMITED),
    "a large enum": (schema(items={"enum": [{"a": n} for n in range(3_000)]}), JSON_OBJECTS, LIMITED),
    "contains in contains": (schema(contains={"contains": {"contains": {"const": 1}}}), json.dumps([[[2] * 200] * 100] * 60), LIMITED),
    "errors without end": (schema(items={"type": "string"}), json.dumps([1] * 190_000), LIMITED),
    "all of much": (schema(allOf=[{"items": {"type": "object"}}] * 900), JSON_OBJECTS, LIMITED),
    "unevaluated items": (schema(anyOf=[{"prefixItems": [{}] * n} for n in range(1, 150)], unevaluatedItems=False),
                          json.dumps([1] * 9_000), LIMITED),
    "unevaluated properties": (schema(anyOf=[{"properties": {f"k{n}": {}}} for n in range(300)], unevaluatedProperties=False),
                               json.dumps({f"k{n}": n for n in range(9_000)}), "Unevaluated properties"),
    "dependent schemas": (schema(items={"dependentSchemas": {f"k{n}": {"required": ["x"]} for n in range(60)}}),
                          json.dumps([{f"k{n}": n for n in range(60)}] * 250), "required property"),
    "a slow pattern for every item": (schema(items={"pattern": "^(a|aa)+b$"}), json.dumps(["a" * 28] * 900), LIMITED),
    "a slow pattern for every name": (schema(propertyNames={"pattern": "^(a|aa)+b$"}),
                                      json.dumps({"a" * 26 + str(n): 1 for n in range(900)}), LIMITED),
    # --- schemas: recursion, size, digits
    "a schema in circles": (schema(allOf=[{"$ref": "#"}]), "1", "circles"),
    "any of itself": (schema(anyOf=[{"$ref": "#"}, {"$ref": "#"}]), "1", "circles"),
    "not itself": (schema(**{"not": {"$ref": "#"}}), "1", "circles"),
    "a schema in a deep text": (schema(items={"$ref": "#"}), DEEP, "circles"),
    "a deep schema": (schema(**nested(12)), "{}", LIMITED),
    "a deeper schema": (schema(**json.loads('{"not":' * 400 + "{}" + "}" * 400)), "{}", "too deeply"),
    "a text nested in brackets": (("is-json", {}), "[" * 150_000, "too deeply"),
    "a text nested in objects": (("is-json", {}), '{"a":' * 39_000, "too deeply"),
    "a schema for a nested text": (schema(type="array"), "[" * 150_000, "too deeply"),
    "a long number": (("is-json", {}), "9" * 150_000, "not valid JSON"),
    "a large exponent": (schema(multipleOf=0.0001), "1e308", "not a multiple"),
    "a multiple of nearly nothing": (schema(multipleOf=1e-300), "1e300", "not a multiple"),
    "a long key in the path": (schema(additionalProperties={"type": "string"}), json.dumps({"k" * 190_000: 1}), "…"),
    "a long value in the message": (schema(type="string"), json.dumps(["v" * 190_000]), "…"),
    "a large constant": (schema(const="c" * 40_000), '"d"', "…"),
    "a reference elsewhere": (schema(**{"$ref": "http://127.0.0.1:9/x"}), "1", "points outside"),
    "a dialect elsewhere": (schema(**{"$schema": "http://127.0.0.1:9/x"}), "1", ENDS),
    "an odd identifier": (schema(**{"$id": "http://[", "$ref": "#/a"}), "1", "points to nothing"),
    "a doubling schema": (schema(**any_of(14)), "1", LIMITED),
    # --- patterns: time
    "a pattern in a pattern": (pattern("(a+)+$"), A60, "Nothing matches"),
    "a choice in a pattern": (pattern(r"^(?:(?:a|aa)+)+\d$"), A60, LIMITED),
    "three stars": (pattern("^a*a*a*a*a*a*a*b$"), "a" * 5_000, "Nothing matches"),
    "words": (pattern(r"^(\w+\s?)*$"), "word " * 5_000 + "!", "Nothing matches"),
    "a backreference": (pattern(r"^(a+)(a+)(a+)\1\2\3b"), "a" * 5_000, LIMITED),
    "lookaheads": (pattern("(?=(a+))(?=(a+))+b" * 20), "a" * 3_000, "Nothing matches"),
    "a lookbehind": (pattern(r"(?<=(a|aa)+)b\d"), "a" * 20_000 + "b", "Nothing matches"),
    "a fuzzy pattern": (pattern("(?:abcdefghij){e<=8}"), "z" * 100_000, LIMITED),
    "a fuzzy choice": (pattern("(?b)(?:" + "|".join(["hostile"] * 50) + "){e<=6}"), "x" * 50_000, LIMITED),
    "many slow patterns": (("no-placeholders", {"patterns": [f"^(a|aa)+{n}$" for n in range(90)]}), "a" * 32, LIMITED),
    "many checks, each slow": ([pattern(f"^(?:(?:a|aa)+)+{n}$") for n in range(40)], A60, LIMITED),
    "many checks, each nearly slow": ([pattern(f"^(a|aa)+{n}$") for n in range(200)], "a" * 30, LIMITED),
    "a pattern ignoring case": (pattern("(ſ|s|ss|ß)+$", flags="i"), "ß" * 300 + "!", "Nothing matches"),
    "a phrase ignoring case": (("contains", {"text": "ß" * 20_000 + "x", "ignore_case": True}), "ss" * 90_000, LIMITED),
    # --- patterns: recursion, memory, width
    "a pattern that calls itself": (pattern("(?R)?a"), "a" * 200_000, LIMITED),
    "a pattern that calls itself twice": (pattern("(?R)?(?R)?a"), "a" * 5_000, LIMITED),
    "a group that calls itself": (pattern(r"(\((?:[^()]|(?1))*\))"), "(" * 100_000, LIMITED),
    "nested groups": (pattern("(" * 900 + "a" + ")" * 900), "a", "not a valid regular expression"),
    "a wide repetition": (pattern("(?:a{1000}){1000}"), "a" * 200_000, LIMITED),
    "a wider repetition": (pattern("(?:(?:(?:a{999}){999}){999}){999}"), "a" * 200_000, LIMITED),
    "a very wide repetition": (pattern("a{4000000000}"), "a", LIMITED),
    "captures without end": (pattern("(?:(.))*(?:(.))*"), "a" * 190_000, ENDS),
    "captures of captures": (pattern("(?:(?:(?:(.))+)+)+$"), "a" * 190_000 + "\n\n", LIMITED),
    "a large set": (pattern("[" + "".join(chr(n) for n in range(0x4E00, 0x4E00 + 1_900)) + "]+$"), "一" * 190_000 + "!", LIMITED),
    "sets in sets": (pattern("(?V1)" + "[a--[" * 180 + "b" + "]]" * 180), "a" * 1_000, "not a valid regular expression"),
    "a list of names": (pattern(r"\p{L}*\p{Lu}*\p{Ll}*\d$"), "a" * 60_000, LIMITED),
    # --- texts that a check is slow on
    "a fence with spaces": (("is-json", {}), "```\n" + " " * 190_000, LIMITED),
    "a fence with lines": (("is-json", {}), "```\n" + "\n" * 190_000 + "x", "not valid JSON"),
    "many fences": (("is-json", {}), "```\n" * 45_000 + "x", "not valid JSON"),
    "headings of dashes": (("heading-count", {"minimum": 1}), "- " * 95_000 + "x\n---", "at least 1"),
    "many headings": (("heading-count", {"maximum": 1}), "#\n" * 95_000, "at most 1"),
    "many words": (("length", {"unit": "words", "maximum": 1}), "a " * 95_000, "at most 1"),
    "a huge limit": (("length", {"minimum": 10**4_000}), "a", "at most 1,000,000,000"),
    "an unspeakable limit": (("length", {"minimum": 1 << 20_000}), "a", "not set up right"),
}  # fmt: skip


def measured(attempt, *given, limit):
    """The message, and the processor time used; starting processes is not counted."""
    run_checks((Check("warm-up", "contains", {"text": "a"}),), "a")
    began = processor_seconds()
    with time_limit(limit):
        said = attempt(*given)
    return said, processor_seconds() - began


def processor_seconds():
    """The processor time of this process and its children, including ended ones."""
    ours = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(cpu_seconds(pid) for pid in children(os.getpid()))
    return ours.ru_utime + ours.ru_stime + ended.ru_utime + ended.ru_stime + living


def rendered(name, source):
    """Renders the template without checking it first, like one of an imported run."""
    try:
        return render(name, source, **[*sample_values(name)][1])
    except TemplateFailure as failure:
        return str(failure)


def try_template(limit, name, source):
    problems, checking = measured(check_template, name, source, limit=limit)
    text, rendering = measured(rendered, name, source, limit=limit)
    messages = [problem.message for problem in problems]
    return messages, len(text), max(checking, rendering)


def try_checks(limit, given, text):
    checks = [Check(f"c{n}", *each) for n, each in enumerate(given if isinstance(given, list) else [given])]
    problems, verifying = measured(check_problems, checks[0], limit=limit)
    results, running = measured(run_checks, tuple(checks), text, limit=limit)
    messages = [*problems, *(result.message for result in results)]
    return messages, max(len(message) for message in messages), max(verifying, running)


def main(which):
    cases, attempt = (TEMPLATES, try_template) if which == "templates" else (CHECKS, try_checks)
    found = {}
    process.PATIENCE = 60.0  # other load on this machine must not end a request
    for case, (*given, expected) in cases.items():
        said, size, seconds = attempt(LIMITED_SECONDS if expected == LIMITED else SECONDS, *given)
        found[case] = {"said": " ".join(said)[:2_000], "size": size, "seconds": seconds}
    close()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    json.dump({"cases": found, "peak": peak}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
