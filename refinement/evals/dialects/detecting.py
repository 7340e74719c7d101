"""Recognises whose format a file is written in."""

from pathlib import Path

from refinement.evals.dialects.log import words
from refinement.evals.types import Dialect
from refinement.interchange.rubrics.yaml_reading import Fields, Items, Node, Scalar

PROMPTFOO_NAME = "promptfooconfig"
PROMPTFOO_KEYS = words(
    """
    evaluateOptions outputPath commandLineOptions scenarios assertionTemplates derivedMetrics redteam
    tracing nunjucksFilters sharing writeLatestResults filters env
    """
)
PROMPTFOO_TEST_KEYS = words(
    """
    options provider metadata assertScoringFunction providerOutput
    """
)
AGENTV_KEYS = words(
    """
    evalcases eval_cases cases dataset evaluators evaluator assertions target input_messages suite
    workspace environment evaluate_options imports governance rubrics version license requires tags
    experiment category repeat runs preprocessors threshold
    """
)
AGENTV_EXECUTION = words(
    """
    evaluators trials assertions assert skip_defaults budget_usd total_budget_usd cache workers
    threshold max_concurrency fail_on_error repeat runs
    """
)
AGENTV_TEST_KEYS = words(
    """
    criteria expected_output expected_messages expected_outcome outcome input_messages assertions
    evaluators rubrics conversation_id execution workspace environment input_files
    """
)
AGENTV_TYPES = words(
    """
    rubrics rubric llm-grader llm-judge llm_judge code-grader code_judge code-judge composite tool-trajectory
    tool_trajectory execution-metrics execution_metrics field-accuracy field_accuracy
    """
)


def dialect_of(root: Node, path: Path) -> Dialect:
    """The dialect. A file without a sign of another one is Wiggum's own."""
    if (by_name := dialect_by_name(path)) != Dialect.WIGGUM:
        return by_name
    if isinstance(root, Items):
        return Dialect.AGENTV
    if not isinstance(root, Fields):
        return Dialect.WIGGUM
    named = [dialect for dialect in (Dialect.AGENTV, Dialect.PROMPTFOO) if dialect in schema_of(root)]
    return named[0] if named else by_keys(root)


def dialect_by_name(path: Path) -> Dialect:
    name = path.name.lower()
    if name.startswith(PROMPTFOO_NAME):
        return Dialect.PROMPTFOO
    return Dialect.AGENTV if name.endswith(".jsonl") else Dialect.WIGGUM


def by_keys(root: Fields) -> Dialect:
    """The dialect that has these keys."""
    keys = root.values.keys()
    tests = list(records(root.values.get("tests")))
    if keys & AGENTV_KEYS or has_agentv_tests(root, tests):
        promptfoo = keys & (PROMPTFOO_KEYS - {"scenarios", "env"}) or "defaultTest" in keys
        return Dialect.PROMPTFOO if promptfoo and not has_agentv_tests(root, tests) else Dialect.AGENTV
    if "input" in keys or any("input" in test.values for test in tests):
        return Dialect.WIGGUM
    if keys & PROMPTFOO_KEYS or any(test.values.keys() & PROMPTFOO_TEST_KEYS for test in tests):
        return Dialect.PROMPTFOO
    if isinstance(root.values.get("tests"), Scalar):
        return Dialect.PROMPTFOO if "prompts" in keys else Dialect.AGENTV
    if "providers" in keys and not has_own_providers(root.values["providers"]):
        return Dialect.AGENTV if has_plain_asserts(root, tests) else Dialect.PROMPTFOO
    return Dialect.WIGGUM


def has_agentv_tests(root: Fields, tests: list[Fields]) -> bool:
    execution = root.values.get("execution")
    if isinstance(execution, Fields) and execution.values.keys() & AGENTV_EXECUTION:
        return True
    if any(test.values.keys() & AGENTV_TEST_KEYS for test in tests):
        return True
    asserts = [entry for place in (root, *tests) for entry in records(place.values.get("assert"))]
    return any(
        (isinstance(kind := entry.values.get("type"), Scalar) and kind.text in AGENTV_TYPES)
        or "negate" in entry.values
        or "required" in entry.values
        for entry in asserts
    )


def has_plain_asserts(root: Fields, tests: list[Fields]) -> bool:
    """Whether a text stands for an assertion, which promptfoo does not allow."""
    lists = [place.values.get("assert") for place in (root, *tests)]
    return any(
        isinstance(entry, Scalar) for found in lists if isinstance(found, Items) for entry in found.values
    )


def has_own_providers(node: Node) -> bool:
    """Whether these are the few providers that Wiggum's own files may have."""
    entries = node.values if isinstance(node, Items) else [node]
    texts = [
        entry.values.get("id") if isinstance(entry, Fields) and entry.values.keys() == {"id"} else entry
        for entry in entries
    ]
    return all(isinstance(text, Scalar) and text.text.startswith("ollama:chat:") for text in texts)


def records(node: Node | None) -> list[Fields]:
    return [entry for entry in node.values if isinstance(entry, Fields)] if isinstance(node, Items) else []


def schema_of(root: Fields) -> str:
    schema = root.values.get("$schema")
    return schema.text.lower() if isinstance(schema, Scalar) else ""
