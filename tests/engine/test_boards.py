"""Boards: the order of their steps, quorum, medians, spread, escalation and the question at a plateau."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.boards import (
    final_score,
    has_board,
    is_dissent,
    judge_mode,
    lower_median,
    may_have_board,
    merged_verdict,
    names_changes,
    quorum,
    spokesperson,
    spreads,
)
from refinement.engine.panels import PANELS, Judges, PanelJudge, panel_for
from refinement.engine.steps import next_step
from refinement.engine.types import (
    AskPlateau,
    BoardVerdict,
    Budget,
    Compose,
    CriterionScore,
    CriterionStance,
    Deliberate,
    Describe,
    Escalate,
    Finish,
    History,
    Information,
    Judge,
    JudgeMode,
    Merge,
    OnPlateau,
    Outcome,
    Repair,
    Revise,
    Round,
    Rubric,
    Scale,
    Score,
    Stance,
    StopReason,
    Usage,
    Verdict,
)
from tests.engine.given import D, history, rounds, rubric, scored

KEYS = ("clarity", "completeness", "usefulness")
PANEL = tuple(PanelJudge(name, f"looks as {name}") for name in ("Ada", "Ben", "Cleo", "Dan", "Eve"))


def board_rubric(mode: JudgeMode = JudgeMode.BOARD, *, deliberation: bool = True, **policy: object) -> Rubric:
    return replace(rubric("simmer", **policy), judges=Judges(mode, deliberation=deliberation))


def answer(seat: int, *scores: int, asi: str = "", stances: tuple[CriterionStance, ...] | None = None):
    found = tuple(
        CriterionScore(key, D(score), f"{seat} on {key}", f"{seat} would")
        for key, score in zip(KEYS, scores, strict=True)
    )
    return BoardVerdict(seat, Verdict(found, issues=(f"issue {seat}", "shared"), asi=asi), stances=stances)


def unreadable(seat: int) -> BoardVerdict:
    return BoardVerdict(seat, None, problem="no scores")


def kept(*keys: str) -> tuple[CriterionStance, ...]:
    return tuple(CriterionStance(key, Stance.AGREE, D(5), "as before") for key in keys)


def given(*board: BoardVerdict, panel: int = 3, **entry: object) -> History:
    return History((Round(1, "text", board=board, **entry),), panel=PANEL[:panel])


@pytest.mark.parametrize(
    ("state", "step"),
    [
        (History((Round(1, "text"),)), Compose(1)),
        (given(), Score(1, (1, 2, 3))),
        (given(panel=5), Score(1, (1, 2, 3, 4, 5))),
        (given(answer(2, 5, 5, 5)), Score(1, (1, 3))),
        (given(answer(1, 5, 5, 5), unreadable(2), answer(3, 6, 6, 6)), Deliberate(1, (1, 3))),
        (
            given(answer(1, 5, 5, 5, stances=kept()), unreadable(2), answer(3, 6, 6, 6)),
            Deliberate(1, (3,)),
        ),
        (
            given(answer(1, 5, 5, 5, stances=kept()), unreadable(2), answer(3, 6, 6, 6, stances=())),
            Merge(1),
        ),
        (given(invalid=True), Repair(1)),
    ],
)
def test_the_next_step_asks_for_what_is_missing(state, step):
    assert next_step(board_rubric(), state) == step


def test_without_deliberation_the_board_merges_at_once():
    state = given(answer(1, 5, 5, 5), answer(2, 6, 6, 6), panel=2)
    assert next_step(board_rubric(deliberation=False), state) == Merge(1)


def test_from_round_two_on_the_clerk_names_the_change_while_it_merges():
    entry = Round(2, "text", board=(answer(1, 5, 5, 5, stances=()), answer(2, 6, 6, 6, stances=())))
    state = History((*rounds("5"), entry), panel=PANEL[:2])
    assert next_step(board_rubric(), state) == Merge(2, describes=True)
    named = History((*rounds("5"), replace(entry, key_change="a table")), panel=PANEL[:2])
    assert next_step(board_rubric(), named) == Merge(2, describes=False)
    by_hand = History((*rounds("5"), replace(entry, by_hand=True)), panel=PANEL[:2])
    assert next_step(board_rubric(), by_hand) == Merge(2, describes=False)


@pytest.mark.parametrize(
    ("judges", "needed"), [(2, 2), (3, 2), (4, 3), (5, 3)], ids=["two", "three", "four", "five"]
)
def test_a_quorum_is_a_majority_and_never_fewer_than_two(judges, needed):
    assert quorum(judges) == needed


def test_a_round_without_a_quorum_is_unscored_and_names_the_judges():
    step = next_step(board_rubric(), given(unreadable(1), answer(2, 5, 5, 5), unreadable(3)))
    assert isinstance(step, Finish)
    assert (step.outcome, step.reason) == (Outcome.ERROR, StopReason.JUDGE_FAILED)
    assert "1 of 3 judges returned valid scores. Ada and Cleo did not." in step.why
    alone = next_step(board_rubric(), given(unreadable(1), answer(2, 5, 5, 5), panel=2))
    assert "Ada did not." in alone.why


def test_a_round_of_five_with_two_unreadable_judges_still_counts():
    board = (unreadable(1), *(answer(seat, 5, 5, 5, stances=()) for seat in (2, 3, 4)), unreadable(5))
    assert next_step(board_rubric(), given(*board, panel=5)) == Merge(1)


def test_a_single_judge_is_asked_as_before_and_checks_alone_need_no_board():
    assert next_step(rubric("simmer"), History((Round(1, "text"),))) == Judge(1)
    checks_only = replace(rubric("ralph"), judges=Judges(JudgeMode.BOARD))
    assert next_step(checks_only, History((Round(1, "text"),))) == Judge(1)
    assert judge_mode(checks_only, 10) is JudgeMode.SINGLE


# --- scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "median"),
    [((4, 7), 4), ((4, 7, 9), 7), ((9, 1, 5, 6), 5), ((3, 3, 8, 9, 10), 8)],
)
def test_the_median_is_the_lower_one_of_two(scores, median):
    assert lower_median([D(score) for score in scores]) == median


def test_only_a_concession_changes_a_score():
    stances = (
        CriterionStance("clarity", Stance.CONCEDE, D(8), "Cleo is right about the table"),
        CriterionStance("completeness", Stance.CHALLENGE, D(9), "it is not there"),
        CriterionStance("usefulness", Stance.AGREE, D(9)),
    )
    conceding = answer(1, 4, 4, 4, stances=stances)
    assert [final_score(conceding, key) for key in KEYS] == [8, 4, 4]


def test_the_merged_verdict_has_medians_in_the_words_of_a_judge_who_gave_them():
    conceded = (CriterionStance("clarity", Stance.CONCEDE, D(6), "conceded"),)
    board = (
        answer(1, 3, 5, 7, asi="a", stances=conceded),
        answer(2, 7, 5, 8, asi="b", stances=()),
        unreadable(3),
        answer(4, 6, 9, 9, asi="c", stances=()),
    )
    merged = merged_verdict(board_rubric(), board, "one change")
    assert [entry.score for entry in merged.scores] == [6, 5, 8]
    assert [entry.reasoning for entry in merged.scores] == [
        "conceded",
        "1 on completeness",
        "2 on usefulness",
    ]
    assert merged.issues == ("issue 1", "shared", "issue 2", "issue 4")
    assert (merged.asi, merged.judge, merged.contract_violation) == ("one change", "board", "")
    assert spreads(board_rubric(), board) == {"clarity": 1, "completeness": 4, "usefulness": 2}
    assert spreads(board_rubric(), ()) == dict.fromkeys(KEYS, 0)


def test_the_contract_is_violated_if_most_judges_say_so():
    violated = [
        replace(found, verdict=replace(found.verdict, contract_violation=f"no JSON, says {found.seat}"))
        for found in (answer(1, 1, 1, 1), answer(2, 1, 1, 1))
    ]
    of = board_rubric()
    assert merged_verdict(of, [*violated, answer(3, 5, 5, 5)], "").contract_violation == "no JSON, says 1"
    assert merged_verdict(of, [violated[0], answer(3, 5, 5, 5)], "").contract_violation == ""


def test_dissent_is_two_points_of_ten_on_every_scale():
    assert is_dissent(rubric("simmer"), D(2))
    assert not is_dissent(rubric("simmer"), D(1))
    assert is_dissent(rubric("wiggum"), D("2.0"))
    assert not is_dissent(rubric("wiggum"), D("1.9"))
    assert is_dissent(rubric("ralph"), D("0.2"))
    assert not is_dissent(rubric("ralph"), D("0.19"))


@pytest.mark.parametrize(("maximum", "limit"), [(5, 2), (10, 2), (100, 20)])
def test_on_a_scale_of_whole_points_dissent_is_at_least_two_points(maximum, limit):
    of = replace(rubric("simmer"), scale=Scale(D(0), D(maximum), D(1)))
    assert is_dissent(of, D(limit))
    assert not is_dissent(of, D(limit - 1))


def test_the_spokesperson_is_the_judge_closest_to_the_medians():
    board = (answer(1, 2, 2, 2), answer(2, 9, 9, 9), unreadable(3), answer(4, 6, 6, 6))
    assert spokesperson(board_rubric(), board).seat == 4


# --- who judges ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "criteria", "command", "chars", "expected"),
    [
        (JudgeMode.SINGLE, 3, False, 9_999, JudgeMode.SINGLE),
        (JudgeMode.BOARD, 2, False, 10, JudgeMode.BOARD),
        (JudgeMode.AUTO, 2, False, 2_000, JudgeMode.SINGLE),
        (JudgeMode.AUTO, 2, False, 2_001, JudgeMode.BOARD),
        (JudgeMode.AUTO, 2, False, None, JudgeMode.BOARD),
        (JudgeMode.AUTO, 3, False, 10, JudgeMode.BOARD),
        (JudgeMode.AUTO, 2, True, 10, JudgeMode.BOARD),
    ],
)
def test_auto_is_a_single_judge_for_short_and_simple_work(mode, criteria, command, chars, expected):
    of = board_rubric(mode)
    of = replace(of, criteria=of.criteria[-criteria:])
    if command:
        of = replace(of, evaluation_mode="hybrid", evaluator=replace(of.evaluator, command=("pytest",)))
    assert judge_mode(of, chars) is expected


@pytest.mark.parametrize(
    ("mode", "on_plateau", "expected"),
    [
        (JudgeMode.SINGLE, OnPlateau.STOP, False),
        (JudgeMode.SINGLE, OnPlateau.ASK, True),
        (JudgeMode.SINGLE, OnPlateau.BOARD, True),
        (JudgeMode.BOARD, OnPlateau.STOP, True),
        (JudgeMode.AUTO, OnPlateau.STOP, True),
    ],
)
def test_a_board_may_judge_from_the_start_or_after_a_plateau(mode, on_plateau, expected):
    of = board_rubric(mode, on_plateau=on_plateau)
    assert may_have_board(of) is expected
    checks_only = replace(rubric("ralph", on_plateau=on_plateau), judges=Judges(mode))
    assert not may_have_board(checks_only)


def test_the_clerk_names_changes_where_somebody_reads_them():
    plain = rubric("simmer")
    assert not names_changes(plain, History(), 2)
    assert names_changes(replace(plain, judges=Judges(clerk="local/m")), History(), 2)
    seen = replace(plain.context, judge=plain.context.judge | {Information.HISTORY})
    assert names_changes(replace(plain, context=seen), History(), 2)
    assert names_changes(board_rubric(), History(), 2)
    assert names_changes(plain, History(escalated_after=4), 5)
    assert not names_changes(plain, History(escalated_after=4), 4)
    assert not names_changes(replace(rubric("ralph"), judges=Judges(clerk="local/m")), History(), 2)


def test_a_judged_round_is_described_before_the_next_step():
    of = replace(rubric("simmer"), judges=Judges(clerk="local/m"))
    assert next_step(of, history("5", "6")) == Describe(2)
    assert isinstance(next_step(of, history("5")), Revise)
    described = history("5", "6")
    described = replace(
        described, rounds=(described.rounds[0], replace(described.rounds[1], key_change="a table"))
    )
    assert isinstance(next_step(of, described), Revise)


def test_a_spent_budget_leaves_a_change_unnamed():
    of = replace(rubric("simmer", budget=Budget(calls=4)), judges=Judges(clerk="local/m"))
    step = next_step(of, history("5", "6", usage=Usage(calls=4)))
    assert isinstance(step, Finish)
    assert step.reason is StopReason.BUDGET_CALLS


# --- on a plateau --------------------------------------------------------------------------------

FLAT = ("6", "5", "6", "5")


def test_a_plateau_brings_in_a_board_for_two_more_rounds():
    of = rubric("simmer")
    assert next_step(of, history(*FLAT)) == Escalate(4)
    escalated = replace(history(*FLAT), escalated_after=4)
    step = next_step(of, escalated)
    assert isinstance(step, Revise)
    assert (step.round, step.base_round) == (5, 1)
    assert has_board(of, escalated, 5)
    assert not has_board(of, escalated, 4)
    assert next_step(of, replace(escalated, rounds=(*escalated.rounds, Round(5, "new")))) == Compose(5)
    more = (*escalated.rounds, *(Round(n, f"c{n}", scored("4"), key_change="x") for n in (5, 6)))
    assert isinstance(next_step(of, replace(escalated, rounds=more[:5])), Revise)
    end = next_step(of, replace(escalated, rounds=more))
    assert isinstance(end, Finish)
    assert (end.reason, end.best_round) == (StopReason.MAX_ROUNDS, 1)
    assert "reached the 6-round limit" in end.why


def test_rounds_added_later_count_from_the_policy_again():
    of = rubric("simmer", max_rounds=8)
    state = History(
        (*rounds(*FLAT), *(Round(n, f"c{n}", scored("4"), key_change="x") for n in (5, 6))),
        escalated_after=4,
        extended_after=6,
        panel=PANEL[:2],
    )
    assert isinstance(next_step(of, state), Revise)


@pytest.mark.parametrize(
    ("choice", "mode", "expected"),
    [
        (OnPlateau.STOP, JudgeMode.SINGLE, Finish),
        (OnPlateau.BOARD, JudgeMode.BOARD, Finish),
        (OnPlateau.ASK, JudgeMode.SINGLE, AskPlateau),
        (OnPlateau.ASK, JudgeMode.BOARD, AskPlateau),
    ],
)
def test_a_plateau_stops_asks_or_escalates(choice, mode, expected):
    of = board_rubric(mode, on_plateau=choice)
    named = tuple(replace(entry, key_change="x") for entry in rounds(*FLAT))
    assert isinstance(next_step(of, History(named)), expected)


def test_a_person_who_was_asked_can_stop_the_run():
    of = rubric("simmer", on_plateau=OnPlateau.ASK)
    step = next_step(of, replace(history(*FLAT), plateau_accepted=True))
    assert isinstance(step, Finish)
    assert step.reason is StopReason.PLATEAU


def test_checks_alone_cannot_be_escalated():
    of = rubric(
        "ralph",
        on_plateau=OnPlateau.BOARD,
        stop_rules=(StopReason.PLATEAU,),
        max_rounds=9,
        perfect_score=None,
    )
    state = History(tuple(Round(n, "c", replace(scored("0.5"), scores={})) for n in range(1, 5)))
    assert isinstance(next_step(of, state), Finish)


# --- panels --------------------------------------------------------------------------------------


def test_every_artifact_type_has_a_panel_of_three_different_judges():
    for panel in PANELS.values():
        assert len({judge.name for judge in panel}) == 3
    assert panel_for("a letter to the editor") == PANELS["document"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"panel": PANEL[:1]}, "2 to 5 judges"),
        ({"panel": (*PANEL, PanelJudge("Fay", "x"))}, "2 to 5 judges"),
        ({"panel": (PANEL[0], PanelJudge("ada ", "x"))}, "same name"),
        ({"clerk": "model-without-endpoint"}, "ENDPOINT/MODEL"),
    ],
)
def test_an_impossible_panel_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        Judges(JudgeMode.BOARD, **values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": " "}, "name and a lens"),
        ({"lens": ""}, "name and a lens"),
        ({"name": "n" * 61}, "at most 60"),
        ({"lens": "n" * 601}, "at most 600"),
        ({"model": "/x"}, "ENDPOINT/MODEL"),
        ({"model": "x/" + "y" * 300}, "at most 300"),
    ],
)
def test_an_impossible_judge_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        PanelJudge(**{"name": "Ada", "lens": "x", **values})


def test_a_concession_without_words_keeps_the_first_reasoning():
    silent = (CriterionStance("clarity", Stance.CONCEDE, Decimal(6)),)
    board = (answer(1, 3, 5, 7, stances=silent), answer(2, 7, 5, 8))
    assert merged_verdict(board_rubric(), board, "").scores[0].reasoning == "1 on clarity"
