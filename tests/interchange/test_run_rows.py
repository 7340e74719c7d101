"""Many runs as a table and as lines."""

import csv
import io
import json
from decimal import Decimal

import pytest

from refinement.interchange.exports.rows import (
    RoundSummary,
    RunSummary,
    cell,
    is_formula,
    runs_csv,
    runs_jsonl,
)

COLUMNS = ("run", "title", "improvement", "finished_at")


def summary(title="Backups", tags=(), outcome="PASS", best=Decimal("8.55")):
    scores = [
        {"depth": Decimal(7), "grounded": Decimal("6.5")},
        {"depth": Decimal(8), "grounded": Decimal(8)},
    ]
    return RunSummary(
        facts={"run": 12, "title": title, "improvement": Decimal("-0.500000"), "finished_at": None},
        rounds=[
            RoundSummary(1, Decimal("7.150000"), scores[0], ["No restore."]),
            RoundSummary(2, Decimal("8.550000"), scores[1], []),
        ],
        tags=tags,
        best=best,
        outcome=outcome,
        task="Explain our backups.\nFor everyone.",
    )


def read(runs):
    return list(csv.DictReader(io.StringIO("".join(runs_csv(COLUMNS, runs)), newline="")))


@pytest.mark.parametrize(
    "text",
    [
        "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", " =1", "\u00a0=1", "＝1+1", "＠x", "－2",
        "＋2",
        '=HYPERLINK("http://example.org","x")', "-2+3+cmd|' /C calc'!A0", "@", "=",
    ],
)  # fmt: skip
def test_a_formula_becomes_a_text(text):
    assert cell(text) == f"'{text}"
    (row,) = read([summary(title=text, tags=[text])])
    assert row["title"] == f"'{text}"
    assert row["tags"] == f"'{text}"


@pytest.mark.parametrize("text", ["", "Backups", "a=b", "1-2", "<b>", "\u202eabc", "😀", "'quoted'", '"'])
def test_other_texts_stay_as_they_are(text):
    assert not is_formula(text)
    assert read([summary(title=text)])[0]["title"] == text


def test_numbers_stay_numbers():
    (row,) = read([summary()])
    assert row == {
        "run": "12", "title": "Backups", "improvement": "-0.5", "finished_at": "",
        "trajectory": "7.15 8.55", "tags": "", "metrics": "", "contract_violations": "0",
        "board_rounds": "0", "key_changes": "",
    }  # fmt: skip


def test_breaks_and_quotes_stay_in_their_cell():
    rows = read([summary(title='one\r\ntwo, "three"'), summary(title="next")])
    assert [row["title"] for row in rows] == ['one\r\ntwo, "three"', "next"]


def test_a_line_has_the_scores_by_round_and_what_it_came_to():
    (line,) = runs_jsonl([summary(tags=["docs"])])
    assert json.loads(line) == {
        "run": 12,
        "title": "Backups",
        "improvement": -0.5,
        "finished_at": None,
        "task": "Explain our backups.\nFor everyone.",
        "tags": ["docs"],
        "wiggum_scores": {"r1": {"depth": 7, "grounded": 6.5}, "r2": {"depth": 8, "grounded": 8}},
        "wiggum_composites": {"r1": 7.15, "r2": 8.55},
        "wiggum_issues": {"r1": ["No restore."], "r2": []},
        "wiggum_metrics": {},
        "wiggum_contract_violations": {},
        "wiggum_key_changes": {},
        "wiggum_judges": {},
        "wiggum_spread": {},
        "wiggum_rounds": 2,
        "final_score": 8.55,
        "final": "PASS",
    }
    assert '"depth": 7,' in line


@pytest.mark.parametrize("text", ["one\ntwo", "a\u2028b\u2029c\x85d", "\\", '"', "😀\u202e", "\x01"])
def test_whatever_a_text_holds_a_run_is_one_line(text):
    lines = "".join(runs_jsonl([summary(title=text), summary()])).splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0])["title"] == text


def test_a_run_without_a_score_says_so():
    run = RunSummary({"run": 1}, [], [], best=None, outcome="")
    found = json.loads(next(runs_jsonl([run])))
    assert (found["wiggum_scores"], found["wiggum_rounds"], found["final_score"]) == ({}, 0, None)


def test_runs_are_read_only_as_they_are_written():
    taken = []

    def runs():
        for number in range(3):
            taken.append(number)
            yield summary()

    lines = runs_csv(COLUMNS, runs())
    next(lines)
    assert taken == []
    next(lines)
    assert taken == [0]
