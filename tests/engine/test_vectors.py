"""The examples of the design: composites per round, and each profile's result."""

from dataclasses import dataclass
from decimal import Decimal

import pytest

from refinement.engine.metrics import run_metrics
from refinement.engine.steps import next_step
from refinement.engine.types import Finish, History, OnPlateau, Outcome, Round, Rubric, StopReason
from tests.engine.given import D, rounds, rubric, scored


def simmered(*pairs: tuple[str, str]) -> History:
    """Simmer rounds by primary score and composite."""
    entries = (scored(composite, usefulness=primary) for primary, composite in pairs)
    return History(
        tuple(Round(number, f"candidate {number}", entry) for number, entry in enumerate(entries, 1))
    )


def test_simmer_follows_its_primary_criterion_to_the_best_round():
    """Iterations 0 to 3: the composite falls while the primary criterion rises."""
    seen = simmered(("4", "6.7"), ("5", "6.0"), ("6", "5.5"), ("7", "5.0"))
    step = next_step(rubric("simmer"), seen)
    assert (step.outcome, step.reason, step.best_round) == (Outcome.DONE, StopReason.MAX_ROUNDS, 4)
    assert step.why == "Stopped after round 4: reached the 4-round limit."
    for count in (1, 2, 3):
        revision = next_step(rubric("simmer"), History(seen.rounds[:count]))
        assert (revision.base_round, revision.feedback.note) == (count, "")


def test_simmer_reaches_its_plateau():
    of = rubric("simmer", on_plateau=OnPlateau.STOP)
    step = next_step(of, simmered(("6", "6"), ("6", "5"), ("6", "6"), ("5", "9")))
    assert (step.outcome, step.reason, step.best_round) == (Outcome.DONE, StopReason.PLATEAU, 1)
    assert step.why == (
        "Stopped after round 4: none of the last 3 rounds is better than round 1. Round 1 is the result."
    )


@pytest.mark.parametrize(
    ("profile", "rules"),
    [
        ("wiggum", "passed max_rounds cycling"),
        (
            "ralph",
            "perfect_score quality_threshold_met score_regression no_improvement max_iterations_reached",
        ),
        ("simmer", "plateau max_rounds"),
    ],
)
def test_the_order_of_the_stop_rules(profile, rules):
    assert " ".join(rubric(profile).policy.stop_rules) == rules


@dataclass
class Ending:
    finish: Finish
    after: int
    last: Decimal | None
    improvement: Decimal | None


def play(of: Rubric, *composites: str) -> Ending:
    """Feeds the composites one round at a time until the engine says stop."""
    given = rounds(*composites)
    for count in range(1, len(given) + 1):
        seen = History(given[:count])
        step = next_step(of, seen)
        if isinstance(step, Finish):
            metrics = run_metrics(of, seen)
            return Ending(step, count, metrics.last, metrics.improvement)
    raise AssertionError("the run did not end")


def test_wiggum_passes_in_round_three():
    ending = play(rubric("wiggum"), "8.3", "8.7", "9.1")
    assert (ending.finish.outcome, ending.finish.reason) == (Outcome.PASS, StopReason.PASSED)
    assert (ending.after, ending.finish.best_round) == (3, 3)


def test_ralph_stops_in_round_two_for_want_of_improvement():
    ending = play(rubric("ralph", pass_threshold=D("0.9")), ".83", ".87", ".91")
    assert (ending.after, ending.finish.reason) == (2, StopReason.NO_IMPROVEMENT)
    assert ending.finish.outcome is Outcome.FAIL


def test_wiggum_returns_the_best_round_of_a_failed_run():
    ending = play(rubric("wiggum"), "7.0", "8.7", "8.3")
    assert (ending.finish.outcome, ending.finish.reason) == (Outcome.FAIL, StopReason.MAX_ROUNDS)
    assert ending.finish.best_round == 2


def test_ralph_stops_at_a_regression_and_returns_the_round_before():
    ending = play(rubric("ralph", pass_threshold=D("0.9")), ".70", ".87", ".83")
    assert (ending.after, ending.finish.reason) == (3, StopReason.SCORE_REGRESSION)
    assert (ending.finish.best_round, ending.last) == (2, D(".83"))


def test_ralph_meets_its_threshold():
    ending = play(rubric("ralph"), ".4", ".7", ".9")
    assert ending.finish.reason is StopReason.QUALITY_THRESHOLD_MET
    assert (ending.finish.outcome, ending.improvement) == (Outcome.PASS, D(".5"))


def test_wiggum_stops_when_every_score_is_the_same_again():
    ending = play(rubric("wiggum"), "7", "7", "7")
    assert (ending.after, ending.finish.outcome) == (2, Outcome.FAIL)
    assert ending.finish.reason is StopReason.CYCLING
    assert (
        ending.finish.why == "Stopped after round 2: all scores are the same as in round 1. "
        "Round 1 is the result."
    )


def test_the_last_round_ends_by_the_limit_even_when_it_cycles():
    ending = play(rubric("wiggum"), "7", "8", "8")
    assert (ending.after, ending.finish.reason) == (3, StopReason.MAX_ROUNDS)


@pytest.mark.parametrize("profile", ["wiggum", "ralph", "simmer"])
def test_when_all_rounds_score_zero_the_first_is_the_best(profile):
    of = rubric(profile, minimum_gain=None, on_plateau=OnPlateau.STOP)
    given = tuple(
        type(entry)(
            entry.number, entry.candidate, scored(0, **{c.key: "0" for c in of.criteria} or {"x": "0"})
        )
        for entry in rounds("0", "0", "0", "0")
    )
    seen = History(given[: of.policy.max_rounds])
    step = next_step(of, seen)
    assert isinstance(step, Finish)
    assert step.best_round == 1
    assert seen.rounds[0].candidate == "candidate 1"
