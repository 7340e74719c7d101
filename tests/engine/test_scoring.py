from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.scoring import (
    assess,
    best_round,
    composite,
    gain,
    rank,
    ranked_scores,
    shown,
    weighted_mean,
)
from refinement.engine.types import (
    Assessment,
    Criterion,
    Evaluator,
    EvaluatorOutput,
    History,
    Metric,
    MetricValue,
    Penalty,
    Round,
)
from tests.engine.given import D, checks, even_verdict, judged, policy, rounds, rubric, scored, verdict

SIX = {
    "depth": "7",
    "relevance": "8",
    "completeness": "7",
    "grounded": "6",
    "specificity": "6",
    "structure": "9",
}


def test_wiggums_weights():
    assessment = assess(rubric_for("wiggum"), verdict(**SIX))
    # .25*7 + .20*8 + .20*7 + .15*6 + .10*6 + .10*9
    assert assessment.composite == D("7.15")
    assert list(assessment.scores) == [
        "depth",
        "relevance",
        "completeness",
        "grounded",
        "specificity",
        "structure",
    ]


def test_the_order_in_which_the_judge_answers_does_not_matter():
    turned = verdict(**dict(reversed(SIX.items())))
    assert assess(rubric_for("wiggum"), turned).scores == assess(rubric_for("wiggum"), verdict(**SIX)).scores


def test_simmers_plain_mean_ignores_weights():
    of = rubric_for("simmer")
    heavy = replace(of, criteria=(replace(of.criteria[0], weight=D(9)), *of.criteria[1:]))
    assessment = assess(heavy, verdict(clarity="7", completeness="8", usefulness="5"))
    assert assessment.composite == Decimal(20) / 3
    assert shown(assessment.composite, heavy.policy) == "6.7"


def test_weights_need_not_add_up_to_one():
    of = rubric("wiggum")
    doubled = replace(of, criteria=tuple(replace(c, weight=c.weight * 2) for c in of.criteria))
    assert assess(doubled, verdict(**SIX)).composite == D("7.15")


def test_ralph_takes_the_mean_of_its_checks():
    assert assess(rubric_for("ralph"), None, checks(True, True, False, True, True)).composite == D("0.8")


def test_ralph_weighs_checks_and_criteria_together():
    of = replace(rubric_for("ralph"), criteria=(Criterion("tone", "Tone", weight=D(3)),))
    mixed = assess(of, verdict(tone="0.5"), checks(True, False))
    assert mixed.composite == D("0.5")
    heavier = replace(of, criteria=(Criterion("tone", "Tone", weight=D(2)),))
    results = (replace(checks(True)[0], weight=D(6)), *checks(False, False))
    assert assess(heavier, verdict(tone="0.5"), results).composite == D("0.7")


def test_checks_count_alike_under_a_plain_mean():
    of = rubric("simmer", checks_in_composite=True)
    assessment = assess(of, even_verdict(of, "4"), (replace(checks(True)[0], weight=D(50)),))
    assert assessment.composite == D("5.5")  # (4 + 4 + 4 + 10) / 4
    failed = assess(of, even_verdict(of, "4"), (replace(checks(False)[0], weight=D(50)),))
    assert failed.composite == D("3.25")  # the scale's minimum is 1


def test_checks_stay_out_where_the_profile_says_so():
    of = rubric_for("wiggum")
    assert assess(of, even_verdict(of, "8"), checks(False, False)).composite == 8


def test_penalties_are_taken_off_before_aggregation():
    assessment = assess(
        rubric_for("wiggum"), verdict(**SIX), penalties=(Penalty("depth", D(2), ("a.b", "a.c")),)
    )
    assert assessment.scores["depth"] == 5
    assert assessment.composite == D("6.65")
    assert assessment.verdicts[0].scores[0].score == 7  # what was said is kept as it was said


def test_two_penalties_on_one_criterion_add_up():
    docked = (Penalty("depth", D(1), ("a",)), Penalty("depth", D(2), ("b",)))
    assert assess(rubric_for("wiggum"), verdict(**SIX), penalties=docked).scores["depth"] == 4


