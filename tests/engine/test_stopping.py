"""Each stop rule at, just below and just above its limit, in the first and the last round."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.steps import next_step
from refinement.engine.stopping import (
    RULES,
    cycles,
    outcome_of,
    plateaued,
    reached_perfection,
    reached_threshold,
    regressed,
    spent_budget,
    stop_reason,
    stopped_improving,
    used_all_rounds,
)
from refinement.engine.types import (
    STOP_RULES,
    Assessment,
    Budget,
    Failure,
    Finish,
    History,
    Judge,
    Outcome,
    Revise,
    Role,
    Round,
    StopReason,
    Usage,
)
from tests.engine.given import D, history, rounds, rubric, scored

TINY = Decimal("1e-20")


def seen(*composites):
    return History(rounds(*composites))


def judged_as(*assessments):
    return History(tuple(Round(number, "x", entry) for number, entry in enumerate(assessments, 1)))


def test_every_rule_a_policy_can_name_is_there():
    assert set(RULES) == STOP_RULES


@pytest.mark.parametrize(
    ("composites", "expected"),
    [
        ([D("9.0") - TINY], False),
        (["9.0"], True),
        ([D("9.0") + TINY], True),
        (["9.5", "8"], False),
        (["1", "2", "9"], True),
    ],
)
def test_threshold(composites, expected):
    assert reached_threshold(rubric("wiggum"), seen(*composites)) is expected


def test_without_a_threshold_nothing_passes():
    assert not reached_threshold(rubric("simmer"), seen("10"))


@pytest.mark.parametrize(("composite", "expected"), [(D(1) - TINY, False), ("1", True), (D(1) + TINY, True)])
def test_perfection(composite, expected):
    assert reached_perfection(rubric("ralph"), seen("0.1", composite)) is expected
    assert reached_perfection(rubric("ralph"), seen(composite)) is expected


def test_without_a_perfect_score_nothing_is_perfect():
    assert not reached_perfection(rubric("wiggum"), seen("10"))


@pytest.mark.parametrize(("count", "expected"), [(1, False), (2, False), (3, True), (4, True)])
def test_round_limit(count, expected):
    assert used_all_rounds(rubric("wiggum"), seen(*["5"] * count)) is expected


def test_a_limit_of_one_round_ends_the_first():
    assert used_all_rounds(rubric("wiggum", max_rounds=1), seen("5"))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": "7", "b": "8"}, {"a": "7", "b": "8"}, True),
        ({"a": "7", "b": "8"}, {"a": "7.0", "b": "8.00"}, True),
        ({"a": "7", "b": "8"}, {"a": "7", "b": "8.0000001"}, False),
        ({"a": "7", "b": "8"}, {"a": "8", "b": "7"}, False),
    ],
)
def test_cycling_compares_every_score(before, after, expected):
    assert cycles(rubric("wiggum"), judged_as(scored("7.5", **before), scored("7.5", **after))) is expected


def test_cycling_looks_at_the_round_before_only():
    one, other = scored(5, a="5"), scored(6, a="6")
    assert not cycles(rubric("wiggum"), judged_as(one, other, one))
    assert cycles(rubric("wiggum"), judged_as(other, one, one))


def test_the_first_round_cannot_cycle():
    assert not cycles(rubric("wiggum"), seen("5"))


def test_without_criteria_nothing_cycles():
    bare = Assessment(composite=D("0.5"), scores={})
    assert not cycles(rubric("ralph"), judged_as(bare, bare))


@pytest.mark.parametrize(
    ("composites", "expected"),
    [
        (["5"], False),
        (["5", "5"], False),
        (["5", D(5) - TINY], True),
        (["5", D(5) + TINY], False),
        (["3", "5", "4"], True),
        (["5", "3", "4"], False),
    ],
)
def test_regression(composites, expected):
    assert regressed(rubric("ralph"), seen(*composites)) is expected


@pytest.mark.parametrize(
    ("composites", "expected"),
    [
        ([".5"], False),
        ([".5", ".55"], False),
        ([".5", D(".55") - TINY], True),
        ([".5", D(".55") + TINY], False),
        ([".1", ".5", ".52"], True),
        ([".5", ".51", ".9"], False),
    ],
)
def test_no_improvement(composites, expected):
    assert stopped_improving(rubric("ralph"), seen(*composites)) is expected


def test_without_a_gain_to_reach_no_gain_is_too_small():
    assert not stopped_improving(rubric("wiggum"), seen("5", "1"))


@pytest.mark.parametrize(
    ("composites", "expected"),
    [
        (["6", "6", "6"], False),
        (["6", "6", "6", "6"], True),
        (["6", "5", "5", D(6) + TINY], False),
        (["6", "5", "5", D(6) - TINY], True),
        (["6", "7", "5", "5"], False),
        (["6", "7", "5", "5", "7"], True),
        (["6", "5", "6", "6", "6"], True),
        (["4", "5", "6", "7", "6", "6", "7"], True),
    ],
)
def test_plateau(composites, expected):
    assert plateaued(rubric("simmer", max_rounds=9), seen(*composites)) is expected


def test_plateau_follows_the_policys_window():
    assert plateaued(rubric("simmer", plateau_rounds=2, plateau_window=1), seen("5", "5"))
    assert not plateaued(rubric("simmer", plateau_rounds=3, plateau_window=1), seen("5", "5"))


# --- the order of rules, where two apply at once -------------------------------------------------


def test_wiggum_passes_in_the_last_round():
    assert stop_reason(rubric("wiggum"), history("1", "2", "9")) is StopReason.PASSED


def test_wiggum_passes_although_it_cycles():
    assert stop_reason(rubric("wiggum"), history("9", "9")) is StopReason.PASSED


def test_wiggum_names_the_limit_before_cycling():
    assert stop_reason(rubric("wiggum"), history("1", "5", "5")) is StopReason.MAX_ROUNDS


@pytest.mark.parametrize(
    ("composites", "reason"),
    [
        ([".2", "1"], StopReason.PERFECT_SCORE),
        ([".1", ".2", "1"], StopReason.PERFECT_SCORE),
        ([".9", ".8"], StopReason.QUALITY_THRESHOLD_MET),
        ([".2", ".3", ".8"], StopReason.QUALITY_THRESHOLD_MET),
        ([".5", ".4"], StopReason.SCORE_REGRESSION),
        ([".3", ".5", ".4"], StopReason.SCORE_REGRESSION),
        ([".3", ".5", ".52"], StopReason.NO_IMPROVEMENT),
        ([".3", ".5", ".6"], StopReason.MAX_ITERATIONS_REACHED),
        ([".3", ".5"], None),
    ],
)
def test_ralphs_order(composites, reason):
    assert stop_reason(rubric("ralph"), history(*composites)) is reason


@pytest.mark.parametrize(
    ("composites", "reason"),
    [
        (["6", "6", "6"], None),
        (["6", "6", "6", "6"], StopReason.PLATEAU),
        (["6", "5", "6", "5"], StopReason.PLATEAU),
        (["6", "5", "5", "7"], StopReason.MAX_ROUNDS),
        (["6", "7", "5", "5"], StopReason.MAX_ROUNDS),
    ],
)
def test_simmer_reaches_a_plateau_within_its_four_rounds(composites, reason):
    assert stop_reason(rubric("simmer"), history(*composites)) is reason


def test_an_editors_order_is_kept():
    turned = rubric("wiggum", stop_rules=(StopReason.CYCLING, StopReason.MAX_ROUNDS, StopReason.PASSED))
    assert stop_reason(turned, history("9", "9")) is StopReason.CYCLING
    assert stop_reason(turned, history("1", "2", "9")) is StopReason.MAX_ROUNDS


def test_the_round_limit_holds_without_its_rule():
    assert stop_reason(rubric("wiggum", stop_rules=()), history("1", "2", "3")) is StopReason.MAX_ROUNDS
    assert stop_reason(rubric("wiggum", stop_rules=()), history("9.5")) is None


def test_an_unjudged_round_is_not_counted():
    waiting = History((*rounds("1", "2"), Round(3, "unread")))
    assert stop_reason(rubric("wiggum"), waiting) is None


# --- budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "usage", "reason"),
    [
        (Budget(tokens=100), Usage(tokens=99), None),
        (Budget(tokens=100), Usage(tokens=100), StopReason.BUDGET_TOKENS),
        (Budget(tokens=100), Usage(tokens=101), StopReason.BUDGET_TOKENS),
        (Budget(seconds=D(60)), Usage(seconds=D("59.999")), None),
        (Budget(seconds=D(60)), Usage(seconds=D(60)), StopReason.BUDGET_SECONDS),
        (Budget(seconds=D(60)), Usage(seconds=D(61)), StopReason.BUDGET_SECONDS),
        (Budget(calls=4), Usage(calls=3), None),
        (Budget(calls=4), Usage(calls=4), StopReason.BUDGET_CALLS),
        (Budget(calls=4), Usage(calls=5), StopReason.BUDGET_CALLS),
        (Budget(), Usage(10**9, D(10**9), 10**9), None),
        (Budget(tokens=1, seconds=D(1), calls=1), Usage(1, D(1), 1), StopReason.BUDGET_TOKENS),
        (Budget(seconds=D(1), calls=1), Usage(1, D(1), 1), StopReason.BUDGET_SECONDS),
    ],
)
def test_budgets(budget, usage, reason):
    assert spent_budget(rubric("wiggum", budget=budget), History(usage=usage)) is reason


def spent(profile="wiggum", **policy):
    return rubric(profile, budget=Budget(calls=1), **policy), Usage(calls=1)


def test_a_spent_budget_stops_before_the_first_draft():
    of, usage = spent()
    step = next_step(of, History(usage=usage))
    assert step == Finish(
        Outcome.FAIL,
        StopReason.BUDGET_CALLS,
        "Stopped before any round was judged: the budget of 1 call is used up.",
        None,
    )


def test_a_spent_budget_stops_before_the_judge():
    of, usage = spent()
    step = next_step(of, History((*rounds("5"), Round(2, "unread")), usage))
    assert isinstance(step, Finish)
    assert (step.reason, step.best_round) == (StopReason.BUDGET_CALLS, 1)


def test_checks_alone_are_still_run_when_the_budget_is_spent():
    of, usage = spent("ralph")
    assert next_step(of, History((Round(1, "unread"),), usage)) == Judge(1)


def test_a_spent_budget_stops_before_the_revision():
    of, usage = spent()
    step = next_step(of, History(rounds("5"), usage))
    assert isinstance(step, Finish)
    assert step.why == "Stopped after round 1: the budget of 1 call is used up."


def test_a_stop_rule_is_named_before_a_budget():
    of, usage = spent()
    step = next_step(of, History(rounds("9"), usage))
    assert isinstance(step, Finish)
    assert step.reason is StopReason.PASSED


def test_a_budget_with_room_changes_nothing():
    of = rubric("wiggum", budget=Budget(calls=2))
    assert isinstance(next_step(of, History(rounds("5"), Usage(calls=1))), Revise)


# --- outcomes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reason", [StopReason.PASSED, StopReason.QUALITY_THRESHOLD_MET, StopReason.PERFECT_SCORE]
)
def test_successes_pass(reason):
    assert outcome_of(rubric("simmer"), history("3"), reason) is Outcome.PASS


def test_without_a_threshold_a_run_is_done():
    assert (
        outcome_of(rubric("simmer", primary_first=False), history("3"), StopReason.MAX_ROUNDS) is Outcome.DONE
    )


def test_below_the_threshold_a_run_fails():
    of = rubric("wiggum")
    assert outcome_of(of, history(D(9) - TINY), StopReason.MAX_ROUNDS) is Outcome.FAIL


def test_reaching_the_threshold_passes_even_where_no_rule_stops_there():
    of = rubric("wiggum", stop_rules=(StopReason.MAX_ROUNDS,))
    assert outcome_of(of, history("9", "1", "1"), StopReason.MAX_ROUNDS) is Outcome.PASS


def test_a_run_without_any_score_fails():
    assert outcome_of(rubric("simmer"), History(), StopReason.BUDGET_CALLS) is Outcome.FAIL


# --- more rounds for a finished run ----------------------------------------------------------------


def extended(after, *composites):
    return History(rounds(*composites), extended_after=after)


def test_a_passed_run_goes_on_when_more_rounds_are_asked_for():
    of = rubric("wiggum", max_rounds=5)
    assert stop_reason(of, extended(2, "7", "9.1")) is None
    assert stop_reason(of, extended(2, "7", "9.1", "8")) is None
    assert stop_reason(of, extended(2, "7", "9.1", "9.2")) is StopReason.PASSED


def test_the_rules_look_only_at_what_came_since():
    of = rubric("simmer", max_rounds=12)
    flat = ["6"] * 4
    assert stop_reason(of, extended(0, *flat)) is StopReason.PLATEAU
    assert stop_reason(of, extended(4, *flat)) is None
    assert stop_reason(of, extended(4, *flat, "6", "6")) is None
    assert stop_reason(of, extended(4, *flat, "6", "6", "6")) is StopReason.PLATEAU


def test_the_last_round_before_the_extension_is_still_compared_with():
    of = rubric("ralph", max_rounds=9, pass_threshold=None)
    assert stop_reason(of, extended(2, ".5", ".4", ".3")) is StopReason.SCORE_REGRESSION
    assert stop_reason(rubric("wiggum", max_rounds=9), extended(1, "5", "5")) is StopReason.CYCLING


def test_the_round_limit_counts_all_rounds():
    assert stop_reason(rubric("wiggum", max_rounds=3), extended(2, "1", "2", "3")) is StopReason.MAX_ROUNDS
    assert stop_reason(rubric("wiggum", max_rounds=2), extended(2, "1", "2")) is StopReason.MAX_ROUNDS


def test_the_first_added_round_starts_from_the_best():
    of = rubric("ralph", max_rounds=5)
    step = next_step(of, extended(3, ".3", ".6", ".5"))
    assert isinstance(step, Revise)
    assert (step.round, step.base_round, step.feedback.from_round, step.feedback.note) == (4, 2, 2, "")
    assert next_step(of, extended(3, ".3", ".6", ".5", ".7")).base_round is None


# --- the round that passed --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("composites", "policy", "passed"),
    [
        (("8.9", "9.0"), {}, 2),
        (("9.0",), {}, 1),
        (("8.9", "8.8", "8.99"), {}, None),
        (("8", "9.5", "9.9"), {"stop_rules": (StopReason.MAX_ROUNDS,)}, 2),  # the first, not the best
        (
            ("9", "10"),
            {"pass_threshold": None, "perfect_score": D(10), "stop_rules": (StopReason.PERFECT_SCORE,)},
            2,
        ),
        (("8", "9", "9"), {"pass_threshold": None}, None),
    ],
)
def test_the_first_round_that_passed_is_kept(composites, policy, passed):
    of = rubric("wiggum", max_rounds=len(composites), **policy)
    step = next_step(of, history(*composites))
    assert isinstance(step, Finish)
    assert (step.passed_in_round, step.outcome is Outcome.PASS) == (passed, passed is not None)


def test_a_run_that_ended_in_an_error_passed_in_no_round():
    failed = replace(history("9.5"), failure=Failure(Role.JUDGE, "no reply"))
    assert next_step(rubric("wiggum"), failed).passed_in_round is None
