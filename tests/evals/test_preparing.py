"""From assertions to checks, criteria and gates."""

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from refinement.engine.types import ONE, Severity
from refinement.evals.assertions.kinds import KINDS, MODEL_GRADED
from refinement.evals.assertions.preparing import MARK, prepared
from refinement.evals.dialects.asserts.kinds import REFUSED
from refinement.evals.planning import Planner, with_rules
from refinement.evals.reading import check_eval, read_eval
from refinement.evals.types import Assertion, Case, Rule
from refinement.judging.checks import KINDS as CHECKS
from refinement.judging.checks import LOCAL, run_checks
from tests.engine.given import rubric as rubric_for


def made(*assertions, **more):
    found = prepared(assertions, Path("/bin"), **more)
    assert not found.problems, found.problems
    return found


@pytest.mark.parametrize(
    ("assertion", "kind", "parameters"),
    [
        (Assertion("contains", 7), "contains", {"text": "7"}),
        (Assertion("contains", "x", negated=True), "not-contains", {"text": "x"}),
        (Assertion("icontains", "x"), "contains", {"text": "x", "ignore_case": True}),
        (Assertion("contains-any", "a, b"), "contains-any", {"texts": ["a", "b"]}),
        (
            Assertion("icontains-all", ["a", 2], negated=True),
            "contains-all",
            {"texts": ["a", "2"], "ignore_case": True, "negate": True},
        ),
        (Assertion("equals", {"a": Decimal("1.50")}), "equals-json", {"value": '{"a": 1.5}'}),
        (Assertion("equals", True), "equals", {"text": "true"}),
        (Assertion("regex", r"\d", negated=True), "regex", {"pattern": r"\d", "must_match": False}),
        (Assertion("is-json"), "is-json", {}),
        (Assertion("is-json", {"type": "object"}), "json-schema", {"schema": {"type": "object"}}),
        (Assertion("contains-json", negated=True), "contains-json", {"negate": True}),
        (Assertion("is-xml", {"requiredElements": ["a.b"]}), "is-xml", {"elements": ["a.b"]}),
        (Assertion("word-count", {"min": 2}), "length", {"unit": "words", "minimum": 2}),
        (Assertion("word-count", 5), "length", {"unit": "words", "minimum": 5, "maximum": 5}),
        (Assertion("length", parameters={"max": 9}), "length", {"maximum": 9}),
        (
            Assertion("levenshtein", "x", threshold=Decimal(3)),
            "levenshtein",
            {"text": "x", "threshold": "3"},
        ),
        (Assertion("bleu", ["x", "y"]), "bleu", {"references": ["x", "y"]}),
        (Assertion("latency", threshold=Decimal(200)), "latency", {"threshold": "200"}),
        (Assertion("cost", threshold=Decimal("0.001")), "cost", {"threshold": "0.001"}),
        (
            Assertion("script", parameters={"command": ["sh", "-n"], "contract": "json", "timeout": 9}),
            "command",
            {"command": ["sh", "-n"], "timeout": 9, "contract": "json"},
        ),
    ],
)  # fmt: skip
def test_checks(assertion, kind, parameters):
    (check,) = made(assertion).checks
    assert (check.kind, dict(check.parameters)) == (kind, parameters)


def test_code_knows_its_case():
    found = made(
        Assertion("javascript", "output", parameters={"config": {"most": 3}}),
        prompt="Greet Ada.",
        variables={"name": "Ada", "ages": [1, 2]},
    )
    context = found.checks[0].parameters["context"]
    assert context["vars"] == {"name": "Ada", "ages": [1, 2]}
    assert (context["prompt"], context["config"]) == ("Greet Ada.", {"most": 3})


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_by_name(kind, tmp_path):
    path = tmp_path / "promptfooconfig.yaml"
    path.write_text(f"prompts: [Hi]\ntests:\n  - assert: [{{type: {kind}, value: x}}]\n")
    (refusal,) = check_eval(path, own_targets=True).refused
    assert refusal.line == 3
    assert refusal.reason.endswith(f"the assertion type '{kind}' is not supported: {REFUSED[kind]}")


