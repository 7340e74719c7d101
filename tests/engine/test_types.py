"""The types refuse invalid rubrics, policies and scores."""

from dataclasses import FrozenInstanceError, replace
from decimal import Decimal

import pytest

from refinement.engine.numbers import exact
from refinement.engine.profiles import (
    PROFILES,
    context_rules_for,
    default_rubrics,
    preset_rules,
    rubric_for,
    shipped_rubrics,
    with_followed_preset,
)
from refinement.engine.types import (
    Assessment,
    Budget,
    Check,
    Criterion,
    CriterionScore,
    EvaluationMode,
    Evaluator,
    History,
    Information,
    Penalties,
    ProblemClass,
    Role,
    Round,
    Rubric,
    Scale,
    StopReason,
)
from tests.engine.given import D, rubric, scored

TEN = Scale(D(0), D(10))
WHOLE = Scale(D(1), D(10), step=D(1))


@pytest.mark.parametrize("value", [0.5, 9.0, True, False])
def test_floats_and_booleans_are_refused(value):
    with pytest.raises(TypeError, match="scores are Decimal, int or str"):
        exact(value)


@pytest.mark.parametrize("value", ["NaN", "Infinity", Decimal("-Infinity"), Decimal("sNaN")])
def test_only_finite_numbers(value):
    with pytest.raises(ValueError, match="not a finite number"):
        exact(value)


@pytest.mark.parametrize(("value", "expected"), [("0.1", "0.1"), (3, "3"), (D("7.50"), "7.5")])
def test_exact(value, expected):
    assert exact(value) == D(expected)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Scale(0.0, D(1)),
        lambda: Scale(D(0), 1.0),
        lambda: Scale(D(0), D(1), step=0.5),
        lambda: Criterion("a", "A", weight=0.5),
        lambda: Check("a", "contains", weight=0.5),
        lambda: CriterionScore("a", 7.0),
        lambda: Assessment(7.0, {}),
        lambda: Assessment(D(7), {"a": 7.0}),
        lambda: Penalties(points=1.0),
        lambda: Penalties(cap=1.0),
        lambda: Budget(seconds=1.5),
        lambda: rubric("wiggum", pass_threshold=9.0),
        lambda: rubric("wiggum", perfect_score=9.0),
        lambda: rubric("wiggum", minimum_gain=0.05),
        lambda: TEN.normalised(5.0),
        lambda: TEN.spread(0.5),
        lambda: TEN.admits(5.0),
    ],
)
def test_no_float_gets_in(build):
    with pytest.raises(TypeError, match="float"):
        build()


@pytest.mark.parametrize(
    ("value", "ok"), [("-0.1", False), (0, True), ("5.55", True), (10, True), ("10.1", False)]
)
def test_a_scale_with_decimals(value, ok):
    assert TEN.admits(D(value)) is ok


@pytest.mark.parametrize(
    ("value", "ok"), [(0, False), (1, True), ("7.5", False), ("7.0", True), (10, True), (11, False)]
)
def test_a_scale_of_whole_numbers(value, ok):
    assert WHOLE.admits(D(value)) is ok


def test_a_step_counts_from_the_minimum():
    halves = Scale(D("0.25"), D("2.25"), step=D("0.5"))
    assert halves.admits(D("0.75"))
    assert not halves.admits(D("0.5"))
    thirds = Scale(D(1), D(10), step=D(3))
    assert [value for value in range(1, 11) if thirds.admits(D(value))] == [1, 4, 7, 10]


@pytest.mark.parametrize(("value", "share"), [(1, "0"), (10, "1"), ("5.5", "0.5")])
def test_normalised_and_back(value, share):
    assert WHOLE.normalised(D(value)) == D(share)
    assert WHOLE.spread(D(share)) == D(value)


