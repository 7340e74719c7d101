"""The preview of a board's round is exactly what the run sends."""

import json
from dataclasses import replace

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import (
    CheckResult,
    Feedback,
    FeedbackStyle,
    Instruction,
    JudgeMode,
    Judges,
    OnPlateau,
    PanelJudge,
    Rubric,
    StopReason,
)
from refinement.execution.advancing import run_advance
from refinement.execution.steps.record_values import feedback_values
from refinement.judging.boards.context import feedback_text
from refinement.judging.boards.rehearsal import stored_feedback
from refinement.judging.rehearsal import AssumedScores, Rehearsal, rehearse
from refinement.judging.sources import SourceText
from refinement.models import Call, Run
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.rubrics.rehearsals import preview_history
from tests.loopback.replies import Asked, instance

pytestmark = pytest.mark.django_db(transaction=True)

PANEL = tuple(PanelJudge(name, f"You look as {name}.") for name in ("Ada", "Ben", "Cleo"))


def answers(asked: Asked) -> str:
    """Every reply differs, so that no two messages are alike by accident."""
    if asked.schema is None:
        return f"# Draft {asked.number}\n\nKept for four weeks.\n\nIt has {asked.number} parts."
    share = 0.2 + asked.number % 6 / 10
    reply = instance(asked.schema, None, share)
    if "judges" in reply:
        reply = {"judges": [{"name": f"Judge {n}", "lens": f"You look {n} times."} for n in range(3)]}
    if "change" in reply:
        reply = {"change": f"Made change {asked.number}"}
    if "asi" in reply:
        reply["asi"] = f"Make change {asked.number}."
    return json.dumps(reply)


def rubric(judges: Judges, **policy: object) -> Rubric:
    base = rubric_for("simmer")
    settings = {"max_rounds": 3, "stop_rules": (), **policy}
    return replace(
        base,
        judges=judges,
        policy=replace(base.policy, **settings),
        background="Readers are new.",
        search_space="- shorter parts\n- an example",
        output_pattern="four weeks",
    )


def played(scene, of: Rubric, **launch: object) -> Run:
    scene.server.replies = answers
    run = scene.launch(of, **launch)
    run_advance(run.pk)
    run.refresh_from_db()
    assert run.outcome == "DONE", run.why
    return run


def rehearsed(run: Run, number: int) -> Rehearsal:
    version = run.rubric_version
    definition = definition_of(version)
    borrowed = preview_history(run, version, definition, number, AssumedScores(definition.scale.maximum))
    assert borrowed.assumed == ()
    return rehearse(borrowed.brief, borrowed.history, borrowed.feedback)


def shown(run: Run, number: int) -> dict[str, list[dict[str, str]]]:
    """What the preview of a round shows, by the names of its prompts."""
    return {
        name: [{"role": message.role, "content": message.content} for message in prompt.prompt.messages]
        for name, prompt in rehearsed(run, number).prompts()
    }


def name_of(call: Call) -> str:
    """The preview's name for a call."""
    if call.role == "producer":
        return "draft" if call.round_number == 1 else "revision"
    score = f"judge-{call.seat}" if call.seat else "judge"
    names = {"score": score, "deliberate": f"deliberation-{call.seat}"}
    return names.get(call.purpose, call.purpose)


def compare(run: Run) -> dict[str, int]:
    """Compares every call of the run with the preview; returns how many were compared, by name."""
    previews = {number: shown(run, number) for number in run.rounds.values_list("number", flat=True)}
    compared: dict[str, int] = {}
    for call in Call.objects.filter(run=run).order_by("pk"):
        name = name_of(call)
        # A revision belongs to the preview of the round before it.
        number = call.round_number - 1 if name == "revision" else call.round_number
        assert previews[number][name] == call.messages, (number, name)
        compared[name] = compared.get(name, 0) + 1
    return compared


