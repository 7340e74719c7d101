"""Every kind of check: what passes, what fails, and the messages."""

import json
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Check, Place, Severity
from refinement.judging.checks import KINDS, ParameterType, check_problems, run_checks, runaway, running
from refinement.judging.checks.kinds import Finding

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"$ref": "#/$defs/age"}},
    "required": ["name"],
    "$defs": {"age": {"type": "integer", "minimum": 0}},
}
SLOW = r"^(?:(?:a|aa)+)+\d$"
SLOW_TEXT = "a" * 60 + "!"


def check(kind, **parameters):
    return Check("it", kind, parameters)


def result(kind, candidate, **parameters):
    """What the check says, which is the same in the child process and here."""
    (only,) = run_checks((check(kind, **parameters),), candidate)
    here = running.finding(check(kind, **parameters), candidate)
    assert (only.passed, only.message, only.place) == (here.passed, here.message, here.place)
    return only


@pytest.mark.parametrize(
    ("kind", "parameters", "candidate"),
    [
        ("contains", {"text": "beta"}, "alpha beta"),
        ("contains", {"text": "STRASSE", "ignore_case": True}, "In der Straße"),
        ("not-contains", {"text": "gamma"}, "alpha beta"),
        ("not-contains", {"text": "BETA"}, "alpha beta"),
        ("equals", {"text": "alpha beta"}, " alpha beta\n"),
        ("equals", {"text": "STRASSE", "ignore_case": True}, "Straße"),
        ("starts-with", {"text": "alpha"}, "\nalpha beta"),
        ("starts-with", {"text": "ALPHA b", "ignore_case": True}, "alpha beta"),
        ("regex", {"pattern": r"\bb\w+"}, "alpha beta"),
        ("regex", {"pattern": "^beta$", "flags": "im"}, "alpha\nBETA"),
        ("regex", {"pattern": r"\d", "must_match": False}, "no digits"),
        ("is-json", {}, ' {"a": [1, 2.5, null]} '),
        ("is-json", {}, '```json\n{"a": 1}\n```'),
        ("is-json", {}, "~~~\n[1]\n~~~\n"),
        ("json-schema", {"schema": PERSON}, '{"name": "Ada", "age": 36}'),
        ("json-schema", {"schema": json.dumps(PERSON)}, '```\n{"name": "Ada"}\n```'),
        ("length", {"minimum": 3, "maximum": 5}, "four"),
        ("length", {"unit": "words", "minimum": 2, "maximum": 2}, " two\nwords "),
        ("heading-count", {"minimum": 1, "maximum": 1}, "# One\n\n```\n# not this\n```\n"),
        ("heading-count", {"level": 2, "minimum": 1, "maximum": 1}, "# One\n\nTwo\n---\n\ntext\n\n---\n"),
        ("no-placeholders", {}, "A finished text about todo lists, with [a link](x) and [add users](y)."),
        ("no-placeholders", {"patterns": ["@@"]}, "TBD is fine here"),
    ],
)
def test_it_passes(kind, parameters, candidate):
    assert check_problems(check(kind, **parameters)) == []
    passed = result(kind, candidate, **parameters)
    assert (passed.passed, passed.message, passed.place) == (True, "", None)


