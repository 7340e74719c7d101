"""Figures of a board on the test bench: medians, and the distance between its judges."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.models import Bench, BenchTrial
from refinement.selectors.rubrics.bench_boards import board_report, merged_trials, report_for
from refinement.selectors.rubrics.bench_report import what_differs
from refinement.selectors.rubrics.bench_words import finding_of, people_sentences

BASE = rubric_for("wiggum")
ONE = replace(BASE, criteria=BASE.criteria[:1])
KEY = ONE.criteria[0].key
NOW = timezone.now()


def bench_of(judges: int, repeats: int) -> Bench:
    panel = [
        {"name": f"Judge {seat}", "lens": "A lens.", "endpoint": "ollama", "model": f"m{seat}"}
        for seat in range(1, judges + 1)
    ]
    return Bench(panel=panel, repeats=repeats, temperature=Decimal(0), endpoint="ollama", model="m")


def trial(number: int, seat: int, score: str | None, *, ended: bool = True) -> BenchTrial:
    at = NOW if ended else None
    if score is None:
        return BenchTrial(number=number, seat=seat, status="failed", error="No reply.", finished_at=at)
    said = [{"key": KEY, "score": score}]
    values = {"said": said, "scores": {KEY: score}, "composite": Decimal(score), "finished_at": at}
    return BenchTrial(number=number, seat=seat, status="done", **values)


def judged(*repeats: list[str | None]) -> tuple[Bench, list[BenchTrial]]:
    """A board's test; each list has one score for each judge."""
    bench = bench_of(len(repeats[0]), len(repeats))
    trials = [
        trial(number, seat, score)
        for number, scores in enumerate(repeats, start=1)
        for seat, score in enumerate(scores, start=1)
    ]
    return bench, trials


@pytest.mark.parametrize(
    ("scores", "median"),
    [
        (["6", "9"], "6"),  # the lower one of two
        (["6", "9", "7"], "7"),
        (["5", "9", "7", "6"], "6"),
        (["6", None, "8"], "6"),  # two of three are a quorum
        (["6", None, None], None),
        (["6", None], None),
        (["5", "6", "7", None, None], "6"),
        (["5", "6", None, None, None], None),
    ],
)
def test_a_repeat_counts_with_a_quorum(scores, median):
    bench, trials = judged(scores)
    (found,) = report_for(ONE, bench, trials, {}).lines[0].values
    assert found == (None if median is None else Decimal(median))


def test_a_repeat_counts_when_all_its_judges_have_answered():
    bench, trials = judged(["6", "7"], ["8", "9"])
    trials[-1] = BenchTrial(number=2, seat=2, status="running")
    merged = merged_trials(bench, ONE, trials)
    assert [entry.finished_at is not None for entry in merged] == [True, False]
    assert report_for(ONE, bench, trials, {}).done == 1


def test_spreads_between_repeats_and_between_judges():
    bench, trials = judged(["6", "8", "7"], ["6", "9", "8"])
    report = report_for(ONE, bench, trials, {KEY: "6"})
    board = board_report(bench, ONE, trials, report, {KEY: "6"})
    (line, total) = board.lines
    assert line.board.values == (7, 8)
    assert [own.spread.mean for own in line.judges] == [6, Decimal("8.5"), Decimal("7.5")]
    assert line.judges[0].spread.deviation == 0
    assert line.apart == Decimal("2.5")  # 2 and 3
    assert line.is_dissent
    assert total.apart == Decimal("2.5")
    assert [judge.report.apart for judge in board.judges] == [0, Decimal("2.5"), Decimal("1.5")]
    assert [judge.model for judge in board.judges] == ["ollama/m1", "ollama/m2", "ollama/m3"]
    assert people_sentences(report)[0] == "On average the board differs from people by 1.5."


def test_judges_that_agree_are_no_dissent():
    bench, trials = judged(["6", "7"], [None, "7"])
    board = board_report(bench, ONE, trials, report_for(ONE, bench, trials, {}), {})
    assert (board.lines[0].apart, board.lines[0].is_dissent) == (1, False)


def test_the_finding_is_about_the_board():
    bench, trials = judged(["6", "7"], ["6", "8"], ["6", "9"])
    found = finding_of(bench, report_for(ONE, bench, trials, {}))
    assert found.sentences[0].startswith("Every repeat gave the same composite")


def test_what_differs_between_boards():
    board, other, single = bench_of(3, 1), bench_of(3, 1), bench_of(0, 1)
    for bench in (board, other, single):
        bench.rubric_version_id = 1
    assert what_differs(board, other) == []
    assert what_differs(single, board) == ["the judge m and a board of 3"]
    other.panel = [*other.panel[:2], {**other.panel[2], "model": "x"}]
    assert what_differs(board, other) == ["the judges of the board"]