def calibrated(text="Known.", **scores):
    return replace(rubric("wiggum"), calibration_text=text, calibration_scores=scores)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Scale(D(1), D(1)), "minimum must be less than"),
        (lambda: Scale(D(2), D(1)), "minimum must be less than"),
        (lambda: Scale(D(0), D(1), step=D(0)), "step must be positive"),
        (lambda: Scale(D(0), D(1), step=D(-1)), "step must be positive"),
        (lambda: Criterion("", "A"), "a criterion needs a key"),
        (lambda: Criterion("a", "A", weight=D(0)), "weight of criterion 'a' must be positive"),
        (lambda: Criterion("a", "A", weight=D(-1)), "weight of criterion 'a' must be positive"),
        (lambda: Check("", "contains"), "a check needs a key"),
        (lambda: Check("a", "contains", weight=D(0)), "weight of check 'a' must be positive"),
        (lambda: Penalties(points=D(-1)), "must not be negative"),
        (lambda: Penalties(cap=D(-1)), "must not be negative"),
        (lambda: Budget(tokens=0), "tokens budget must be positive"),
        (lambda: Budget(seconds=D(0)), "seconds budget must be positive"),
        (lambda: Budget(calls=-1), "calls budget must be positive"),
        (lambda: rubric("wiggum", max_rounds=0), "at least one round"),
        (lambda: rubric("wiggum", judge_limit_chars=0), "at least one character"),
        (lambda: rubric("wiggum", source_limit_chars=0), "at least one character of the sources"),
        (lambda: rubric("wiggum", producer_tokens=0), "at least one token"),
        (lambda: rubric("wiggum", producer_temperature=D("-0.1")), "temperature must be between 0 and 2"),
        (lambda: rubric("wiggum", producer_temperature=D("2.1")), "temperature must be between 0 and 2"),
        (lambda: rubric("simmer", plateau_window=0), "plateau_window must"),
        (lambda: rubric("simmer", plateau_window=4), "plateau_window must"),
        (lambda: rubric("wiggum", stop_rules=(StopReason.CANCELLED,)), "cancelled is not a stop rule"),
        (lambda: rubric("wiggum", pass_threshold=D("10.1")), "pass_threshold is outside the scale"),
        (lambda: rubric("wiggum", pass_threshold=D("-0.1")), "pass_threshold is outside the scale"),
        (lambda: rubric("ralph", perfect_score=D("1.1")), "perfect_score is outside the scale"),
        (lambda: rubric("wiggum", penalties=Penalties("charm")), "which is not a criterion"),
        (lambda: rubric("ralph", checks_in_composite=False), "checks in the composite"),
        (lambda: replace(rubric("ralph"), checks=()), "at least one criterion or one check"),
        (
            lambda: replace(rubric("simmer"), criteria=rubric("simmer").criteria[:1] * 2),
            "duplicate criterion key",
        ),
        (lambda: replace(rubric("ralph"), checks=rubric("ralph").checks[:1] * 2), "duplicate check key"),
        (
            lambda: replace(
                rubric("simmer"),
                criteria=(Criterion("a", "A", primary=True), Criterion("b", "B", primary=True)),
            ),
            "only one criterion can be primary",
        ),
        (lambda: replace(rubric("wiggum"), calibration_text="Known."), "both a text and at least one score"),
        (lambda: calibrated(text="", depth=D(5)), "both a text and at least one score"),
        (lambda: calibrated(charm=D(5)), "a score for 'charm', which is not a criterion"),
        (lambda: calibrated(depth=D("10.1")), "score for 'depth' is not on the scale"),
    ],
)
def test_invalid_values_are_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: rubric("wiggum", max_rounds=1, judge_limit_chars=1, source_limit_chars=1),
        lambda: rubric("wiggum", pass_threshold=D(10)),
        lambda: rubric("wiggum", pass_threshold=D(0)),
        lambda: rubric("wiggum", producer_tokens=1, producer_temperature=D(0)),
        lambda: rubric("wiggum", producer_temperature=D(2)),
        lambda: rubric("simmer", plateau_rounds=2, plateau_window=1),
        lambda: Penalties(points=D(0), cap=D(0)),
        lambda: Budget(tokens=1, seconds=D("0.1"), calls=1),
        lambda: replace(rubric("ralph"), criteria=rubric("simmer").criteria),
        lambda: calibrated(depth=D(10)),
        lambda: calibrated(depth=D(0), grounded=D("5.25")),
    ],
)
def test_values_at_the_limit_are_taken(build):
    assert build()


def test_values_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        rubric("wiggum").policy.max_rounds = 9


def test_the_assessed_rounds_of_a_history():
    judged = Round(1, "a", scored(5))
    assert History((judged, Round(2, "b"))).assessed == (judged,)


# --- the profiles as data --------------------------------------------------------------------------


def test_wiggum_is_as_published():
    of = rubric_for("wiggum")
    weights = {criterion.key: str(criterion.weight) for criterion in of.criteria}
    assert weights == {
        "depth": "0.25", "relevance": "0.20", "completeness": "0.20",
        "grounded": "0.15", "specificity": "0.10", "structure": "0.10",
    }  # fmt: skip
    assert sum(criterion.weight for criterion in of.criteria) == 1
    assert (of.scale, of.policy.max_rounds, of.policy.pass_threshold) == (TEN, 3, 9)
    assert (of.policy.penalties.criterion, of.policy.penalties.points, of.policy.penalties.cap) == (
        "depth",
        1,
        2,
    )


def test_ralph_is_as_published():
    of = rubric_for("ralph")
    assert of.scale == Scale(D(0), D(1))
    policy = of.policy
    assert (policy.max_rounds, policy.pass_threshold, policy.perfect_score) == (3, D("0.8"), 1)
    assert policy.minimum_gain == D("0.05")
    assert policy.checks_in_composite


def test_simmer_is_as_published():
    of = rubric_for("simmer")
    assert (of.scale, of.policy.max_rounds, of.policy.pass_threshold) == (WHOLE, 4, None)
    assert (of.policy.plateau_rounds, of.policy.plateau_window) == (4, 3)
    assert of.policy.primary_first


