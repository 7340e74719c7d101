"""Steering a run: the next revision gets each instruction exactly once."""

import json
import re

import pytest
from django.core.exceptions import ValidationError

from benchmarks.replay import problems_of
from refinement.execution.leases import LEASE
from refinement.models import AuditEntry, Instruction, Round, Run, User
from refinement.selectors.projects.lists import NotFound
from refinement.selectors.runs.steering import steering_of
from refinement.services.runs.lifecycle import (
    WrongState,
    run_cancel,
    run_continue,
    run_retry,
)
from refinement.services.runs.steering import (
    INSTRUCTION_CHARS,
    MOST_WAITING_CHARS,
    instruction_give,
    instruction_withdraw,
)
from tests.execution.lifecycle.given import STATES, Scene, advance, kinds, now_due, row_of, rubric
from tests.stepping import run_step

pytestmark = pytest.mark.django_db
SAID = "Name the owner of each step, canary-steer."


def sent(scene: Scene, role: str) -> list[str]:
    return [json.dumps(entry.body) for entry in scene.server.chats if entry.role == role]


def used(run: Run) -> list[int | None]:
    return list(run.instructions.order_by("id").values_list("used_in_round", flat=True))


@pytest.mark.parametrize("state", STATES)
def test_an_instruction_may_be_given_and_withdrawn_in_every_state(scene: Scene, editor: User, state: str):
    run = scene.in_state(state)
    before = row_of(run)
    given = instruction_give(run=run, text=f" {SAID}\r\nAnd more. ", user=editor)
    assert (given.text, given.author, given.author_name) == (f"{SAID}\nAnd more.", editor, "Edgar Editor")
    instruction_withdraw(run=run, number=given.pk, user=editor)
    assert row_of(run) == before
    assert kinds(run) == ["steered", "steered"]
    assert {json.dumps(event.data) for event in run.events.all()} == {json.dumps({"instruction": given.pk})}
    entries = AuditEntry.objects.order_by("id")
    assert [entry.action for entry in entries] == ["run.instruct", "run.withdraw"]
    assert all(SAID not in json.dumps(entry.after) for entry in entries)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Enter an instruction for the next revision."),
        (" \n\t ", "Enter an instruction for the next revision."),
        ("x" * (INSTRUCTION_CHARS + 1), "This is 4,001 characters long; 4,000 are allowed."),
        ("x" * 1_000_000, "This is 1,000,000 characters long; 4,000 are allowed."),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_sentence(scene: Scene, editor: User, text: str, words: str):
    run = scene.in_state("paused")
    with pytest.raises(ValidationError) as refused:
        instruction_give(run=run, text=text, user=editor)
    assert refused.value.message_dict == {"text": [words]}
    assert not run.instructions.exists()


def test_no_more_waits_than_a_prompt_can_carry(scene: Scene, editor: User):
    run = scene.in_state("paused")
    for _ in range(MOST_WAITING_CHARS // INSTRUCTION_CHARS):
        last = instruction_give(run=run, text="x" * INSTRUCTION_CHARS, user=editor)
    with pytest.raises(ValidationError, match="Pending instructions already have 8,000"):
        instruction_give(run=run, text="x", user=editor)
    instruction_withdraw(run=run, number=last.pk, user=editor)
    instruction_give(run=run, text="\x00\u202e<b>\ud800", user=editor)
    assert run.instructions.order_by("id").last().text == "\ufffd\u202e<b>?"


def test_what_a_small_model_has_no_room_for_is_refused_while_it_can_be_shortened(scene: Scene, editor: User):
    scene.server.context_length = 3_000
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(3))
    advance(run, 3)
    instruction_give(run=run, text="w" * INSTRUCTION_CHARS, user=editor)
    with pytest.raises(ValidationError) as refused:
        instruction_give(run=run, text="x" * INSTRUCTION_CHARS, user=editor)
    (words,) = refused.value.message_dict["text"]
    said = re.fullmatch(
        r"loopback:1b has a context window of 3,000 tokens. About ([\d,]+) more characters fit. "
        r"Shorten this instruction.", words,
    )  # fmt: skip
    fits = int(said[1].replace(",", ""))
    instruction_give(run=run, text="y" * fits, user=editor)
    with pytest.raises(ValidationError, match=r"This instruction does not fit\. Withdraw a pending one\."):
        instruction_give(run=run, text="z" * 100, user=editor)
    advance(run)
    assert (run.outcome, run.rounds_judged, used(run)) == ("FAIL", 3, [3, 3])


def test_instructions_that_do_not_fit_say_so_and_wait_for_another_try(scene: Scene, editor: User):
    scene.server.context_length = 3_000
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(2))
    given = [instruction_give(run=run, text="x" * INSTRUCTION_CHARS, user=editor) for _ in range(2)]
    advance(run)
    assert (run.outcome, used(run)) == ("ERROR", [None, None])
    assert "The pending instructions have 8,000 characters." in run.failure_message
    assert "Withdraw or shorten some of them" in run.failure_message
    instruction_withdraw(run=run, number=given[0].pk, user=editor)
    instruction_withdraw(run=run, number=given[1].pk, user=editor)
    run_retry(run=run, user=editor)
    advance(run)
    assert (run.outcome, run.rounds_judged) == ("FAIL", 2)


