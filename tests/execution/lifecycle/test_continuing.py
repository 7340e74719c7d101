"""More rounds for a finished run: they start from its best round and respect its budget."""

import pytest
from django.core.exceptions import ValidationError

from refinement.engine.codec import rubric_from_json
from refinement.models import Run
from refinement.services.runs.lifecycle import MOST_MORE_ROUNDS, WrongState, run_cancel, run_continue
from tests.execution.lifecycle.given import Scene, advance, kinds, messages, row_of, rubric

pytestmark = pytest.mark.django_db


def played(scene: Scene, *scores: float, **policy: str) -> Run:
    """A run that used up its rounds, one for each score, with scores at hand for three more."""
    scene.says(*scores, 6.0, 6.5, 7.0)
    run = scene.launch(rubric(len(scores), **policy))
    advance(run)
    assert (run.status, run.outcome) == ("finished", "FAIL")
    return run


def test_so_many_more_rounds_are_run_and_none_starts_from_a_worse_one_than_the_best(scene: Scene):
    run = played(scene, 7.0, 8.0, 5.0)
    run_continue(run=run, rounds=2)
    run.refresh_from_db()
    assert (run.extended_after, rubric_from_json(run.snapshot).policy.max_rounds) == (3, 5)
    advance(run)
    assert (run.status, run.stop_reason, run.rounds_judged, run.best_round) == (
        "finished",
        "max_rounds",
        5,
        2,
    )
    bases = list(run.rounds.values_list("number", "base_round"))
    assert bases == [(1, None), (2, 1), (3, 2), (4, 2), (5, 2)]
    assert [float(value) for value in run.rounds.values_list("composite", flat=True)] == [7, 8, 5, 6, 6.5]
    assert run.calls_made == scene.asked() == 9
    assert kinds(run).count("stopped") == 2


def test_the_rounds_there_are_stay_as_they_were(scene: Scene):
    run = played(scene, 7.0, 8.0)
    columns = ("number", "candidate", "composite", "judged_at", "base_round")
    before = list(run.rounds.values_list(*columns))
    run_continue(run=run, rounds=1)
    advance(run)
    assert list(run.rounds.values_list(*columns))[:2] == before
    assert float(run.r1) == 7.0


def test_it_can_be_done_again_and_again(scene: Scene):
    run = played(scene, 7.0)
    for rounds in (2, 3):
        run_continue(run=run, rounds=1)
        advance(run)
        assert (run.status, run.rounds_judged) == ("finished", rounds)
    assert run.rounds.get(number=3).base_round == 1


@pytest.mark.parametrize("rounds", [0, -1, MOST_MORE_ROUNDS + 1])
def test_a_number_of_rounds_that_is_none_is_refused(scene: Scene, rounds: int):
    run = scene.in_state("FAIL")
    before = row_of(run)
    with pytest.raises(ValidationError) as refused:
        run_continue(run=run, rounds=rounds)
    assert refused.value.message_dict == {"rounds": ["Enter 1 to 50 more rounds."]}
    assert row_of(run) == before


def test_the_most_rounds_are_allowed(scene: Scene):
    run = run_continue(run=scene.in_state("FAIL"), rounds=MOST_MORE_ROUNDS)
    assert rubric_from_json(run.snapshot).policy.max_rounds == 1 + MOST_MORE_ROUNDS


def test_a_cancelled_runs_unjudged_candidate_is_dropped_and_its_calls_are_kept(scene: Scene):
    scene.says(5.0, "no verdict at all", 7.0, texts=["Dropped.", "Written anew."])
    run = scene.launch(rubric(2))
    advance(run, 3)  # judged, revised, and the revision's judge could not be read
    assert list(run.rounds.values_list("number", "candidate")) == [(1, run.seed), (2, "Dropped.")]
    run_cancel(run=run)
    run_continue(run=run, rounds=1)
    assert run.rounds.count() == 1
    advance(run)
    assert (run.status, run.outcome, run.rounds_judged) == ("finished", "FAIL", 2)
    assert run.rounds.get(number=2).candidate == "Written anew."
    assert run.rounds.get(number=2).judge_attempts == 1
    numbers = [(1, "judge", 1), (2, "judge", 1), (2, "judge", 2), (2, "producer", 1), (2, "producer", 2)]
    assert sorted(run.calls.values_list("round_number", "role", "attempt")) == numbers
    assert run.calls_made == scene.asked() == 5


def test_a_run_without_a_judged_round_is_run_again_instead(scene: Scene):
    run = scene.launch()
    run_cancel(run=run)
    with pytest.raises(WrongState) as refused:
        run_continue(run=run, rounds=1)
    words = f"Run {run.pk} has no judged round to continue from; rerun it instead."
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("budget", "field"),
    [("calls", "calls_made"), ("tokens", "prompt_tokens"), ("seconds", "model_seconds")],
)
def test_a_spent_budget_is_said_before_the_run_is_woken(scene: Scene, budget: str, field: str):
    run = played(scene, 5.0, **{f"budget.{budget}": "1000"})
    Run.objects.filter(pk=run.pk).update(**{field: 1000})
    sent = messages(run)
    with pytest.raises(WrongState) as refused:
        run_continue(run=run, rounds=1)
    words = f"Run {run.pk} has used up its budget of {budget}; rerun it with a larger one."
    assert str(refused.value) == words
    run.refresh_from_db()
    assert (run.status, messages(run)) == ("finished", sent)


def test_failures_of_the_step_it_was_cancelled_in_count_no_more(scene: Scene):
    run = scene.in_state("CANCELLED")
    Run.objects.filter(pk=run.pk).update(step_failures=2, step_unreadable=2)
    run_continue(run=run, rounds=1)
    run.refresh_from_db()
    assert (run.step_failures, run.step_unreadable) == (0, 0)