@pytest.mark.parametrize(
    ("assertion", "words"),
    [
        (Assertion("contians", "x"), "unknown type"),
        (Assertion("contains"), "value must be a text"),
        (Assertion("contains-any", []), "must be a list of texts"),
        (Assertion("regex", "("), "not a valid regular expression"),
        (Assertion("is-json", {"type": 3}), "schema is not valid"),
        (Assertion("latency"), "threshold is required"),
        (Assertion("rouge-n", "x", threshold=Decimal(2)), "between 0 and 1"),
        (Assertion("script", parameters={"command": ["./nothing-here"]}), "cannot be started"),
        (Assertion("contains", "x", weight=Decimal(-1)), "weight must be"),
        (Assertion("assert-set"), "at least one assertion"),
        (Assertion("llm-rubric"), "a text or a list of criteria"),
        (Assertion("llm-rubric", [{"criterion": "x", "min_score": 11}]), "min_score must be"),
        (
            Assertion(
                "llm-rubric",
                [{"criterion": "x", "score_ranges": [{"score_range": [3, 1], "outcome": "y"}]}],
            ),
            "two numbers from 0 to 10",
        ),
    ],
)
def test_everything_wrong_is_said_at_once(assertion, words):
    found = prepared([assertion, Assertion("contians", "y")], Path("/"))
    assert words in found.problems[0].message
    assert "contians: unknown type" in found.problems[-1].message


def test_what_must_hold_without_a_threshold():
    found = made(
        Assertion("contains", "a"),
        Assertion("contains", "b", severity=Severity.WARNING),
        Assertion("contains", "c", weight=Decimal(0)),
        Assertion("llm-rubric", "Is it kind?"),
        Assertion("llm-rubric", "Is it short?", threshold=Decimal("0.5")),
        Assertion("contains", "d", required=True),
    )
    assert found.rules == (
        Rule(("contains-1",)),
        Rule(("llm-rubric-1",), MARK),
        Rule(("llm-rubric-2",), Decimal("0.5")),
        Rule(("contains-4",), always=True),
    )
    weights = {check.key: check.weight for check in found.checks}
    assert weights["contains-3"] == Decimal("0.0001")
    rules = tuple(rule for rule in found.rules if "llm" not in rule.keys[0])
    case = Case("it", 1, "x", found.checks, (), rules=rules)
    base = replace(rubric_for("ralph"), checks=found.checks, criteria=())
    strict, lenient = (with_rules(base, case, strict=strict) for strict in (True, False))
    assert [check.severity.value for check in strict.checks] == ["error", "warning", "info", "error"]
    assert [check.severity.value for check in lenient.checks] == ["warning", "warning", "info", "error"]
    assert [gate.keys for gate in strict.gates] == [("contains-1",), ("contains-4",)]
    assert [gate.keys for gate in lenient.gates] == [("contains-4",)]


def test_a_set_counts_as_one_assertion():
    parts = (Assertion("contains", "a"), Assertion("contains", "b", weight=Decimal(3)))
    found = made(
        Assertion("assert-set", parts=parts, weight=Decimal(2), threshold=Decimal("0.5"), id="both"),
        Assertion("assert-set", parts=parts[:1]),
    )
    assert found.sets == {"both": ("contains-1", "contains-2"), "assert-set-1": ("contains-3",)}
    assert [check.weight for check in found.checks] == [Decimal("0.5"), Decimal("1.5"), ONE]
    assert found.rules == (Rule(("contains-1", "contains-2"), Decimal("0.5")), Rule(("contains-3",)))