@pytest.mark.parametrize("deliberation", [True, False])
def test_every_message_of_a_board(scene, deliberation):
    of = rubric(Judges(JudgeMode.BOARD, PANEL, deliberation=deliberation))
    run = played(scene, of, seed="", sources=[SourceText("notes.txt", "Kept for four weeks.")])
    deliberations = {f"deliberation-{seat}": 3 for seat in (1, 2, 3)} if deliberation else {}
    assert compare(run) == {
        **{f"judge-{seat}": 3 for seat in (1, 2, 3)},
        **deliberations,
        "merge": 3,
        "describe": 2,
        "draft": 1,
        "revision": 2,
    }
    assert "compose" not in shown(run, 1)


def test_what_went_over_the_wire_is_what_was_recorded(scene):
    run = played(scene, rubric(Judges(JudgeMode.BOARD, PANEL), max_rounds=2))
    sent = [entry.body["messages"] for entry in scene.server.chats]
    recorded = [call.messages for call in Call.objects.filter(run=run)]
    assert sorted(map(json.dumps, sent)) == sorted(map(json.dumps, recorded))


def test_a_panel_that_the_clerk_composed(scene):
    run = played(scene, rubric(Judges(JudgeMode.BOARD), max_rounds=2))
    compared = compare(run)
    assert compared["compose"] == 1
    assert compared["judge-3"] == 2
    assert [judge.name for judge in rehearsed(run, 2).board.panel] == ["Judge 0", "Judge 1", "Judge 2"]


def test_a_single_judge_whose_changes_are_named(scene):
    compared = compare(played(scene, rubric(Judges(clerk="ollama/loopback:8b"))))
    assert compared == {"judge": 3, "describe": 2, "revision": 2}


def test_a_board_that_took_over_on_a_plateau(scene):
    of = rubric(Judges(), max_rounds=9, plateau_rounds=2, plateau_window=1, stop_rules=(StopReason.PLATEAU,),
                on_plateau=OnPlateau.BOARD)  # fmt: skip
    scene.server.replies = level(answers)
    run = scene.launch(of, seed="")
    run_advance(run.pk)
    run.refresh_from_db()
    assert run.escalated_after == 2
    compared = compare(run)
    assert compared["judge"] == 2
    assert compared["compose"] == 1
    assert compared["judge-1"] == 2
    assert "(the last is 4)" in shown(run, 3)["judge-1"][1]["content"]


def level(replies):
    """The same scores in every round, so that the run reaches its plateau."""

    def reply(asked: Asked) -> str:
        text = replies(asked)
        found = json.loads(text) if asked.schema is not None else {}
        for entry in found.get("criteria", {}).values():
            entry["score"] = 5
        return json.dumps(found) if found else text

    return reply


def test_a_judge_that_could_not_be_read_deliberates_no_more(scene):
    of = rubric(Judges(JudgeMode.BOARD, PANEL), max_rounds=1)

    def reply(asked: Asked) -> str:
        return "No." if "Your seat: Ben." in asked.prompt else answers(asked)

    scene.server.replies = reply
    run = scene.launch(of)
    run_advance(run.pk)
    names = shown(run, 1)
    assert {name for name in names if name.startswith("deliberation")} == {"deliberation-1", "deliberation-3"}
    for call in Call.objects.filter(run=run).exclude(seat=2):
        assert names[name_of(call)] == call.messages


def test_a_round_that_no_board_has_judged_is_assumed(scene):
    run = played(scene, rubric(Judges(), max_rounds=2, on_plateau=OnPlateau.STOP))
    rehearsal = rehearsed(run, 2)
    assert rehearsal.board is None
    assert rehearsal.judge is not None
    assert rehearsal.describe is None


def test_assumed_feedback_reads_like_stored_feedback():
    failed = CheckResult("heading", False, "It has no heading.", suggestion="Add one.")
    told = (Instruction(1, "Eve", "Keep the table."),)
    feedback = Feedback(FeedbackStyle.ASI, 1, ("Vague.",), "Cut it.", (failed,), "A note.", told)
    assert feedback_text(stored_feedback(feedback)) == feedback_text(feedback_values(feedback))
