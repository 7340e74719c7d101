"""A candidate edited by a person becomes a round that is judged, and the loop continues from it."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from benchmarks.replay import problems_of
from refinement.engine.profiles import rubric_for
from refinement.engine.types import Criterion, StopReason
from refinement.models import AuditEntry, Round, Run, User
from refinement.selectors.projects.lists import NotFound
from refinement.services.runs.creating import MAX_TEXT_CHARS
from refinement.services.runs.hand_rounds import Edit, RoundConflict, round_edit
from refinement.services.runs.lifecycle import (
    MOST_MORE_ROUNDS,
    WrongState,
    run_cancel,
    run_continue,
    run_pause,
)
from tests.execution.lifecycle.given import (
    FINISHED,
    SEED,
    STATES,
    Scene,
    advance,
    kinds,
    messages,
    row_of,
    rubric,
)
from tests.execution.wire.stage import verdict
from tests.loopback.replies import from_lists

pytestmark = pytest.mark.django_db
TEXT = "A first text about backups, and how they are restored. canary-edit"
MAY = [state for state in STATES if state != "running"]


def edit(base: int = 1, text: str = TEXT, newest: int = 1, rounds: int | None = 2, **more: bool) -> Edit:
    return Edit(base, text, newest, rounds, **more)


def bodies(scene: Scene, role: str) -> list[str]:
    return [json.dumps(entry.body) for entry in scene.server.chats if entry.role == role]


@pytest.mark.parametrize("state", MAY)
def test_it_becomes_the_next_round_with_event_audit_entry_and_message(scene: Scene, editor: User, state: str):
    run = scene.in_state(state)
    added = round_edit(run=run, edit=edit(), user=editor)

    run.refresh_from_db()
    assert (run.status, run.outcome, run.failure_role) == ("queued", "", "")
    assert (run.lease_owner, run.lease_until, run.next_try_at, run.finished_at) == ("", None, None, None)
    row = Round.objects.get(run=run, number=2)
    assert row == added
    assert (row.origin, row.base_round, row.author, row.author_name) == ("hand", 1, editor, "Edgar Editor")
    assert (row.candidate, row.candidate_chars, row.feedback, row.judged_at) == (TEXT, len(TEXT), None, None)
    assert kinds(run) == ["edited"]
    assert run.events.get().data == {"round": 2, "base": 1}
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.object_id, entry.user) == ("run.edit", str(run.pk), editor)
    assert messages(run) == 1
    assert run.snapshot["policy"]["max_rounds"] == 3
    assert run.extended_after == (1 if state in FINISHED else 0)


def test_while_a_worker_holds_the_run_it_is_refused(scene: Scene, editor: User):
    run = scene.in_state("running")
    before = row_of(run)
    with pytest.raises(WrongState) as refused:
        round_edit(run=run, edit=edit(), user=editor)
    assert str(refused.value) == f"Run {run.pk} is running; pause it before editing a round."
    assert (row_of(run), run.rounds.count(), kinds(run), messages(run)) == (before, 1, [], 0)


def test_a_paused_run_can_stay_paused(scene: Scene, editor: User):
    run = scene.in_state("paused")
    round_edit(run=run, edit=edit(resume=False), user=editor)
    run.refresh_from_db()
    assert (run.status, run.rounds.count(), messages(run)) == ("paused", 2, 0)


REFUSED: list[tuple[str, Callable[[], Edit], str, str]] = [
    ("empty", lambda: edit(text=" \n "), "text", "The text is empty."),
    (
        "unchanged",
        lambda: edit(text=SEED),
        "text",
        "The text is the same as round 1. Change it before saving.",
    ),
    (
        "only line ends and space",
        lambda: edit(text=f"{SEED}\r\n "),
        "text",
        "The text is the same as round 1. Change it before saving.",
    ),
    (
        "too long",
        lambda: edit(text="x" * (MAX_TEXT_CHARS + 1)),
        "text",
        "The text is longer than 10,000,000 characters.",
    ),
    ("no number", lambda: edit(rounds=None), "rounds", "Enter 1 to 50 more rounds, including this one."),
    ("no rounds", lambda: edit(rounds=0), "rounds", "Enter 1 to 50 more rounds, including this one."),
    (
        "too many rounds",
        lambda: edit(rounds=MOST_MORE_ROUNDS + 1),
        "rounds",
        "Enter 1 to 50 more rounds, including this one.",
    ),
]


@pytest.mark.parametrize(
    ("given", "field", "words"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_what_is_no_round_is_refused_and_changes_nothing(scene: Scene, editor: User, given, field, words):
    run = scene.in_state("FAIL")
    before = row_of(run)
    with pytest.raises(ValidationError) as refused:
        round_edit(run=run, edit=given(), user=editor)
    assert refused.value.message_dict == {field: [words]}
    assert (row_of(run), run.rounds.count(), AuditEntry.objects.count()) == (before, 1, 0)


def test_a_round_that_is_not_there_cannot_be_edited(scene: Scene, editor: User):
    run = scene.in_state("paused")
    with pytest.raises(NotFound):
        round_edit(run=run, edit=edit(base=7), user=editor)


def test_hostile_text_is_kept_as_a_database_can(scene: Scene, editor: User):
    run = scene.in_state("paused")
    round_edit(run=run, edit=edit(text="a\x00b\r\n<script>\u202e\ud800"), user=editor)
    assert Round.objects.get(run=run, number=2).candidate == "a\ufffdb\n<script>\u202e?"


def test_a_text_that_waits_for_its_judge_is_judged_first(scene: Scene, editor: User):
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(3))
    advance(run, 2)
    run_pause(run=run, user=editor)
    with pytest.raises(WrongState, match=r"not judged yet\. Resume the run, .* under Instructions\."):
        round_edit(run=run, edit=edit(newest=2), user=editor)
    run_cancel(run=run, user=editor)
    with pytest.raises(WrongState, match=r"not judged yet\. Add more rounds"):
        round_edit(run=run, edit=edit(newest=2), user=editor)


def test_a_spent_budget_is_said_at_once(scene: Scene, editor: User):
    run = scene.in_state("FAIL")
    run.snapshot["policy"]["budget"]["tokens"] = 10
    Run.objects.filter(pk=run.pk).update(snapshot=run.snapshot, prompt_tokens=11)
    with pytest.raises(WrongState, match="has used up its budget of tokens"):
        round_edit(run=run, edit=edit(), user=editor)


def test_the_loop_goes_on_from_it_and_the_server_judges_it(scene: Scene, editor: User):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(1))
    advance(run)
    assert (run.outcome, run.rounds_judged) == ("FAIL", 1)
    scene.says(6.0, 5.5, texts=["A revision of the edit."])
    round_edit(run=run, edit=edit(), user=editor)
    advance(run)

    assert (run.outcome, run.stop_reason, run.rounds_judged) == ("FAIL", "max_rounds", 3)
    assert [row.origin for row in run.rounds.order_by("number")] == ["seed", "hand", "revision"]
    assert (run.best_round, run.rounds.get(number=3).base_round) == (2, 2)
    assert ["canary-edit" in body for body in bodies(scene, "judge")] == [False, True, False]
    assert not any("Edgar" in body for body in bodies(scene, "judge"))
    assert "canary-edit" in bodies(scene, "producer")[0]
    assert run.trajectory == ["5.000000", "6.000000", "5.500000"]
    assert [problem for problem in problems_of(run) if "another run" not in problem] == []


@pytest.mark.parametrize(
    ("profile", "scores", "base"),
    [
        ("wiggum", (5, 4, 6), 2),
        ("ralph", (0.2, 0.4, 0.6), 2),
        ("simmer", (5, 6, 7), 2),
        ("simmer", (6, 4, 7), 1),
    ],
)
def test_it_replays_purely_under_every_profile(scene: Scene, editor: User, profile, scores, base):
    """The rows, shown to the engine again, give the steps that were taken."""
    given = rubric_for(profile)
    criteria = given.criteria or (Criterion("fit", "Fit", "Whether it fits.", "It fits."),)
    definition = replace(
        given,
        criteria=criteria,
        policy=replace(given.policy, max_rounds=3, stop_rules=(StopReason.MAX_ROUNDS,)),
    )

    said = [verdict(definition, score) for score in scores]
    scene.server.replies = from_lists({"judge": said, "producer": ["A revision."]})
    run = scene.launch(definition)
    advance(run, 1)
    run.refresh_from_db()
    Run.objects.filter(pk=run.pk).update(status="queued")
    round_edit(run=run, edit=edit(), user=editor)
    advance(run)
    assert (run.rounds_judged, run.rounds.get(number=3).base_round) == (3, base)
    assert [problem for problem in problems_of(run) if "another run" not in problem] == []


def test_one_more_round_is_the_edited_one_alone(scene: Scene, editor: User):
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(1))
    advance(run)
    round_edit(run=run, edit=edit(rounds=1), user=editor)
    advance(run)
    assert (run.rounds_judged, run.stop_reason, run.best_round) == (2, "max_rounds", 2)
    assert scene.asked("producer") == 0


def test_an_edit_that_was_never_judged_outlives_a_cancelled_run(scene: Scene, editor: User):
    scene.says(5.0, 6.0, 7.0)
    run = scene.launch(rubric(2))
    advance(run, 1)
    Run.objects.filter(pk=run.pk).update(status="paused")
    round_edit(run=run, edit=edit(), user=editor)
    run_cancel(run=run, user=editor)
    run_continue(run=run, rounds=2, user=editor)
    advance(run)
    assert [row.origin for row in run.rounds.order_by("number")] == ["seed", "hand", "revision"]
    assert run.rounds_judged == 3


def test_who_comes_second_is_told_what_happened(scene: Scene, editor: User, owner: User):
    run = scene.in_state("paused")
    round_edit(run=run, edit=edit(resume=False), user=editor)
    with pytest.raises(RoundConflict, match=r"^Edgar Editor saved round 2 while you were editing.$"):
        round_edit(run=run, edit=edit(text="Mine.", resume=False), user=owner)
    assert run.rounds.count() == 2


def test_a_round_that_the_run_wrote_meanwhile_is_said_too(scene: Scene, editor: User):
    scene.says(5.0, 6.0)
    run = scene.launch(rubric(2))
    advance(run)
    with pytest.raises(RoundConflict, match=r"^The run added round 2 while you were editing.$"):
        round_edit(run=run, edit=edit(newest=1), user=editor)