@pytest.mark.parametrize(
    ("kind", "parameters", "candidate", "words", "marked"),
    [
        ("contains", {"text": "Beta"}, "alpha beta", "“Beta” is missing", None),
        ("not-contains", {"text": "beta"}, "alpha beta beta", "“beta” must not occur", "beta"),
        ("not-contains", {"text": "BETA", "ignore_case": True}, "alpha beta", "must not occur", "beta"),
        ("equals", {"text": "alpha"}, "Alpha", "must be exactly “alpha”", None),
        ("starts-with", {"text": "beta"}, "alpha beta", "must begin with “beta”", None),
        ("regex", {"pattern": "x+"}, "alpha", "Nothing matches the pattern “x+”", None),
        ("regex", {"pattern": "p.a", "must_match": False}, "alpha", "“pha” matches the pattern", "pha"),
        ("is-json", {}, '{"a": 1,}', "line 1, column", "}"),
        ("is-json", {}, "```json\n[1,\n 2 3]\n```", "line 3, column 4", "3"),
        ("is-json", {}, "", "not valid JSON", ""),
        ("is-json", {}, "[NaN]", "NaN is not a JSON value", None),
        ("is-json", {}, "[" * 100_000, "nested too deeply", None),
        ("is-json", {}, '```\n{"a": 1}\n```\nand\n```\n{}\n```', "not valid JSON", None),
        ("json-schema", {"schema": PERSON}, "no json", "not valid JSON", "n"),
        ("json-schema", {"schema": PERSON}, '{"age": 3}', "at $: 'name' is a required property", None),
        ("json-schema", {"schema": PERSON}, '{"name": "A", "age": -1}', "at $.age: -1", None),
        ("json-schema", {"schema": PERSON}, '{"name": "ada"}', "“ada” does not match the pattern", None),
        ("json-schema", {"schema": {"enum": ["x" * 400]}}, '"y"', "…", None),
        ("length", {"minimum": 10}, "short", "has 5 characters; at least 10", None),
        ("length", {"maximum": 3}, "longer", "has 6 characters; at most 3", "ger"),
        ("length", {"unit": "words", "maximum": 1}, "one two three", "has 3 words; at most 1", "two three"),
        ("heading-count", {"minimum": 2}, "# One\ntext", "has 1 headings; at least 2", None),
        ("heading-count", {"level": 2, "maximum": 0}, "# A\n\n## B ##\n", "of level 2; at most 0", "## B ##"),
        ("heading-count", {"maximum": 1}, "# A\n\nTitle\n=====\n", "has 2 headings", "Title"),
        ("no-placeholders", {}, "Cost: TBD. [insert name]", "A placeholder is left: “TBD”", "TBD"),
    ],
)
def test_it_fails_and_says_why_and_where(kind, parameters, candidate, words, marked):
    failed = result(kind, candidate, **parameters)
    assert not failed.passed
    assert words in failed.message
    if marked is not None:
        assert failed.place is not None
        assert candidate[failed.place.start : failed.place.end] == marked


@pytest.mark.parametrize(
    "left",
    [
        "TO" + "DO: write this",
        "FIX" + "ME later",
        "XXX",
        "Lorem Ipsum dolor",
        "[Insert your name here]",
        "[your company]",
        "export KEY=<your-api-key>",
        "<insert name>",
        "{{ your_name }}",
        "# ... rest of the code",
        "… existing code …",
        "The rest of the file remains unchanged.",
    ],
)
def test_placeholders_are_found(left):
    candidate = f"Before it.\n{left}\nAfter it."
    found = result("no-placeholders", candidate)
    assert not found.passed
    assert found.place is not None
    assert candidate[found.place.start : found.place.end].strip() in left


@pytest.mark.parametrize(
    ("kind", "parameters", "candidate"),
    [
        ("regex", {"pattern": SLOW}, SLOW_TEXT),
        ("no-placeholders", {"patterns": [SLOW]}, SLOW_TEXT),
        ("json-schema", {"schema": {"type": "string", "pattern": SLOW}}, json.dumps(SLOW_TEXT)),
    ],
)
def test_a_pattern_that_never_ends_fails_and_says_so(kind, parameters, candidate, monkeypatch):
    monkeypatch.setattr("refinement.judging.checks.patterns.TIMEOUT_SECONDS", 0.05)
    slow = running.finding(check(kind, **parameters), candidate)
    assert not slow.passed
    assert slow.message.startswith("The check itself failed: the pattern")


