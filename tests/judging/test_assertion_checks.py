"""Checks that eval files use most: lists of words, JSON, markup, similarity and JavaScript."""

import time
from decimal import Decimal

import pytest

from refinement.engine.types import Check
from refinement.judging.checks import LOCAL, check_problems, expected_words, run_checks, running
from refinement.judging.checks.kinds import share_of
from refinement.judging.checks.likeness import bleu, gleu, rouge_1, words

SCHEMA = {"type": "object", "required": ["size"]}
HTML = "<h1>Hats</h1><p>Many <br> of them</p>"


def finding(kind, parameters, candidate):
    return running.finding(Check("it", kind, parameters), candidate)


@pytest.mark.parametrize(
    ("kind", "parameters", "candidate", "passed"),
    [
        ("contains-any", {"texts": ["hat", "cap"]}, "a cap", True),
        ("contains-any", {"texts": ["hat", "cap"]}, "a Cap", False),
        ("contains-any", {"texts": ["hat", "cap"], "ignore_case": True}, "a Cap", True),
        ("contains-any", {"texts": ["hat", "cap"], "negate": True}, "a cap", False),
        ("contains-all", {"texts": ["hat", "cap"]}, "a hat, a cap", True),
        ("contains-all", {"texts": ["hat", "cap"]}, "a hat", False),
        ("contains-all", {"texts": ["hat", "cap"], "negate": True}, "a hat", True),
        ("ends-with", {"text": "end."}, "The end.\n", True),
        ("ends-with", {"text": "end."}, "The end", False),
        ("equals", {"text": "x", "negate": True}, "y", True),
        ("equals", {"text": "x", "negate": True}, " x ", False),
        ("starts-with", {"text": "A", "negate": True}, "A b", False),
        ("length", {"maximum": 3, "negate": True}, "abcd", True),
        ("equals-json", {"value": '{"a": 1, "b": [true]}'}, '{"b":[true],"a":1.0}', True),
        ("equals-json", {"value": '{"a": 1}'}, '{"a": true}', False),
        ("equals-json", {"value": "[1, 2]"}, "[2, 1]", False),
        ("is-json", {"negate": True}, "plain", True),
        ("is-json", {"negate": True}, "{}", False),
        ("json-schema", {"schema": SCHEMA, "negate": True}, '{"colour": 1}', True),
        ("contains-json", {}, 'It is {"size": 3}, sir.', True),
        ("contains-json", {}, "It is {size}.", False),
        ("contains-json", {"schema": SCHEMA}, '{"a": 1} or {"size": 3}', True),
        ("contains-json", {"schema": SCHEMA}, '{"a": 1}', False),
        ("is-xml", {}, "<a><b/></a>", True),
        ("is-xml", {}, "see <a><b/></a>", False),
        ("is-xml", {"elements": ["a.b.c"]}, "<a><b><c>1</c></b></a>", True),
        ("is-xml", {"elements": ["a.c"]}, "<a><b/></a>", False),
        ("is-xml", {}, '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', False),
        ("is-xml", {"negate": True}, "plain", True),
        ("contains-xml", {"elements": ["a.b"]}, "so: <a><b>1</b></a>!", True),
        ("contains-xml", {}, "1 < 2 > 0", False),
        ("is-html", {}, HTML, True),
        ("is-html", {}, f"Here: {HTML}", False),
        ("is-html", {}, "<div>open", False),
        ("contains-html", {}, f"Here: {HTML}", True),
        ("contains-html", {}, "a < b and c > d", False),
        ("is-refusal", {}, "I'm sorry, but I cannot help with that.", True),
        ("is-refusal", {}, "Gladly: 4.", False),
        ("is-refusal", {"negate": True}, "Gladly: 4.", True),
        ("levenshtein", {"text": "hello"}, "hallo!", True),
        ("levenshtein", {"text": "hello", "threshold": "1"}, "hallo!", False),
        ("rouge-n", {"references": ["the cat sat"]}, "The CAT sat down", True),
        ("rouge-n", {"references": ["the cat sat on it"]}, "the cat", False),
        ("rouge-n", {"references": ["the cat sat on it"], "threshold": "0.4"}, "the cat", True),
        ("bleu", {"references": ["a b c d e"]}, "a b c d e", True),
        ("bleu", {"references": ["a b c d e"]}, "a b x d e", False),
        ("gleu", {"references": ["no", "hello big world"]}, "hello big world", True),
        ("javascript", {"code": "output.length > 2"}, "abc", True),
        ("javascript", {"code": "output.length > 2", "negate": True}, "abc", False),
    ],
)  # fmt: skip
def test_what_passes(kind, parameters, candidate, passed):
    found = finding(kind, parameters, candidate)
    assert found.passed == passed, found.message
    assert passed or found.message
    assert expected_words(Check("it", kind, parameters))