@pytest.mark.parametrize(("profile", "floor"), [("wiggum", 0), ("simmer", 1)])
def test_a_penalty_never_goes_below_the_scale(profile, floor):
    of = rubric_for(profile)
    first = of.criteria[0].key
    low = assess(of, even_verdict(of, "1"), penalties=(Penalty(first, D(2), ("x",)),))
    assert low.scores[first] == floor


@pytest.mark.parametrize("scores", [{}, {"depth": "5"}, {**SIX, "charm": "3"}])
def test_a_verdict_must_score_exactly_the_criteria(scores):
    with pytest.raises(ValueError, match="the rubric requires"):
        assess(rubric_for("wiggum"), verdict(**scores))


def test_no_verdict_is_not_a_score_of_zero():
    with pytest.raises(ValueError, match="the verdict scores \\[\\]"):
        assess(rubric_for("wiggum"), None)


def test_the_assessment_keeps_its_evidence():
    output = EvaluatorOutput("3 passed", "", 0)
    results = checks(True)
    assessment = assess(rubric_for("wiggum"), verdict(**SIX), results, (), output)
    assert (assessment.evaluator, assessment.checks, len(assessment.verdicts)) == (output, results, 1)
    assert assess(rubric_for("ralph"), None, results).verdicts == ()


def test_a_mean_is_not_rounded():
    thirds = weighted_mean([(D(1), D(1)), (D(2), D(0))])
    assert thirds == Decimal(1) / Decimal(3)


def test_composite_of_equal_scores_is_that_score():
    of = rubric_for("wiggum")
    assert composite(of, {c.key: D("8.1") for c in of.criteria}, ()) == D("8.1")


# --- ranking -------------------------------------------------------------------------------------


def test_the_best_round_is_the_highest():
    assert best_round(rubric_for("wiggum"), rounds("7", "8.7", "8.3")).number == 2


def test_a_tie_keeps_the_earliest():
    assert best_round(rubric_for("wiggum"), rounds("7", "8.0", "8", "7")).number == 2


def test_unrounded_values_are_compared():
    assert best_round(rubric_for("wiggum"), rounds("8.0000", "8.0001")).number == 2


def test_unscored_rounds_are_passed_over():
    assert best_round(rubric_for("wiggum"), (Round(1, "a"), *rounds("3"), Round(3, "c"))).number == 1
    assert best_round(rubric_for("wiggum"), (Round(1, "a"), Round(2, "b"))) is None
    assert best_round(rubric_for("wiggum"), History().rounds) is None


def simmer_round(number, **scores):
    return Round(number, "x", assess(rubric_for("simmer"), verdict(**scores)))


def test_simmers_primary_criterion_comes_first():
    even = simmer_round(1, clarity="9", completeness="9", usefulness="6")
    primary = simmer_round(2, clarity="5", completeness="5", usefulness="7")
    assert best_round(rubric_for("simmer"), (even, primary)).number == 2
    assert best_round(rubric("simmer", primary_first=False), (even, primary)).number == 1


def test_the_composite_decides_between_equal_primaries():
    one = simmer_round(1, clarity="5", completeness="5", usefulness="7")
    two = simmer_round(2, clarity="6", completeness="5", usefulness="7")
    assert best_round(rubric_for("simmer"), (one, two)).number == 2


def test_without_a_primary_criterion_the_composite_ranks():
    of = rubric_for("simmer")
    plain = replace(of, criteria=tuple(replace(c, primary=False) for c in of.criteria))
    assert ranked_scores(plain, judged(plain, 1, "6").assessment) == (6,)
    assert ranked_scores(rubric_for("wiggum"), scored("6.5")) == (D("6.5"),)