def test_a_pattern_that_is_slow_on_a_short_text_is_a_problem(monkeypatch):
    monkeypatch.setattr(runaway, "TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr("refinement.judging.checks.patterns.TIMEOUT_SECONDS", 0.05)
    for careless in (
        check("regex", pattern="(a+)+$"),
        check("no-placeholders", patterns=["fine", "(x+x+)+y"]),
    ):
        (problem,) = runaway.runaway_problems(careless)
        assert "takes longer than 0.05 seconds on a text of 2,000 characters" in problem
    for sound in (check("regex", pattern="a+$"), check("contains", text="(a+)+$"), check("no-placeholders")):
        assert runaway.runaway_problems(sound) == []
        assert check_problems(sound, probe=True) == []


def test_a_schema_that_goes_in_circles_fails_and_says_so():
    circular = {"allOf": [{"$ref": "#"}]}
    assert "goes round in circles" in result("json-schema", "1", schema=circular).message


def test_a_result_carries_what_the_check_says_of_itself():
    given = Check("short", "length", {"maximum": 1}, Severity.WARNING, Decimal("2.5"), "Cut it.")
    (found,) = run_checks((given,), "text")
    assert (found.key, found.severity, found.weight, found.suggestion) == (
        "short", Severity.WARNING, Decimal("2.5"), "Cut it.",
    )  # fmt: skip
    assert found.place == Place(1, 4)


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        (
            "command",
            {"command": "true"},
            "A command cannot be a check here; only `wiggum eval` runs scripts.",
        ),
        ("spelling", {}, "There is no check of the kind 'spelling'"),
        ("contains", {}, "Text is required."),
        ("contains", {"text": ""}, "Text is required."),
        ("contains", {"text": 3}, "Text must be a text."),
        ("contains", {"text": "a", "ignore_case": "yes"}, "must be true or false"),
        ("contains", {"text": "a", "colour": 1}, "has no parameter 'colour'"),
        ("is-json", {"strict": True}, "it has: negate"),
        ("regex", {"pattern": "(open"}, "not a valid regular expression"),
        ("regex", {"pattern": "a", "flags": "iq"}, "Unknown flags q"),
        ("regex", {"pattern": "a" * 2_001}, "2,000 are allowed"),
        ("length", {}, "Set a minimum, a maximum or both."),
        ("length", {"minimum": 5, "maximum": 4}, "greater than the maximum"),
        ("length", {"minimum": -1}, "a whole number, 0 or more"),
        ("length", {"minimum": True}, "a whole number, 0 or more"),
        ("length", {"minimum": 10**4_000}, "at most 1,000,000,000"),
        ("length", {"minimum": 1, "unit": "lines"}, "one of: characters, words"),
        ("heading-count", {"level": 7, "minimum": 1}, "Level must be 1 to 6"),
        ("heading-count", {"level": 2}, "Set a minimum"),
        ("no-placeholders", {"patterns": []}, "Give 1 to 100 patterns."),
        ("no-placeholders", {"patterns": ["ok", "[bad"]}, "Pattern 2"),
        ("no-placeholders", {"patterns": "one"}, "a list of texts"),
        ("json-schema", {"schema": 3}, "a JSON schema"),
        ("json-schema", {"schema": "{"}, "not valid JSON"),
        ("json-schema", {"schema": "[]"}, "A schema is a JSON object."),
        ("json-schema", {"schema": {"type": "strin"}}, "The schema is not valid at $.type"),
        ("json-schema", {"schema": {"$ref": "http://127.0.0.1/x.json"}}, "points outside the schema"),
        ("json-schema", {"schema": {"items": [], "anyOf": [{"$ref": "other.json"}]}}, "not valid"),
        ("json-schema", {"schema": {"anyOf": [{"$ref": "other.json"}]}}, "points outside the schema"),
        ("json-schema", {"schema": {"$ref": "#/$defs/none"}}, "points to nothing"),
        ("json-schema", {"schema": {"patternProperties": {"a": {}}}}, "patternProperties is not available"),
        ("json-schema", {"schema": {"pattern": "(?P<x>a)(?P=y)"}}, "is not a 'regex'"),
        ("json-schema", {"schema": {"pattern": "a" * 2_001}}, "2,000 are allowed"),
    ],
)
def test_a_check_that_cannot_work_is_not_saved_and_fails_when_run(kind, parameters, words):
    problems = check_problems(check(kind, **parameters))
    assert problems == running.problems(check(kind, **parameters))
    assert words in " ".join(problems)
    found = result(kind, "any text", **parameters)
    assert not found.passed
    assert found.message.startswith("The check itself is not set up right: ")