def test_a_running_run_tells_the_next_revision_and_never_the_judge(scene: Scene, editor: User):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(3))
    advance(run, 1)
    assert run.status == "running"
    instruction_give(run=run, text=SAID, user=editor)
    advance(run)

    assert (run.outcome, run.rounds_judged) == ("FAIL", 3)
    producer, judge = sent(scene, "producer"), sent(scene, "judge")
    assert ["canary-steer" in body for body in producer] == [True, False]
    assert "From Edgar Editor, a person on the team:\\nName the owner" in producer[0]
    assert not any("canary-steer" in body or "Edgar" in body for body in judge)
    assert used(run) == [2]
    given = run.instructions.get()
    told = Round.objects.get(run=run, number=2).feedback["instructions"]
    assert told == [{"id": given.pk, "author": "Edgar Editor", "text": SAID}]
    assert "instructions" not in Round.objects.get(run=run, number=3).feedback
    assert not any(SAID in json.dumps(event.data) for event in run.events.all())
    assert [problem for problem in problems_of(run) if "another run" not in problem] == []


def test_one_given_before_the_first_draft_waits_for_the_first_revision(scene: Scene, editor: User):
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(2), seed="")
    instruction_give(run=run, text=SAID, user=editor)
    advance(run)
    assert ["canary-steer" in body for body in sent(scene, "producer")] == [False, True]
    assert used(run) == [2]


def test_after_a_kill_the_same_revision_carries_it_again_and_once(scene: Scene, editor: User, monkeypatch):
    """The worker dies after the model has answered and before anything is written."""
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(2))
    instruction_give(run=run, text=SAID, user=editor)
    advance(run, 1)
    from refinement.execution.steps import producing as production

    def dies(text: str) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(production, "read_candidate", dies)
        with pytest.raises(KeyboardInterrupt):
            run_step(run.pk)
    assert used(run) == [None]
    Run.objects.filter(pk=run.pk).update(lease_until=run.created_at - LEASE)
    advance(run)
    assert (run.rounds_judged, used(run)) == (2, [2])
    assert ["canary-steer" in body for body in sent(scene, "producer")] == [True, True]


def test_after_a_failed_call_and_after_retry_it_is_still_there(scene: Scene, editor: User):
    scene.says(5.0, 6.0, texts=["", "", "", "", "", "", "", "", "A revision."])
    run = scene.launch(rubric(2))
    instruction_give(run=run, text=SAID, user=editor)
    while not run.is_finished:
        advance(run)
        now_due(run)
        run.refresh_from_db()
    assert (run.outcome, used(run)) == ("ERROR", [None])
    scene.says(6.0, texts=["A revision."])
    run_retry(run=run, user=editor)
    advance(run)
    assert (run.outcome, used(run)) == ("FAIL", [2])


def test_one_that_the_end_of_the_run_left_unused_is_used_when_more_rounds_are_asked_for(
    scene: Scene, editor: User
):
    scene.says(9.5, 9.6)
    run = scene.launch(rubric(3))
    instruction_give(run=run, text=SAID, user=editor)
    advance(run)
    assert (run.outcome, used(run)) == ("PASS", [None])
    assert [row.text for row in steering_of(run).waiting] == [SAID]
    run_continue(run=run, rounds=1, user=editor)
    advance(run)
    assert used(run) == [2]
    assert "canary-steer" in sent(scene, "producer")[0]


def test_one_that_went_into_a_round_nobody_judged_waits_again(scene: Scene, editor: User):
    """More rounds drop a candidate that was never judged; what it was told is not lost with it."""
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(3))
    instruction_give(run=run, text=SAID, user=editor)
    advance(run, 2)
    assert (run.rounds.count(), run.rounds_judged, used(run)) == (2, 1, [2])
    run_cancel(run=run, user=editor)
    run_continue(run=run, rounds=1, user=editor)
    assert used(run) == [None]
    advance(run)
    assert (run.rounds_judged, used(run)) == (2, [2])
    assert ["canary-steer" in body for body in sent(scene, "producer")] == [True, True]


def test_what_is_used_or_withdrawn_or_elsewhere_cannot_be_withdrawn(scene: Scene, editor: User):
    run = scene.in_state("paused")
    given = instruction_give(run=run, text=SAID, user=editor)
    other = scene.in_state("paused")
    with pytest.raises(NotFound):
        instruction_withdraw(run=other, number=given.pk, user=editor)
    Instruction.objects.filter(pk=given.pk).update(used_in_round=2)
    with pytest.raises(WrongState, match="Round 2 already used this instruction"):
        instruction_withdraw(run=run, number=given.pk, user=editor)
    Instruction.objects.filter(pk=given.pk).update(used_in_round=None)
    instruction_withdraw(run=run, number=given.pk, user=editor)
    with pytest.raises(WrongState, match="already withdrawn"):
        instruction_withdraw(run=run, number=given.pk, user=editor)
