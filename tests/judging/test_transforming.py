"""Checks on what JavaScript makes of an answer, in the child process with its limits."""

import pytest

from refinement.engine.types import Check
from refinement.judging.checks import TRANSFORMED, check_problems, expected_words, is_local, run_checks
from refinement.judging.checks.kinds import Finding

CONTEXT = {"vars": {"key": "size"}}


def check(kind, parameters, *codes):
    steps = [{"code": code} if isinstance(code, str) else code for code in codes]
    made = {"steps": steps, "context": CONTEXT, "kind": kind, "parameters": parameters}
    return Check("it", TRANSFORMED, made)


@pytest.mark.parametrize(
    ("kind", "parameters", "codes", "candidate", "passed"),
    [
        ("equals", {"text": "3"}, ["JSON.parse(output)[context.vars.key]"], '{"size": 3}', True),
        ("equals", {"text": "3"}, ["JSON.parse(output)[context.vars.key]"], '{"size": 4}', False),
        ("contains", {"text": "hat"}, ["JSON.parse(output)", "output.parts"], '{"parts": ["hat"]}', True),
        ("javascript", {"code": "output.size > 2"}, ["JSON.parse(output)"], '{"size": 3}', True),
        ("javascript", {"code": "output.size > 2"}, ["JSON.parse(output)"], '{"size": 1}', False),
        ("equals", {"text": "b"}, ["(output, context) => output.trim()"], " b ", True),
        ("equals", {"text": "b"}, ["const parts = output.split(':');\nreturn parts[1];"], "a:b", True),
        ("equals", {"text": "B"}, [{"code": "exports.up = 1; function up(t) { return t.toUpperCase(); }",
                                    "function": "up"}], "b", True),
        ("regex", {"pattern": "a", "must_match": False}, ["output.slice(1)"], "abc", True),
    ],
)  # fmt: skip
def test_a_check_sees_what_the_code_makes(kind, parameters, codes, candidate, passed):
    made = check(kind, parameters, *codes)
    assert check_problems(made) == []
    (result,) = run_checks((made,), candidate)
    assert (result.passed, result.place) == (passed, None)
    assert passed or result.message


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("output.nothing", "The check itself failed: the transform returned nothing."),
        ("output.nothing.size", "The check itself failed: TypeError: "),
        (
            "'x'.repeat(2 ** 28).split('')",
            "The check itself failed: the code needs more than 64 MB of memory.",
        ),
    ],
)
def test_code_that_fails_fails_the_check_even_if_it_is_negated(code, message):
    for negate in (False, True):
        (result,) = run_checks((check("equals", {"text": "a", "negate": negate}, code),), "a")
        assert not result.passed
        assert result.message.startswith(message)


def test_a_check_on_the_callers_machine_gets_the_text_that_the_code_makes():
    similar = check("similar", {"references": ["hat"], "threshold": "0.8"}, "JSON.parse(output).name")
    seen = []

    def local(inner, text):
        seen.append((inner.kind, text))
        return Finding(True)

    (result,) = run_checks((similar,), '{"name": "cap"}', local)
    assert (result.passed, seen) == (True, [("similar", "cap")])
    assert is_local(similar)
    (broken,) = run_checks((similar,), "no JSON", local)
    assert (broken.passed, len(seen)) == (False, 1)
    (alone,) = run_checks((similar,), "{}")
    assert "only `wiggum eval` runs it" in alone.message


@pytest.mark.parametrize(
    "parameters",
    [{}, {"steps": []}, {"steps": [{"code": 1}], "kind": "is-json", "parameters": {}},
     {"steps": [{"code": "1"}], "kind": TRANSFORMED, "parameters": {}},
     {"steps": [{"code": "1"}], "kind": "command", "parameters": {}},
     {"steps": [{"code": "1"}], "kind": "equals", "parameters": "x"}],
)  # fmt: skip
def test_a_malformed_transform_is_a_problem(parameters):
    assert check_problems(Check("it", TRANSFORMED, parameters))


def test_feedback_says_that_the_text_was_changed_first():
    made = check("contains", {"text": "hat"}, "output.trim()")
    assert expected_words(made) == "contains “hat” after its transform"
