"""How closely each judge of a board agrees with people."""

import json
from decimal import Decimal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.engine.types import BoardVerdict, CriterionScore, CriterionStance, Stance, Verdict
from refinement.selectors.reviews.board_agreement import SeatAnswer, lines_of
from refinement.selectors.reviews.given import PersonScores

RUBRIC = rubric_for("wiggum")


def said(number: int, score: str, judged: str = "7", author: int = 1) -> PersonScores:
    """A person's score of a round for depth; the board's was `judged`."""
    scores = json.dumps([{"key": "depth", "score": score, "reason": ""}])
    counted = json.dumps({"depth": judged})
    return PersonScores(author, number, Decimal(judged), counted, Decimal(score), scores)


def answered(number: int, seat: int, score: str | None, revised: str = "") -> SeatAnswer:
    if score is None:
        return SeatAnswer(number, f"Judge {seat}", BoardVerdict(seat, None, "Not readable."))
    stances = (CriterionStance("depth", Stance.CONCEDE, Decimal(revised)),) if revised else ()
    verdict = Verdict((CriterionScore("depth", Decimal(score)),))
    return SeatAnswer(number, f"Judge {seat}", BoardVerdict(seat, verdict, "", stances))


def board(*rounds: list[str | None]) -> list[SeatAnswer]:
    return [
        answered(number, seat, score)
        for number, scores in enumerate(rounds, start=1)
        for seat, score in enumerate(scores, start=1)
    ]


PEOPLE = [said(1, "7"), said(2, "8", "8"), said(3, "6", "8")]


def figures(lines) -> dict[str, tuple[str, str, str, int]]:
    return {line.name: (line.apart, line.bias, line.near, line.scores) for line in lines}


def test_each_judge_and_the_board_are_compared():
    answers = board(["7", "9"], ["8", "9.5"], ["6", "8.5"])
    assert figures(lines_of(RUBRIC, PEOPLE, answers)) == {
        "Judge 1": ("0.00", "0.00", "100 %", 3),
        "Judge 2": ("2.00", "+2.00", "0 %", 3),
        "Board": ("0.67", "+0.67", "67 %", 3),
    }


def test_the_score_after_the_deliberation_counts():
    answers = [answered(n, 1, "2", revised) for n, revised in ((1, "7"), (2, "8"), (3, "5"))]
    assert figures(lines_of(RUBRIC, PEOPLE, answers))["Judge 1"] == ("0.33", "−0.33", "100 %", 3)


def test_a_judge_that_could_not_be_read_counts_only_where_it_could():
    lines = lines_of(RUBRIC, PEOPLE, board(["7", None], ["8", "8"], ["6", None]))
    assert [(line.name, line.rounds, line.scores) for line in lines] == [
        ("Judge 1", 3, 3),
        ("Judge 2", 1, 1),
        ("Board", 3, 3),
    ]
    never = lines_of(RUBRIC, PEOPLE, board(["7", None], ["8", None], ["6", None]))
    assert [line.name for line in never] == ["Judge 1", "Board"]


@pytest.mark.parametrize("answers", [[], board(["7", "7"], ["8", "8"])])
def test_too_few_rounds_of_the_board_say_nothing(answers):
    assert lines_of(RUBRIC, PEOPLE, answers) == ()


def test_rounds_of_a_single_judge_are_left_out():
    escalated = [answered(number, 1, "7") for number in (4, 5, 6)]
    people = [*PEOPLE, *(said(number, "7") for number in (4, 5, 6))]
    assert [line.rounds for line in lines_of(RUBRIC, people, escalated)] == [3, 3]


def test_several_people_count_each():
    people = [*PEOPLE, *(said(number, "7", author=2) for number in (1, 2, 3))]
    assert lines_of(RUBRIC, people, board(["7"], ["8"], ["6"]))[0].scores == 6
