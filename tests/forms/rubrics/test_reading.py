"""The editor's fields as a definition: round trips, and every invalid input at its own field."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.kinds import JudgeMode, MinimumGain
from refinement.engine.panels import Judges, PanelJudge
from refinement.engine.profiles import context_rules_for, default_rubrics, rubric_for
from refinement.engine.types import (
    Check,
    Criterion,
    EvaluationMode,
    Evaluator,
    Information,
    Metric,
    Rubric,
    Severity,
    StopReason,
)
from refinement.forms.rubrics.initial import form_fields
from refinement.forms.rubrics.reading import RULES_FOLLOWED, clean_fields, read_definition

MARKUP = "<script>alert(1)</script> {{ x }} \"'&"
ALL_CHECKS = (
    Check("says", "contains", {"text": " two\nlines ", "ignore_case": True}, Severity.WARNING),
    Check("quiet", "not-contains", {"text": "TODO"}, Severity.INFO, Decimal("0.5"), "Finish it."),
    Check("dated", "regex", {"pattern": r"\d{4}", "flags": "im", "must_match": False}),
    Check("done", "no-placeholders", {"patterns": ["FIXME", r"\bTBD\b"]}),
    Check("usual", "no-placeholders", {}),
    Check("short", "length", {"unit": "words", "maximum": 900}),
    Check("parts", "heading-count", {"level": 2, "minimum": 1, "maximum": 9}),
    Check("json", "is-json", {}),
    Check("shaped", "json-schema", {"schema": {"type": "object", "required": ["é"]}}),
)
EVALUATOR = Evaluator(
    ("score", "--of", "two words", "{file}"),
    repeat=5,
    validation=("python3", "-m", "py_compile", "{file}"),
    failure_patterns=(r"\b0 passed\b", " spaces stay "),
    metrics=(
        Metric("accuracy", pattern=r"^accuracy: (\S+) $"),
        Metric("time to <b>", pointer="/a~1b/0", lower_is_better=True),
    ),
)


def saved(rubric: Rubric) -> Rubric:
    """The rubric as it comes back from where it is kept."""
    return rubric_from_json(rubric_to_json(rubric))


def fields_of(rubric: Rubric) -> dict[str, str]:
    return form_fields(rubric_to_json(rubric))


def as_browser(fields: dict[str, str]) -> dict[str, str]:
    """Line ends as a browser sends them."""
    return {name: value.replace("\n", "\r\n") for name, value in fields.items()}


@pytest.fixture
def wiggum() -> Rubric:
    return saved(default_rubrics()["wiggum"])


def problems_of(rubric: Rubric, **changes: str | None) -> dict[str, list[str]]:
    """What is wrong after these fields were changed; None leaves a field out."""
    fields = fields_of(rubric) | {name.replace("__", "-"): value for name, value in changes.items()}
    given = {name: value for name, value in fields.items() if value is not None}
    reading = read_definition(clean_fields(given), rubric)
    assert (reading.definition is None) == bool(reading.problems)
    return reading.problems


@pytest.mark.parametrize("slug", default_rubrics())
def test_every_default_rubric_comes_back_as_it_was(slug):
    rubric = saved(default_rubrics()[slug])

    reading = read_definition(clean_fields(as_browser(fields_of(rubric))), rubric)

    assert reading.problems == {}
    assert rubric_to_json(reading.definition) == rubric_to_json(rubric)


def test_a_rubric_with_everything_in_it_comes_back_as_it_was(wiggum):
    everything = replace(
        wiggum,
        checks=ALL_CHECKS,
        purpose=f"\n\nline {MARKUP}\n",
        background="  spaces stay  ",
        templates={"judge": "Score {{ artifact }}.\n", "feedback": "{{ asi }}"},
        calibration_text="An example.",
        calibration_scores={"depth": Decimal("7.5")},
        policy=replace(wiggum.policy, perfect_score=Decimal(10), minimum_gain=Decimal("0.05")),
        context=replace(wiggum.context, judge=wiggum.context.judge | {Information.HISTORY}),
        evaluation_mode=EvaluationMode.RUNNABLE,
        evaluator=EVALUATOR,
        output_schema={"type": "object", "required": ["é", MARKUP]},
        output_pattern="^# ",
        judges=Judges(
            JudgeMode.BOARD,
            (PanelJudge("A", f"{MARKUP}\n"), PanelJudge("B", "b", "rack/a b/c:d")),
            False,
            "ollama/x",
        ),
    )
    rubric = saved(everything)

    reading = read_definition(clean_fields(as_browser(fields_of(rubric))), rubric)

    assert reading.problems == {}
    assert rubric_to_json(reading.definition) == rubric_to_json(rubric)


@pytest.mark.parametrize(
    ("typed", "kept"), [("noise", MinimumGain.NOISE), (" Noise ", MinimumGain.NOISE), ("0.3", Decimal("0.3"))]
)
def test_a_minimum_gain_is_a_number_or_the_judges_noise(wiggum, typed, kept):
    rubric = saved(wiggum)
    reading = read_definition({**fields_of(rubric), "policy-minimum_gain": typed}, rubric)
    assert (reading.problems, reading.definition.policy.minimum_gain) == ({}, kept)
    assert fields_of(reading.definition)["policy-minimum_gain"] == str(kept)


@pytest.mark.parametrize(
    ("name", "typed", "said"),
    [
        ("policy-minimum_gain", "noisy", "Not a number"),
        ("name", "", "Required"),
        ("name", "n" * 161, "at most 160"),
        ("artifact_type", "a" * 41, "at most 40"),
        ("purpose", "x" * 1_000_000, "1,000,000 characters; at most 4,000"),
        ("background", "x" * 1_000_000, "at most 50,000"),
        ("output_contract", "x" * 1_000_000, "at most 20,000"),
        ("search_space", "x" * 1_000_000, "at most 20,000"),
        ("output_schema", "{", "Not valid JSON: Expecting property name"),
        ("output_schema", "[]", "must be a JSON object"),
        ("output_schema", '{"type": "objekt"}', "not valid at $.type"),
        ("output_schema", "[" * 50_001, "at most 50,000"),
        ("output_pattern", "(", "not a valid regular expression"),
        ("output_pattern", "^((?:a|aa)+)+0$", "takes longer"),
        ("evaluator-repeat", "0", "between 1 and 20"),
        ("evaluator-repeat", "", "Required"),
        ("evaluator-validation", "'", "not closed"),
        ("evaluator-failure_patterns", "fine\n(", "Pattern 2: The pattern “(” is not a valid"),
        ("evaluator-failure_patterns", "x\n" * 51, "at most 50"),
        ("criterion-0-description", " ", "Describe what is scored"),
        ("check-0-key", "", "Enter a name"),
        ("criterion-0-key", "relevance", "Number 1 in the list has the same one"),
        ("criterion-0-key", "two words", "without spaces"),
        ("criterion-0-key", "<b>", "only letters"),
        ("criterion-0-key", "k" * 61, "at most 60"),
        ("criterion-0-name", " ", "Enter a name"),
        ("criterion-0-name", "n" * 121, "at most 120"),
        ("criterion-0-description", "x" * 1_000_000, "at most 4,000"),
        ("criterion-0-ideal", "x" * 4_001, "4,001 characters"),
        ("criterion-0-weight", "0", "greater than 0"),
        ("criterion-0-weight", "-1", "greater than 0"),
        ("criterion-0-weight", "", "Enter a weight"),
        ("criterion-0-weight", "heavy", "Not a number"),
        ("criterion-0-weight", "0,5", "a point, not a comma"),
        ("criterion-0-weight", "NaN", "Not a number"),
        ("criterion-0-weight", "1e5", "Not a number"),
        ("criterion-0-weight", "0.00001", "4 decimals"),
        ("criterion-0-weight", "100000", "or less"),
        ("scale-minimum", "", "Required"),
        ("scale-maximum", "0", "greater than the lowest"),
        ("scale-step", "0", "Must be between"),
        ("policy-pass_threshold", "10.1", "on the scale, from 0 to 10"),
        ("policy-perfect_score", "-1", "on the scale"),
        ("policy-composite", "median", "one of the options"),
        ("policy-max_rounds", "0", "between 1 and 100"),
        ("policy-max_rounds", "2.5", "whole number"),
        ("policy-plateau_window", "4", "less than the rounds needed"),
        ("policy-producer_temperature", "2.1", "between 0 and 2"),
        ("policy-budget-tokens", "-5", "between 1 and"),
        ("policy-penalties-points", "-1", "between 0 and"),
        ("problem_class", "poem", "one of the options"),
        ("evaluator-command", "score 'unclosed", "not closed"),
        ("evaluator-command", "score.py", "Use {file} for"),
        ("evaluator-command", "'' {file}", "Enter a program"),
        ("evaluator-command", "x " * 61, "at most 60"),
        ("evaluator-handover", "mail", "one of the options"),
        ("evaluator-file_name", "../x", "only letters"),
        ("evaluator-timeout", "3601", "between 1 and 3,600"),
        ("note", "n" * 401, "at most 400"),
    ],
)
def test_a_bad_value_is_refused_at_its_field(wiggum, name, typed, said):
    # The threshold and the cases about order need a rubric whose other fields are sound.
    if name == "criterion-0-key" and typed == "relevance":
        problems = problems_of(wiggum, **{"criterion-1-key": "depth"})
        assert list(problems) == ["criterion-1-key"]
        assert said in problems["criterion-1-key"][0]
        return

    problems = problems_of(wiggum, **{name: typed})

    assert list(problems)[:1] == [name]
    assert said in problems[name][0]


def test_an_evaluation_that_rests_on_a_command_needs_one(wiggum):
    problems = problems_of(wiggum, evaluation_mode="runnable")

    assert "needs a command" in problems["evaluator-command"][0]


def test_a_command_is_read_in_its_parts_and_shown_as_it_was_typed(wiggum):
    typed = "python3 '/opt/my checks/score.py' --of {file}"
    fields = fields_of(wiggum) | {"evaluation_mode": "runnable", "evaluator-command": typed}

    definition = read_definition(fields, wiggum).definition

    assert definition.evaluator.command == ("python3", "/opt/my checks/score.py", "--of", "{file}")
    assert form_fields(rubric_to_json(definition))["evaluator-command"] == typed


def test_a_rubric_needs_something_to_judge_by(wiggum):
    bare = {name: None for name in fields_of(wiggum) if name.startswith(("criterion-", "check-"))}

    assert "Add at least one criterion" in problems_of(wiggum, **bare)["criteria"][0]


def test_checks_alone_must_count(wiggum):
    ralph = saved(default_rubrics()["ralph"])

    problems = problems_of(ralph, **{"policy-checks_in_composite": None})

    assert list(problems) == ["policy-checks_in_composite"]


@pytest.mark.parametrize(
    ("kind", "parameters", "field", "said"),
    [
        ("contains", {}, "text", "Text is required"),
        ("regex", {"pattern": "("}, "pattern", "not a valid regular expression"),
        ("regex", {"pattern": "(a+)+$"}, "pattern", "takes longer than"),
        ("regex", {"pattern": "x" * 2_001}, "pattern", "2,000 are allowed"),
        ("regex", {"pattern": "x", "flags": "q"}, "flags", "Unknown flags q"),
        ("no-placeholders", {"patterns": "fine\n("}, "patterns", "Pattern 2"),
        ("no-placeholders", {"patterns": "fine\n(x+x+)+y"}, "patterns", "takes longer"),
        ("length", {}, "minimum", "Set a minimum"),
        ("length", {"minimum": "9", "maximum": "3"}, "minimum", "greater than the maximum"),
        ("length", {"minimum": "-9"}, "minimum", "between 0 and"),
        ("length", {"minimum": "9", "unit": "pages"}, "unit", "one of the options"),
        ("heading-count", {"level": "7", "minimum": "1"}, "level", "1 to 6"),
        ("json-schema", {"schema": '{"type": '}, "schema", "Not valid JSON"),
        ("json-schema", {"schema": "[]"}, "schema", "JSON object"),
        ("json-schema", {"schema": '{"type": "nonsense"}'}, "schema", "not valid at"),
        ("json-schema", {"schema": '{"$ref": "http://example.org/"}'}, "schema", "points outside"),
        ("json-schema", {"schema": "x" * 1_000_000}, "schema", "at most 50,000"),
        ("command", {}, None, "not available"),
    ],
)
def test_a_bad_check_is_refused_at_its_field(wiggum, kind, parameters, field, said):
    row = {"check-7-key": "odd", "check-7-kind": kind, "check-7-severity": "error", "check-7-weight": "1"}
    row |= {f"check-7-p-{name}": value for name, value in parameters.items()}

    problems = problems_of(wiggum, **row)

    name = f"check-7-p-{field}" if field else "check-7-key"
    assert list(problems) == [name]
    assert said in problems[name][0]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "Empty."),
        ("fine\n{{ nonsense }}", "Line 2: "),
        ("one\ntwo\n{% if %}", "Line 3: "),
        ("x" * 1_000_000, "20,000 characters are allowed"),
    ],
)
def test_a_bad_template_is_refused_by_line(wiggum, source, said):
    problems = problems_of(wiggum, **{"template-judge": source, "template-judge-default": None})

    assert list(problems) == ["template-judge"]
    assert said in problems["template-judge"][0]


def test_the_default_template_needs_no_source(wiggum):
    assert problems_of(wiggum, **{"template-judge": "{{ nonsense }}"}) == {}


def test_markup_is_a_text_like_any_other(wiggum):
    changes = {
        name: MARKUP
        for name in fields_of(wiggum)
        if name in ("name", "purpose", "background", "output_contract", "search_space")
        or name.endswith(("-name", "-description", "-ideal"))
    }

    reading = read_definition(clean_fields(fields_of(wiggum) | changes), wiggum)

    assert reading.definition.name == MARKUP
    assert reading.definition.criteria[0].ideal == MARKUP


def test_problems_stand_in_the_order_of_the_page(wiggum):
    changes = {"note": "n" * 401, "name": "", "policy-max_rounds": "0", "criterion-3-weight": "0"}

    assert list(problems_of(wiggum, **changes)) == ["name", "criterion-3-weight", "policy-max_rounds", "note"]


def test_rows_follow_their_places_and_removed_ones_are_gone(wiggum):
    changes = {"criterion-5-order": "0", "criterion-1-remove": "on", "criterion-2-order": "soon"}

    reading = read_definition(clean_fields(fields_of(wiggum) | changes), wiggum)

    keys = [criterion.key for criterion in reading.definition.criteria]
    assert keys == ["structure", "depth", "grounded", "specificity", "completeness"]


def test_stop_rules_follow_their_places(wiggum):
    changes = {"stop-cycling-order": "0", "stop-plateau-on": "on", "stop-plateau-order": "0.5"}

    reading = read_definition(clean_fields(fields_of(wiggum) | changes), wiggum)

    assert reading.definition.policy.stop_rules == ("cycling", "plateau", "passed", "max_rounds")


RULES = tuple(map(StopReason, ("quality_threshold_met", "passed", "max_rounds")))


def test_rules_with_the_same_condition_are_offered_once(wiggum):
    ralph = saved(rubric_for("ralph"))
    doubled = replace(wiggum, policy=replace(wiggum.policy, stop_rules=RULES))

    assert "stop-quality_threshold_met-order" not in fields_of(wiggum)
    assert "stop-passed-order" not in fields_of(ralph)
    assert definition_from(ralph).policy.stop_rules == ralph.policy.stop_rules
    assert definition_from(doubled).policy.stop_rules == ("quality_threshold_met", "max_rounds")


def test_keys_are_made_from_names(wiggum):
    changes = {
        "criterion-0-key": "",
        "criterion-0-name": "Plain words",
        "check-0-key": "Has “Fixed”, too",
    }

    definition = definition_from(wiggum, changes)

    assert definition.criteria[0].key == "plain-words"
    assert definition.checks[0].key == "has-fixed-too"


def test_a_criterion_without_a_description_may_stay_if_it_was_there(wiggum):
    bare = saved(
        replace(wiggum, criteria=(replace(wiggum.criteria[0], description=""), *wiggum.criteria[1:]))
    )

    assert definition_from(bare) == bare


def test_a_changed_weight_leaves_the_others_as_they_are(wiggum):
    definition = definition_from(wiggum, {"criterion-0-weight": "6"})

    assert [entry.weight for entry in definition.criteria] == [
        Decimal("0.3"),
        *(entry.weight for entry in wiggum.criteria[1:]),
    ]


def definition_from(rubric: Rubric, changes: dict[str, str] | None = None) -> Rubric:
    reading = read_definition(clean_fields(fields_of(rubric) | (changes or {})), rubric)
    assert not reading.problems
    return reading.definition


def calibrated(rubric: Rubric) -> Rubric:
    scores = {"depth": Decimal(3), "grounded": Decimal("4.5")}
    return saved(replace(rubric, calibration_text="An example.", calibration_scores=scores))


def test_a_calibration_example_loses_the_scores_of_removed_criteria_and_says_so(wiggum):
    known = calibrated(wiggum)
    fields = fields_of(known) | {"criterion-3-remove": "on"}

    reading = read_definition(clean_fields(fields), known)

    assert reading.definition.calibration_scores == {"depth": 3}
    assert reading.definition.calibration_text == "An example."
    assert reading.notices == ["Calibration scores were removed along with their criteria: grounded."]


def test_a_calibration_example_follows_a_renamed_criterion(wiggum):
    known = calibrated(wiggum)

    reading = read_definition(clean_fields(fields_of(known) | {"criterion-0-key": "deep"}), known)

    assert reading.definition.calibration_scores == {"deep": 3, "grounded": Decimal("4.5")}
    assert reading.definition.policy.penalties.criterion == "deep"
    assert reading.renamed == {"deep": "depth"}
    assert reading.notices == []


def test_a_calibration_example_without_scores_is_dropped(wiggum):
    known = calibrated(wiggum)
    fields = fields_of(known) | {"criterion-0-remove": "on", "scale-step": "1"}

    reading = read_definition(clean_fields(fields), known)

    assert reading.definition.calibration_text == ""
    assert reading.definition.calibration_scores == {}
    assert any("no calibration example" in notice for notice in reading.notices)
    assert any("outside the new scale" in notice for notice in reading.notices)
    assert any("penalty for invented names was removed" in notice for notice in reading.notices)


def test_an_odd_key_that_is_there_already_may_stay(wiggum):
    odd = saved(
        replace(
            wiggum,
            criteria=(Criterion("odd key!", "Odd"),),
            policy=replace(wiggum.policy, penalties=replace(wiggum.policy.penalties, criterion=None)),
        )
    )

    assert problems_of(odd) == {}


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({"name": ""}, "metric-7-name", "Enter a name"),
        ({"name": "n" * 61}, "metric-7-name", "at most 60"),
        ({"value": ""}, "metric-7-value", "Enter a pattern"),
        ({"value": "no group"}, "metric-7-value", "exactly one group"),
        ({"value": "(a"}, "metric-7-value", "not a valid regular expression"),
        ({"value": "((?:a|aa)+)(b)"}, "metric-7-value", "exactly one group"),
        ({"value": "^(?:(?:a|aa)+)+(0)$"}, "metric-7-value", "takes longer"),
        ({"by": "pointer", "value": "a"}, "metric-7-value", "starts with a slash"),
    ],
)
def test_a_metric_that_cannot_be_read_is_refused_at_its_field(wiggum, typed, field, said):
    row = {"name": "accuracy", "by": "pattern", "value": "(.)"} | typed
    problems = problems_of(wiggum, **{f"metric-7-{name}": value for name, value in row.items()})
    assert list(problems) == [field]
    assert said in problems[field][0]


def test_metrics_are_read_in_order_without_those_to_be_removed(wiggum):
    rows = {
        "metric-0-name": "last", "metric-0-value": "(b)", "metric-0-order": "2",
        "metric-1-name": "first", "metric-1-by": "pointer", "metric-1-value": "/a", "metric-1-order": "1",
        "metric-1-lower": "on",
        "metric-2-name": "gone", "metric-2-value": "(", "metric-2-remove": "on",
    }  # fmt: skip
    reading = read_definition(clean_fields(fields_of(wiggum) | rows), wiggum)
    assert reading.definition.evaluator.metrics == (
        Metric("first", pointer="/a", lower_is_better=True),
        Metric("last", pattern="(b)"),
    )


def test_two_metrics_of_one_name_are_refused(wiggum):
    rows = {
        f"metric-{place}-{name}": value
        for place in (0, 1)
        for name, value in (("name", "a"), ("value", "(a)"))
    }
    assert problems_of(wiggum, **rows) == {
        "metric-1-name": ["Another metric has the same name. Choose another."]
    }


COMMAND = {"evaluation_mode": "hybrid", "evaluator-command": "pytest {file}"}


def test_the_rules_follow_an_evaluator_that_is_added_and_removed(wiggum):
    added = read_definition(clean_fields(fields_of(wiggum) | COMMAND), wiggum)
    assert added.definition.context == context_rules_for("wiggum", evaluator=True)
    assert added.notices == [RULES_FOLLOWED]

    tested = saved(added.definition)
    removed = read_definition(clean_fields(fields_of(tested) | {"evaluation_mode": "judge_only"}), tested)
    assert removed.definition.context == context_rules_for("wiggum")
    assert removed.notices == [RULES_FOLLOWED]


def test_rules_that_were_set_by_hand_stay_when_an_evaluator_is_added(wiggum):
    fields = fields_of(wiggum) | COMMAND | {"context-judge-history": "on"}
    reading = read_definition(clean_fields(fields), wiggum)
    assert reading.definition.context.judge == wiggum.context.judge | {Information.HISTORY}
    assert reading.notices == []


def test_a_table_that_script_has_moved_already_can_be_set_back_by_hand(wiggum):
    """The form names the preset that its table was shown with, so a choice is not taken for an old preset."""
    reading = read_definition(clean_fields(fields_of(wiggum) | COMMAND | {"preset": "evaluator"}), wiggum)
    assert reading.definition.context == wiggum.context
    assert reading.notices == []