@pytest.mark.parametrize(
    ("profile", "before", "after", "higher"),
    [
        ("wiggum", ("9.5", False), ("9.0", True), True),  # only the second one passes
        ("wiggum", ("9.5", False), ("8.9", True), False),  # neither passes: the score decides
        ("wiggum", ("8.0", True), ("8.5", False), True),
        ("wiggum", ("9.0", True), ("9.5", True), True),
        ("ralph", ("1", False), ("0.8", True), True),
        ("simmer", ("5", True), ("6", False), True),  # without a pass mark a check ranks nothing
    ],
)
def test_a_round_that_passes_ranks_above_one_that_a_check_holds_back(profile, before, after, higher):
    of = rubric(profile)
    old, new = (replace(scored(score), checks=checks(passed)) for score, passed in (before, after))
    assert (rank(of, new) > rank(of, old)) is higher


def test_a_perfect_score_ranks_without_a_threshold():
    of = rubric("ralph", pass_threshold=None)
    held_back, clean = (replace(scored("1"), checks=checks(passed)) for passed in (False, True))
    assert rank(of, clean) > rank(of, held_back)


def two(primary, composite):
    return scored(composite, usefulness=primary)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("5", "5"), ("5", "6.5"), "1.5"),
        (("5", "5"), ("6", "5.5"), "1"),
        (("5", "5"), ("5.1", "7"), "2"),  # a small step of the primary does not hide a large one
        (("5", "5"), ("4", "9"), "-1"),  # the primary criterion fell: a higher composite is no gain
        (("5", "5"), ("5", "4"), "-1"),
        (("5", "5"), ("6", "2"), "1"),
        (("5", "5"), ("5", "5"), "0"),
    ],
)
def test_the_gain_follows_the_ranking(before, after, expected):
    assert gain(rubric("simmer"), two(*before), two(*after)) == D(expected)


@pytest.mark.parametrize(
    ("value", "profile", "text"),
    [
        ("8.605", "wiggum", "8.60"),
        ("8.615", "wiggum", "8.62"),
        ("7", "wiggum", "7.00"),
        ("6.25", "simmer", "6.2"),
    ],
)
def test_rounding_is_for_display(value, profile, text):
    assert shown(D(value), policy(profile)) == text


def test_the_assessment_keeps_its_penalties():
    docked = (Penalty("depth", D(1), ("a.b",)),)
    assert assess(rubric_for("wiggum"), verdict(**SIX), penalties=docked).penalties == docked


def measured(score: str, *numbers: str) -> Assessment:
    """An assessment of this composite; the metric gave these numbers."""
    metrics = {"accuracy": MetricValue(tuple(D(number) for number in numbers))} if numbers else {}
    return replace(scored(score), evaluator=EvaluatorOutput("", metrics=metrics))


@pytest.mark.parametrize(
    ("lower_is_better", "numbers", "best"),
    [
        (False, (["0.7"], ["0.9"], ["0.8"]), 2),
        (True, (["0.7"], ["0.5"], ["0.8"]), 2),
        (False, ([], ["0.1"], []), 2),  # a round without the metric loses the tie
        (True, ([], ["-5"], []), 2),
        (False, (["-3"], [], []), 1),
        (False, (["0.9"], ["0.9"], ["0.90"]), 1),  # then the earliest
        (False, ([], [], []), 1),
        (False, (["0.7", "0.1", "0.9"], ["0.6", "0.8", "0.9"], ["0.7"]), 2),  # by the median
    ],
)
def test_the_first_metric_breaks_a_tie(lower_is_better, numbers, best):
    metrics = (Metric("accuracy", pattern="(.*)", lower_is_better=lower_is_better), Metric("b", pointer="/b"))
    of = replace(rubric_for("wiggum"), evaluator=Evaluator(("score",), metrics=metrics))
    played = [Round(number, "text", measured("7", *found)) for number, found in enumerate(numbers, start=1)]
    assert best_round(of, played).number == best


def test_a_metric_never_outweighs_the_scores():
    of = replace(
        rubric_for("wiggum"), evaluator=Evaluator(("score",), metrics=(Metric("accuracy", pointer="/a"),))
    )
    played = (Round(1, "a", measured("7.1")), Round(2, "b", measured("7", "0.99")))
    assert best_round(of, played).number == 1
    assert rank(rubric_for("wiggum"), measured("7", "0.99")) == (0, D(7))