def test_a_new_project_has_four_rubrics_from_the_gallery():
    rubrics, shipped = default_rubrics(), shipped_rubrics()
    assert list(rubrics) == ["simmer", "wiggum", "simmer-code", "ralph"]
    for slug, of in rubrics.items():
        assert replace(of, name=shipped[slug].name, purpose=shipped[slug].purpose) == shipped[slug]
        assert of.purpose


def test_the_gallery_has_a_rubric_for_each_profile_and_kind_of_work():
    rubrics = shipped_rubrics()
    assert set(PROFILES) <= set(rubrics)
    artifacts = {slug.removeprefix("simmer-") for slug in rubrics if slug.startswith("simmer-")}
    assert artifacts == {
        "document", "prompt", "message", "specification", "api-design",
        "creative-writing", "code", "data-extraction", "pipeline",
    }  # fmt: skip
    for of in rubrics.values():
        assert of.name
        assert of.purpose
        assert of.profile == "ralph" or 2 <= len(of.criteria) <= 6
        assert all(criterion.description and criterion.ideal for criterion in of.criteria)
    names = [of.name for of in rubrics.values()]
    assert len(names) == len(set(names))
    assert rubrics["simmer-code"].problem_class is ProblemClass.CODE


@pytest.mark.parametrize("profile", PROFILES)
def test_a_judge_without_an_evaluator_sees_no_history(profile):
    rules = context_rules_for(profile)
    hidden = {Information.HISTORY, Information.PREVIOUS_ASI, Information.EVALUATOR_OUTPUT,
              Information.SEARCH_SPACE, Information.BACKGROUND}  # fmt: skip
    assert not hidden & rules.allowed(Role.JUDGE)
    assert {Information.CALIBRATION, Information.CALIBRATION_SCORES} <= rules.allowed(Role.JUDGE)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_judge_with_an_evaluator_sees_the_evidence(profile):
    plain = context_rules_for(profile).allowed(Role.JUDGE)
    assert context_rules_for(profile, evaluator=True).allowed(Role.JUDGE) - plain == {
        Information.HISTORY, Information.PREVIOUS_ASI, Information.EVALUATOR_OUTPUT, Information.SEARCH_SPACE,
        Information.PANEL_SUMMARY,
    }  # fmt: skip


@pytest.mark.parametrize("evaluator", [False, True])
def test_only_a_simmer_judge_sees_the_first_version_and_its_scores(evaluator):
    first = {Information.SEED, Information.SEED_SCORES}
    shown = {name: first & context_rules_for(name, evaluator=evaluator).judge for name in PROFILES}
    assert shown == {"wiggum": set(), "ralph": set(), "simmer": first}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("evaluator", [False, True])
def test_a_producer_never_sees_a_score(profile, evaluator):
    rules = context_rules_for(profile, evaluator=evaluator)
    hidden = {Information.SEED_SCORES, Information.CALIBRATION_SCORES, Information.HISTORY,
              Information.EVALUATOR_OUTPUT}  # fmt: skip
    assert not hidden & rules.allowed(Role.PRODUCER)


@pytest.mark.parametrize("slug", default_rubrics())
def test_a_default_rubric_has_the_rules_of_its_preset(slug):
    of = default_rubrics()[slug]
    assert of.context == preset_rules(of)


def with_command(of: Rubric) -> Rubric:
    return replace(of, evaluation_mode=EvaluationMode.HYBRID, evaluator=Evaluator(("pytest", "{file}")))


@pytest.mark.parametrize("problem_class", ProblemClass)
def test_the_preset_goes_by_the_evaluator_and_not_by_the_problem_class(problem_class):
    of = replace(rubric("simmer"), problem_class=problem_class)
    assert preset_rules(of) == context_rules_for("simmer")
    assert preset_rules(with_command(of)) == context_rules_for("simmer", evaluator=True)
    idle = replace(with_command(of), evaluation_mode=EvaluationMode.JUDGE_ONLY)
    assert preset_rules(idle) == context_rules_for("simmer")


def test_preset_rules_follow_an_evaluator_that_is_added_or_removed():
    plain = rubric("wiggum")
    tested = with_followed_preset(plain, with_command(plain))
    assert tested.context == context_rules_for("wiggum", evaluator=True)
    back = replace(tested, evaluation_mode=EvaluationMode.JUDGE_ONLY)
    assert with_followed_preset(tested, back).context == plain.context


def test_rules_that_were_set_by_hand_stay():
    plain = rubric("wiggum")
    own = replace(plain, context=replace(plain.context, judge=plain.context.judge | {Information.HISTORY}))
    assert with_followed_preset(own, with_command(own)).context == own.context
    # Also those that were set in the same edit.
    assert (
        with_followed_preset(plain, replace(with_command(plain), context=own.context)).context == own.context
    )