def test_rubric_items():
    ranges = [{"score_range": [0, 3], "outcome": "Bad."}, {"score_range": [4, 10], "outcome": "Good."}]
    found = made(
        Assertion(
            "llm-rubric",
            [
                {"id": "clear", "outcome": "Is it clear?", "weight": Decimal(2), "required": True, "line": 3},
                {"criterion": "Is it short?", "required": False, "score_ranges": ranges},
                {"criterion": "Right sum", "operator": "contradiction", "min_score": Decimal("0.6")},
            ],
            parameters={"reference": "42", "prompt": "Judge {{ output }} by {{criteria}}."},
        )
    )
    clear, short, right = found.criteria
    assert (clear.key, clear.weight, short.key) == ("clear", 2, "llm-rubric-1")
    assert "From 0 to 0.3: Bad. From 0.4 to 1: Good." in short.description
    assert right.description.startswith("The answer must not contradict this.")
    assert "Reference answer: 42" in clear.description
    assert "Judge (the candidate) by (the criterion)." in clear.description
    assert found.rules == (
        Rule(("clear",), MARK, always=True),
        Rule(("llm-rubric-2",), Decimal("0.6")),
        Rule(("clear", "llm-rubric-1", "llm-rubric-2"), MARK),
    )


def test_negated_and_other_model_graded_types():
    found = made(
        Assertion("llm-rubric", "mentions AI", negated=True),
        *(Assertion(kind, "the sky is blue") for kind in MODEL_GRADED),
        variables={"context": "the sky is blue"},
    )
    assert found.criteria[0].description.startswith("This must not be true of the answer")
    assert all("the sky is blue" in entry.description for entry in found.criteria[1:])
    assert found.types["not-llm-rubric-1"] == "not-llm-rubric"


def test_every_kind_becomes_a_check_that_exists():
    known = {*CHECKS, *LOCAL}
    values = {"script": None, "length": None, "word-count": 3, "is-json": None, "json-schema": {}}
    for kind in KINDS:
        assertion = Assertion(
            kind,
            values.get(kind, "x"),
            parameters={"command": ["sh"], "min": 1},
            threshold=Decimal(1) if kind in ("latency", "cost") else None,
        )
        if kind in ("is-xml", "contains-xml", "contains-json"):
            assertion = Assertion(kind)
        assert {check.kind for check in made(assertion).checks} <= known


def test_fields_of_a_json_answer():
    fields = [
        {"path": "name"},
        {"path": "sum", "match": "numeric_tolerance", "tolerance": Decimal("0.5"), "weight": 2},
        {"path": "items[1].day", "match": "date", "required": False},
    ]
    expected = '{"name": "Ada", "sum": 10, "items": [{}, {"day": "2026-11-18"}]}'
    more = {"fields": fields, "reference": expected}
    (check,) = made(Assertion("field-accuracy", parameters=more, threshold=Decimal("0.6"))).checks
    (good,) = run_checks((check,), '{"name": " Ada", "sum": 10.4, "items": [{}, {"day": "18 Nov 2026"}]}')
    assert (good.passed, good.score) == (True, 1), good.message
    (half,) = run_checks((check,), '```json\n{"name": "Bob", "sum": 9.5}\n```')
    assert (half.passed, half.score) == (True, Decimal("0.666667"))
    (bad,) = run_checks((check,), '{"name": "Ada", "sum": 12}')
    assert (bad.passed, bad.message) == (False, "sum is 12, expected 10")
    (problem,) = prepared([Assertion("field-accuracy", parameters={"fields": ["x"]})], Path("/")).problems
    assert "expected_output that is JSON" in problem.message


def test_repeats_are_jobs_of_their_own(tmp_path):
    test = {"id": "a", "assert": [{"type": "contains", "value": "x"}]}
    suite = {"input": "Hi", "default_test": {"repeat": 2}, "tests": [test, test | {"id": "b", "repeat": 3}]}
    (tmp_path / "it.eval.yaml").write_text(json.dumps(suite))
    jobs = Planner(("ollama/x",)).jobs([read_eval(tmp_path / "it.eval.yaml", own_targets=True)])
    assert [(job.case.name, job.trial, job.trials) for job in jobs] == [
        ("a", 1, 2), ("a", 2, 2), ("b", 1, 3), ("b", 2, 3), ("b", 3, 3),
    ]  # fmt: skip
    assert len({job.key for job in jobs}) == 5
