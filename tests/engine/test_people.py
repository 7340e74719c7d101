"""People in the loop: instructions for the next revision, and edited candidates."""

from dataclasses import replace

import pytest

from refinement.engine.metrics import run_metrics
from refinement.engine.steps import next_step
from refinement.engine.types import Draft, Finish, History, Instruction, Judge, Revise, Round
from tests.engine.given import D, history, judged, rubric

PROFILES = ("wiggum", "ralph", "simmer")
LOW = {"wiggum": ("5", "6"), "ralph": ("0.3", "0.6"), "simmer": ("5", "6")}
ASKED = (Instruction(7, "Ada", "Name the owner."), Instruction(9, "Bo", "Shorter."))


def roomy(profile: str):
    """Nothing but the number of rounds ends it."""
    return rubric(profile, max_rounds=9, stop_rules=())


def past(profile: str, *scores: str) -> History:
    of = roomy(profile)
    if profile == "ralph":
        return history(*scores)
    return History(tuple(judged(of, number, score) for number, score in enumerate(scores, 1)))


def by_hand(of: Round) -> Round:
    return replace(of, by_hand=True, base_round=1)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_next_revision_carries_what_people_asked_for_in_every_profile(profile):
    before = past(profile, LOW[profile][0])
    plain = next_step(roomy(profile), before)
    steered = next_step(roomy(profile), replace(before, instructions=ASKED))
    assert isinstance(plain, Revise)
    assert plain.feedback.instructions == ()
    assert steered == replace(plain, feedback=replace(plain.feedback, instructions=ASKED))


@pytest.mark.parametrize("profile", PROFILES)
def test_instructions_change_no_other_step(profile):
    of = roomy(profile)
    waiting = History((Round(1, "seed"),), instructions=ASKED)
    assert next_step(of, History(instructions=ASKED)) == Draft()
    assert next_step(of, waiting) == Judge(1)
    full = replace(of, policy=replace(of.policy, max_rounds=1))
    before = past(profile, LOW[profile][0])
    assert next_step(full, replace(before, instructions=ASKED)) == next_step(full, before)
    assert isinstance(next_step(full, before), Finish)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_first_of_more_rounds_carries_them_too(profile):
    before = past(profile, *LOW[profile])
    step = next_step(roomy(profile), replace(before, extended_after=2, instructions=ASKED))
    assert isinstance(step, Revise)
    assert (step.base_round, step.feedback.instructions) == (2, ASKED)


@pytest.mark.parametrize("profile", PROFILES)
def test_an_edited_candidate_is_judged_next(profile):
    before = past(profile, LOW[profile][0])
    edited = Round(2, "edited", None, 1, by_hand=True)
    assert next_step(roomy(profile), replace(before, rounds=(*before.rounds, edited))) == Judge(2)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_revision_after_an_edit_starts_from_the_edit(profile):
    """Under ralph as well, whose revisions otherwise start from the original task."""
    before = past(profile, *LOW[profile])
    rounds = (before.rounds[0], by_hand(before.rounds[1]))
    step = next_step(roomy(profile), replace(before, rounds=rounds))
    assert isinstance(step, Revise)
    assert (step.round, step.base_round, step.feedback.from_round) == (3, 2, 2)


def test_ralph_goes_back_to_the_original_task_one_revision_after_an_edit():
    before = past("ralph", "0.3", "0.4", "0.6")
    rounds = (before.rounds[0], by_hand(before.rounds[1]), before.rounds[2])
    step = next_step(roomy("ralph"), replace(before, rounds=rounds))
    assert isinstance(step, Revise)
    assert step.base_round is None


def test_simmer_leaves_an_edit_that_was_judged_worse_for_the_best():
    before = past("simmer", "7", "5")
    rounds = (before.rounds[0], by_hand(before.rounds[1]))
    step = next_step(roomy("simmer"), replace(before, rounds=rounds))
    assert isinstance(step, Revise)
    assert step.base_round == 1
    assert "was worse than" in step.feedback.note


@pytest.mark.parametrize("profile", PROFILES)
def test_an_edit_counts_as_a_round_and_can_be_the_best(profile):
    of = roomy(profile)
    full = replace(of, policy=replace(of.policy, max_rounds=2))
    before = past(profile, *LOW[profile])
    after = replace(before, rounds=(before.rounds[0], by_hand(before.rounds[1])))
    end = next_step(full, after)
    assert isinstance(end, Finish)
    assert end.best_round == 2
    metrics = run_metrics(full, after)
    assert (metrics.rounds, metrics.best_round, metrics.best) == (2, 2, D(LOW[profile][1]))


@pytest.mark.parametrize("profile", PROFILES)
def test_a_finished_run_that_goes_on_from_an_edit_judges_it_and_follows_its_rules(profile):
    """As after more rounds were asked for: what came before the last judged round no longer counts."""
    of = roomy(profile)
    longer = replace(of, policy=replace(of.policy, max_rounds=4))
    before = replace(past(profile, *LOW[profile]), extended_after=2)
    edited = Round(3, "edited", None, 2, by_hand=True)
    assert next_step(longer, replace(before, rounds=(*before.rounds, edited))) == Judge(3)
    score = past(profile, *LOW[profile], LOW[profile][1]).rounds[2]
    step = next_step(longer, replace(before, rounds=(*before.rounds, by_hand(score))))
    assert isinstance(step, Revise)
    assert (step.round, step.base_round) == (4, 3)