def test_a_schema_too_deep_to_read_is_a_problem_not_a_crash():
    deep: dict[str, object] = {}
    for _ in range(3_000):
        deep = {"not": deep}
    assert len(check_problems(check("json-schema", schema=deep))) == 1
    assert len(check_problems(check("json-schema", schema='{"not":' * 500 + "{}" + "}" * 500))) <= 1


@pytest.mark.parametrize(
    ("markdown", "levels"),
    [
        ("# a\n## b\n###### c\n####### no\n#no", [1, 2, 6]),
        ("~~~\n# no\n```\n~~~\n# yes", [1]),
        ("````\n```\n# no\n````\n# yes", [1]),
        ("text\n===\nmore\n---", [1, 2]),
        ("- item\n---\n\n> quote\n---\n\n    code\n---\n\n---\n---", []),
        ("    # code", []),
        ("a\r\n=\r\n# b\r\n", [1, 1]),
    ],
)
def test_headings_are_counted_as_markdown_has_them(markdown, levels):
    for level in range(1, 7):
        count = levels.count(level)
        assert result("heading-count", markdown, level=level, minimum=count, maximum=count).passed


def test_the_registry_tells_a_form_all_it_needs():
    assert list(KINDS) == [
        "contains", "not-contains", "equals", "starts-with", "regex", "no-placeholders",
        "length", "heading-count", "is-json", "contains-json", "equals-json", "json-schema",
        "contains-any", "contains-all", "ends-with", "is-refusal", "is-xml", "contains-xml", "is-html",
        "contains-html", "levenshtein", "rouge-n", "bleu", "gleu", "javascript",
    ]  # fmt: skip
    for kind in KINDS.values():
        assert kind.label
        assert kind.description
        for parameter in kind.parameters:
            assert parameter.label
            assert parameter.type in ParameterType
            assert bool(parameter.choices) == (parameter.type is ParameterType.CHOICE)


def test_the_checks_of_the_profiles_are_sound():
    for given in rubric_for("ralph").checks:
        assert check_problems(given) == []


@pytest.mark.parametrize(
    ("candidate", "passed"),
    [
        ("# Backups\n\nEvery night.", True),
        ("\n  ## Backups\nEvery night.", True),
        ("Backups\n\n# Later", False),
        ("Here it is:\n# Backups", False),
        ("#Backups", False),
        ("```\n# Backups\n```", False),
        ("#", False),
        ("", False),
    ],
)
def test_a_wiggum_text_starts_with_a_heading(candidate, passed):
    rubric = rubric_for("wiggum")
    (result,) = run_checks(rubric.checks, candidate)
    assert (result.passed, result.severity) == (passed, Severity.ERROR)
    assert result.suggestion.startswith("Start with a Markdown heading")
    assert rubric.output_contract == "Markdown that starts with a # heading."


def test_a_command_is_run_by_whoever_passes_in_how_and_by_nobody_else():
    script = check("command", command=["./looks"])

    def looks(check, candidate):
        return Finding(False, f"{check.parameters['command'][0]} saw {candidate!r}")

    (told,) = run_checks((script,), "a text", looks)
    assert (told.passed, told.message) == (False, "./looks saw 'a text'")
    (refused,) = run_checks((script,), "a text")
    assert "only `wiggum eval` runs scripts" in refused.message


def test_parameters_that_cannot_be_sent_fail_alone():
    deep: dict[str, object] = {}
    for _ in range(3_000):
        deep = {"not": deep}
    sound, odd = Check("sound", "contains", {"text": "a"}), Check("odd", "json-schema", {"schema": deep})
    first, middle, last = run_checks((sound, odd, sound), "a")
    assert (first.passed, middle.passed, last.passed) == (True, False, True)
    assert "nested too deeply" in middle.message
    (alone,) = run_checks((odd,), "a")
    assert alone.message == middle.message
