"""The prompts of a board and the clerk in a preview: their roles, and the source of each part."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.kinds import Information
from refinement.engine.panels import LENS_CHARS, panel_for
from refinement.engine.profiles import rubric_for
from refinement.engine.types import (
    BoardVerdict,
    History,
    JudgeMode,
    Judges,
    PanelJudge,
    PanelSummary,
    Rubric,
)
from refinement.judging.boards.rehearsal import stored_feedback
from refinement.judging.provenance import Source
from refinement.judging.rehearsal import AssumedScores, Rehearsal, assumed_history, brief_for, rehearse
from refinement.judging.visibility import RolePrompt, Visibility

NONCE = "0123456789ab"
PANEL = (PanelJudge("Ada", "You count words."), PanelJudge("Ben", "You doubt."))
VERDICT = AssumedScores(Decimal(6), ("It is vague.",), "Add an example.")


def rubric(mode: JudgeMode = JudgeMode.BOARD, **changes: object) -> Rubric:
    base = replace(rubric_for("simmer"), search_space="- an example\n- a table")
    return replace(base, judges=replace(Judges(mode, PANEL), **changes))


def rehearsed(of: Rubric, number: int = 2, candidate: str = "The candidate.", **history: object) -> Rehearsal:
    past = assumed_history(of, number, candidate, "The text before.", VERDICT)
    return rehearse(brief_for(of, "Write a guide.", NONCE), replace(past, **history))


def prompts(of: Rubric, number: int = 2, **history: object) -> dict[str, RolePrompt]:
    return dict(rehearsed(of, number, **history).prompts())


def parts(act: RolePrompt) -> dict[Source, str]:
    found: dict[Source, str] = {}
    for message in act.prompt.messages:
        for part in message.parts:
            found[part.source] = found.get(part.source, "") + part.text
    return found


def test_a_board_has_every_judge_its_deliberation_and_the_clerk():
    names = list(prompts(rubric()))
    assert names == [
        "judge-1", "judge-2", "deliberation-1", "deliberation-2", "merge", "describe", "draft", "revision",
    ]  # fmt: skip
    assert "describe" not in prompts(rubric(), 1)
    assert not {"deliberation-1", "deliberation-2"} & set(prompts(rubric(deliberation=False)))


def test_a_rubric_without_a_panel_shows_the_gallerys_and_how_it_is_composed():
    of = rubric(panel=())
    board = rehearsed(of).board
    assert board.assumes_panel
    assert board.panel == panel_for(of.artifact_type)
    act = prompts(of)["compose"]
    assert parts(act)[Source.CANDIDATE] == "The text before."  # of the board's first round
    assert parts(act)[Source.TASK] == "Write a guide."
    assert not rehearsed(rubric()).board.assumes_panel
    assert not rehearsed(of, panel=PANEL).board.assumes_panel


@pytest.mark.parametrize(("chars", "is_board"), [(100, False), (2_500, True)])
def test_auto_is_resolved_by_the_text(chars, is_board):
    of = replace(rubric(JudgeMode.AUTO), criteria=rubric().criteria[:2])
    rehearsal = rehearsed(of, 1, "x" * chars)
    assert (rehearsal.board is not None) is is_board
    assert (rehearsal.judge is None) is is_board


def test_a_single_judge_has_neither_board_nor_clerk():
    assert list(prompts(rubric(JudgeMode.SINGLE))) == ["judge", "draft", "revision"]
    assert list(prompts(rubric(JudgeMode.SINGLE, clerk="local/m"))) == [
        "judge", "describe", "draft", "revision",
    ]  # fmt: skip


def test_checks_alone_have_nobody_to_preview():
    of = replace(rubric_for("ralph"), judges=Judges(JudgeMode.BOARD, PANEL))
    assert list(prompts(of)) == ["draft", "revision"]


@pytest.mark.parametrize("panel", [(), PANEL], ids=["composed", "given"])
def test_the_parts_of_every_message_are_the_message(panel):
    for act in prompts(rubric(panel=panel)).values():
        assert act.prompt.unmarked == frozenset()
        for message in act.prompt.messages:
            assert "".join(part.text for part in message.parts) == message.content
            assert all(part.text for part in message.parts)


def test_each_part_is_named():
    found = {name: parts(act) for name, act in prompts(rubric()).items()}
    assert found["judge-1"][Source.LENS] == "AdaYou count words."
    assert found["judge-1"][Source.CANDIDATE] == "The candidate."
    assert found["deliberation-1"][Source.LENS] == "AdaYou count words."
    assert found["deliberation-1"][Source.OPINIONS].startswith("Ben\n- clarity: 6.")
    assert found["deliberation-1"][Source.OWN_VERDICT].startswith('{\n  "criteria"')
    assert found["deliberation-1"][Source.REPLY_FORMAT].count('"stance"') == 3
    assert "Suggested change: Add an example." in found["merge"][Source.OPINIONS]
    assert '"not_working"' in found["merge"][Source.REPLY_FORMAT]
    assert "Clarity" in found["merge"][Source.CRITERIA]
    assert found["describe"][Source.CANDIDATE] == "-The text before.\n+The candidate."
    assert found["describe"][Source.FEEDBACK] == "Add an example."
    assert found["describe"][Source.REPLY_FORMAT] == '{"change": "..."}'


def test_the_longest_lens_can_be_marked():
    longest = (PanelJudge("A" * 60, "y" * LENS_CHARS), PANEL[1])
    assert parts(prompts(rubric(panel=longest))["judge-1"])[Source.LENS] == "A" * 60 + "y" * LENS_CHARS


def test_a_revision_names_the_panel_summary_and_what_was_explored():
    of = rubric()
    past = assumed_history(of, 2, "The candidate.", "", VERDICT)
    summary = PanelSummary(("The table.",), ("Jokes.",), "Shorter.")
    past = replace(past, rounds=(past.rounds[0], replace(past.rounds[1], summary=summary)))
    act = rehearse(brief_for(of, "Write a guide.", NONCE), past).revision
    assert parts(act)[Source.PANEL_SUMMARY] == "The table.Jokes.Shorter."
    assert parts(act)[Source.SEARCH_SPACE].endswith("an examplea table")
    assert act.visibility[Information.PANEL_SUMMARY] is Visibility.SEEN
    assert prompts(of)["revision"].visibility[Information.PANEL_SUMMARY] is Visibility.NOTHING


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("merge", {Information.CRITERIA}),
        ("describe", {Information.CANDIDATE, Information.FEEDBACK}),
        ("compose", {Information.TASK, Information.CRITERIA, Information.CANDIDATE}),
    ],
)
def test_the_clerk_is_shown_what_it_may_see(name, seen):
    visibility = prompts(rubric(panel=()))[name].visibility
    assert {kind for kind, fate in visibility.items() if fate is Visibility.SEEN} == seen
    nothing = {kind for kind, fate in visibility.items() if fate is Visibility.NOTHING}
    assert nothing == ({Information.PANEL_SUMMARY} if name == "merge" else set())


def test_verdicts_that_are_there_are_used_and_others_assumed():
    of = rubric()
    past = assumed_history(of, 2, "The candidate.", "", VERDICT)
    (verdict,) = past.rounds[0].assessment.verdicts
    board = tuple(BoardVerdict(seat, replace(verdict, asi=f"asi {seat}")) for seat in (1, 2))

    def rehearsal(*answers: BoardVerdict) -> Rehearsal:
        last = replace(past.rounds[1], board=answers)
        history = History((past.rounds[0], last), panel=PANEL)
        return rehearse(brief_for(of, "Write a guide.", NONCE), history)

    stored = rehearsal(*board)
    assert not stored.board.assumes_answers
    assert "asi 2" in parts(dict(stored.prompts())["merge"])[Source.OPINIONS]
    for answers in (board[:1], (board[0], BoardVerdict(2, None, "unreadable"))):
        partial = rehearsal(*answers)
        assert partial.board.assumes_answers
        assert "asi" not in parts(dict(partial.prompts())["merge"])[Source.OPINIONS]


def test_an_edit_by_hand_is_not_named():
    past = assumed_history(rubric(), 2, "The candidate.", "", VERDICT)
    by_hand = replace(past, rounds=(past.rounds[0], replace(past.rounds[1], by_hand=True)))
    assert rehearse(brief_for(rubric(), "Task.", NONCE), by_hand).describe is None


def test_feedback_that_was_stored_comes_before_what_would_follow():
    past = assumed_history(rubric(), 2, "The candidate.", "", VERDICT)
    act = rehearse(brief_for(rubric(), "Task.", NONCE), past, {"asi": "Something else."}).describe
    assert parts(act)[Source.FEEDBACK] == "Something else."


def test_stored_feedback_has_what_a_run_stores():
    assert set(stored_feedback(rehearsed(rubric()).step.feedback)) == {
        "asi", "issues", "failure_texts", "instructions",
    }  # fmt: skip
