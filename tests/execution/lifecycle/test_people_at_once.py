"""Instructions and edits while a worker carries out the run, with real threads and connections."""

import threading
from decimal import Decimal
from functools import partial

import pytest

from refinement.models import Round, Run, Thread, User
from refinement.models.reviews.comments import ThreadPlace
from refinement.services.reviews.comment_spots import Spot
from refinement.services.reviews.comments import thread_open, thread_resolve
from refinement.services.reviews.decisions import decision_make
from refinement.services.reviews.human_scores import Reading, human_score_give
from refinement.services.runs.hand_rounds import RoundConflict, round_edit
from refinement.services.runs.lifecycle import WrongState, run_pause, run_resume
from refinement.services.runs.steering import instruction_give, instruction_withdraw
from tests.execution.lifecycle.given import Scene, advance, at_once, rubric, worker_threads
from tests.execution.lifecycle.test_hand_rounds import edit
from tests.execution.lifecycle.test_steering import SAID, sent, used
from tests.stepping import run_step

pytestmark = pytest.mark.django_db(transaction=True)


def while_a_revision_is_written(scene: Scene, work) -> None:
    """Has the server do something before it answers the producer for the first time."""
    say, done = scene.server.replies, threading.Event()

    def said(asked):
        if asked.role == "producer" and not done.is_set():
            done.set()
            work()
        return say(asked)

    scene.server.replies = said


def test_one_given_while_a_revision_is_written_is_for_the_next(scene: Scene, editor: User):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(3))
    instruction_give(run=run, text="first-canary", user=editor)
    while_a_revision_is_written(scene, partial(instruction_give, run=run, text="second-canary", user=editor))
    advance(run)
    assert used(run) == [2, 3]
    bodies = sent(scene, "producer")
    assert [("first-canary" in body, "second-canary" in body) for body in bodies] == [
        (True, False),
        (False, True),
    ]


def test_one_that_is_being_used_is_not_withdrawn_until_the_run_is_paused(scene: Scene, editor: User):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(2))
    given = instruction_give(run=run, text=SAID, user=editor)
    refusals: list[str] = []

    def try_to_withdraw() -> None:
        with pytest.raises(WrongState) as refused:
            instruction_withdraw(run=run, number=given.pk, user=editor)
        refusals.append(str(refused.value))
        run_pause(run=run, user=editor)
        instruction_withdraw(run=run, number=given.pk, user=editor)

    while_a_revision_is_written(scene, try_to_withdraw)
    advance(run)
    assert refusals == ["A revision is using this instruction now. Pause the run, then withdraw it."]
    assert (run.status, run.rounds.count(), used(run)) == ("paused", 1, [None])
    run_resume(run=run, user=editor)
    advance(run)
    assert (run.rounds_judged, used(run)) == (2, [None])
    assert ["canary-steer" in body for body in sent(scene, "producer")] == [True, False]
    assert "instructions" not in Round.objects.get(run=run, number=2).feedback


def test_giving_and_withdrawing_against_the_steps_of_a_run_loses_and_doubles_nothing(
    scene: Scene, editor: User
):
    for _ in range(5):
        scene.says(*[5.0 + number / 10 for number in range(8)])
        run = scene.launch(rubric(6))
        first = instruction_give(run=run, text="canary-first", user=editor)

        def give(run: Run = run) -> list[int]:
            return [instruction_give(run=run, text=f"canary-{n}-", user=editor).pk for n in range(4)]

        def withdraw(run: Run = run, number: int = first.pk) -> object:
            return instruction_withdraw(run=run, number=number, user=editor)

        at_once(partial(advance, run), give, withdraw)
        advance(run)
        bodies = sent(scene, "producer")
        for given in run.instructions.all():
            heard = [place + 2 for place, body in enumerate(bodies[-5:]) if given.text in body]
            assert heard == ([given.used_in_round] if given.used_in_round else [])
            told = [
                row.number
                for row in run.rounds.exclude(feedback=None)
                if any(said["id"] == given.pk for said in row.feedback.get("instructions", ()))
            ]
            assert told == heard


def test_two_edits_at_once_make_one_round(scene: Scene, editor: User, owner: User):
    for _ in range(5):
        run = scene.in_state("paused")

        def save(user: User, run: Run = run) -> object:
            return round_edit(run=run, edit=edit(text=f"By {user.name}.", resume=False), user=user)

        results = at_once(lambda: save(editor), lambda: save(owner))
        assert sorted(type(result).__name__ for result in results) == ["Round", "RoundConflict"]
        assert run.rounds.count() == 2
        run.refresh_from_db()
        assert run.status == "paused"


def test_deciding_scoring_and_resolving_at_once_keeps_all_of_it_or_tells(
    scene: Scene, editor: User, owner: User
):
    """Each of them writes to the run, its events and the audit log; none waits for another for ever."""
    for _ in range(3):
        run = scene.in_state("FAIL")
        row = run.rounds.get(number=1)
        thread = thread_open(run=run, spot=Spot(ThreadPlace.RUN), body="Is it?", user=editor).thread
        said = Reading({entry.key: Decimal(4) for entry in rubric().criteria}, {})

        def decide(user: User, run: Run = run) -> object:
            return decision_make(run=run, kind="approved", round_number=1, reason="Yes.", seen=0, user=user)

        def score(user: User, run: Run = run, row: Round = row, said: Reading = said) -> object:
            return human_score_give(run=run, row=row, user=user, submitted=said, seen_version=0)

        def resolve(user: User, thread: Thread = thread) -> object:
            return thread_resolve(thread=thread, user=user)

        work = [partial(do, user) for do in (decide, score, resolve) for user in (editor, owner)]
        names = [type(result).__name__ for result in at_once(*work)]
        assert sorted(names[:2]) == ["Decision", "DecisionConflict"]
        assert names[2:4] == ["HumanScore", "HumanScore"]
        assert sorted(names[4:]) == ["CommentConflict", "Thread"]
        assert (run.decisions.count(), run.human_scores.count()) == (1, 2)


def test_an_edit_against_a_worker_that_takes_the_run_up(scene: Scene, editor: User):
    for _ in range(5):
        scene.says(5.0, 6.0, 7.0, 7.5)
        run = scene.launch(rubric(2))
        advance(run, 1)
        Run.objects.filter(pk=run.pk).update(status="queued")
        saved, _ = at_once(
            lambda run=run: round_edit(run=run, edit=edit(), user=editor),
            lambda run=run: run_step(run.pk),
        )
        assert isinstance(saved, Round | WrongState | RoundConflict)
        advance(run)
        assert (run.status, run.rounds_judged) == ("finished", 2)
        origin = run.rounds.get(number=2).origin
        assert origin == ("hand" if isinstance(saved, Round) else "revision")


def test_a_worker_of_its_own_hears_what_is_said_while_it_runs(scene: Scene, editor: User):
    """Nobody waits between the steps: the worker takes them as their messages come."""
    scene.says(5.0, 6.0, 7.0, 7.5)
    run = scene.launch(rubric(4))
    while_a_revision_is_written(scene, partial(instruction_give, run=run, text=SAID, user=editor))
    with worker_threads(2):
        scene.server.wait_for(lambda: Run.objects.get(pk=run.pk).status == "finished", 60)
    run.refresh_from_db()
    assert (run.outcome, run.rounds_judged, used(run)) == ("FAIL", 4, [3])
    assert ["canary-steer" in body for body in sent(scene, "producer")] == [False, True, False]
    assert "From Edgar Editor, a person on the team:" in sent(scene, "producer")[1]
    assert not any("canary-steer" in body or "Edgar" in body for body in sent(scene, "judge"))