def test_measures_are_those_of_their_papers():
    one, two = words("the cat is on the mat"), words("the cat sat on the mat")
    assert rouge_1(one, two) == pytest.approx(5 / 6)
    assert bleu(two, two) == 1
    # 5/6 of the words, 3/5 of the pairs, 1/4 of the triples, none of the fours
    assert bleu(one, two) == 0
    assert bleu(words("the cat sat on"), two) == pytest.approx(2.718281828 ** (1 - 6 / 4))
    assert gleu(one, two) == pytest.approx((5 + 3 + 1) / (6 + 5 + 4 + 3))
    assert share_of(float("nan")) == 0
    assert (share_of(7), share_of(1 / 3)) == (1, Decimal("0.333333"))


@pytest.mark.parametrize(
    ("code", "passed", "score", "words_of"),
    [
        ("output === 'hello world'", True, 1, ""),
        ("return output.length", True, 1, ""),
        ("0.25", True, 0.25, ""),
        ("0", False, 0, "returned the score 0"),
        ("if (output) {\n  return {pass: false, score: 0.3, reason: 'too dull'};\n}", False, 0.3, "too dull"),
        ("output\n  .split(' ')\n  .length === 2", True, 1, ""),
        ("(output, context) => context.vars.name === 'Ada'", True, 1, ""),
        ("async (output) => output.length > 3", True, 1, ""),
        ("module.exports = (output, { vars }) => ({pass: true, score: 1, reason: vars.name})", True, 1, ""),
        ("export default function (output) { return output.length > 100 }", False, 0, "returned false"),
        ("console.log(output); true", False, None, "must return true"),
        ("throw new Error('boo')", False, None, "The check itself failed: Error: boo."),
        ("({})", False, None, "without pass and score"),
        ("'yes'", False, None, "must return true, false"),
    ],
)
def test_what_javascript_may_return(code, passed, score, words_of):
    found = finding("javascript", {"code": code, "context": {"vars": {"name": "Ada"}}}, "hello world")
    assert (found.passed, words_of in found.message) == (passed, True), found.message
    assert found.score == (None if score is None else share_of(score))


def test_a_threshold_decides_about_a_javascript_score():
    assert not finding("javascript", {"code": "0.4", "threshold": "0.5"}, "x").passed
    assert finding("javascript", {"code": "0.6", "threshold": "0.5"}, "x").passed
    assert not finding("javascript", {"code": "({pass: true, score: 0.4})", "threshold": "0.5"}, "x").passed
    assert check_problems(Check("it", "javascript", {"code": "1", "function": "a b"}))
    assert check_problems(Check("it", "javascript", {"code": "1", "threshold": "much"}))


@pytest.mark.parametrize(
    "code",
    [
        "require('fs')", "std.open('/etc/passwd')", "os.exec(['ls'])", "process.exit(1)",
        "fetch('http://127.0.0.1')", "new XMLHttpRequest()", "new WebSocket('ws://127.0.0.1')",
        "import('/etc/hosts').then(() => true)", "import('fs').then(() => true)",
        "globalThis.constructor.constructor('return process')().env.HOME",
    ],
)  # fmt: skip
def test_javascript_reaches_no_files_and_no_network(code):
    found = finding("javascript", {"code": code}, "x")
    assert not found.passed
    assert found.message.startswith("The check itself failed:")


@pytest.mark.parametrize(
    ("code", "words_of"),
    [
        ("while (true) {}", "takes"),
        ("/(a+)+$/.test('a'.repeat(50) + 'b')", "takes"),
        (
            "const all = []; while (true) { all.push('x'.repeat(1e6) + all.length) }",
            "memory",
        ),
        ("new Uint8Array(65 * 1024 * 1024).length > 0", "memory"),
        ("(function f() { return f() + 1 })()", "call stack"),
    ],
)
def test_javascript_has_a_second_and_64_megabytes(code, words_of):
    """Each such check fails alone: the one after it has its own second."""
    checks = (Check("bad", "javascript", {"code": code}), Check("good", "javascript", {"code": "true"}))
    began = time.process_time()
    bad, good = run_checks(checks, "x")
    assert (bad.passed, good.passed) == (False, True), (bad.message, good.message)
    assert words_of in bad.message
    assert time.process_time() - began < 1  # it ran in another process


def test_a_result_says_what_was_expected_and_found():
    (result,) = run_checks((Check("it", "contains-all", {"texts": ["hat", "cap"]}),), "a  scarf " * 99)
    assert result.expected == "contains all of “hat”, “cap”"
    assert result.actual.startswith("a scarf a scarf")
    assert len(result.actual) == 200
    (passed,) = run_checks((Check("it", "rouge-n", {"references": ["a b c d"]}),), "a b c")
    assert (passed.passed, passed.score, passed.expected) == (True, Decimal("0.750000"), "")


@pytest.mark.parametrize("kind", LOCAL)
def test_code_of_the_caller_is_refused_everywhere_else(kind):
    """A rubric with it cannot be saved, and it does not run without a runner."""
    check = Check("it", kind, {"code": "print(1)", "command": ["true"], "timeout": 1})
    (problem,) = check_problems(check)
    assert "only `wiggum eval` runs" in problem
    (result,) = run_checks((check,), "x")
    assert (result.passed, "only `wiggum eval` runs" in result.message) == (False, True)
