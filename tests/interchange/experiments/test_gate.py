"""The gate, and the files with its result."""

from xml.etree import ElementTree as ET

import pytest

from refinement.interchange.experiments.against import against_other, compared_with
from refinement.interchange.experiments.gate import Conditions, conditions_from, gate_of
from refinement.interchange.experiments.judges import judged_by
from refinement.interchange.experiments.junit import results_junit
from refinement.interchange.experiments.rows import COLUMNS, cells_csv
from refinement.interchange.experiments.summary import results_markdown, signed


def interval(value: float) -> dict:
    return {"value": value, "low": value - 0.2, "high": value + 0.2}


def configuration(letter: str, composite: float | None, verdict: str = "", difference: float = 0.0) -> dict:
    against = {**interval(difference), "difference": difference, "verdict": verdict, "tasks": 40}
    figure = None if composite is None else interval(composite)
    return {
        "id": ord(letter), "letter": letter, "name": f"*{letter}*", "baseline": not verdict, "runs": 40,
        "scored": 0 if composite is None else 40, "errors": 0, "composite": figure, "mean_r1": figure,
        "criteria_rate": None, "pass_rate": None, "against_baseline": against if verdict else None,
    }  # fmt: skip


def report(*configurations: dict) -> dict:
    cells = [
        {
            "task": f"task|{at}", "position": at, "configuration": ord("B"), "value": 5.0,
            "difference": difference, "spread_is_noise": at == 2, "state": "done",
        }
        for at, difference in enumerate((-0.5, -2.0, None, 0.3), 1)
    ]  # fmt: skip
    return {
        "experiment": 7, "name": "Nightly", "suite": "how-to", "tasks": 4, "repeats": 1,
        "configurations": list(configurations), "task_types": [], "cells": cells, "headline": "B is worse.",
    }  # fmt: skip


A, WORSE, BETTER = (
    configuration("A", 7.0),
    configuration("B", 6.0, "worse", -1.0),
    configuration("C", 8, "better", 1),
)
OTHER_JUDGE = configuration("E", 9, "not_comparable")
FAILED = configuration("D", None, "not_enough")


@pytest.mark.parametrize(
    ("entries", "fail_on", "failed"),
    [
        ([A, WORSE, BETTER], [], []),
        ([A, WORSE, BETTER], ["worse"], ["*B*"]),
        ([A, BETTER], ["worse"], []),
        ([A, WORSE, BETTER], ["below=7.5"], ["*A*", "*B*"]),
        ([A, WORSE], ["worse", "below=6.5"], ["*B*"]),
        ([A, FAILED], [], ["*D*"]),
        ([A, OTHER_JUDGE], [], []),
        ([A, OTHER_JUDGE], ["worse"], ["*E*"]),  # nobody knows, so it does not pass
    ],
)
def test_the_gate_fails_for_these(entries, fail_on, failed):
    gate = gate_of(entries, conditions_from(fail_on))
    assert (gate["failed"], gate["passed"], gate["fail_on"]) == (failed, not failed, fail_on)


def test_reasons_have_the_figures():
    gate = gate_of([A, WORSE], Conditions(worse=True, below=6.5), note="Compared with experiment 3.")
    assert gate["reasons"] == [
        "*B* is worse than the baseline by 1.00 (0.80 to 1.20).",
        "*B* has a composite of 6.00, below 6.5.",
        "Compared with experiment 3.",
    ]


@pytest.mark.parametrize("text", ["better", "below", "below=", "below=x", "below=11", "below=nan"])
def test_an_unknown_condition(text):
    with pytest.raises(ValueError, match="--fail-on"):
        conditions_from([text])


def test_junit_fails_where_the_gate_does():
    root = ET.fromstring(results_junit(report(A, WORSE, FAILED), Conditions(worse=True)).split("\n", 1)[1])
    suite = root[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["*B*"]
    assert "task|2: -2.00 to 5.00" in suite[1].findtext("system-out")


def test_the_summary_has_the_table_and_the_worst_regressions_first():
    gate = gate_of([A, WORSE], Conditions(worse=True))
    text = results_markdown(
        report(A, WORSE), gate=gate, address="https://wiggum.example.org/p/a/experiments/7/"
    )
    assert text.startswith("# [how-to: Nightly](https://wiggum.example.org/p/a/experiments/7/)")
    assert "**❌ Failed.**" in text
    assert r"\*B\*" in text
    assert "❌ worse: -1.00 (-1.20 to -0.80)" in text
    first, second = (line for line in text.splitlines() if line.startswith(r"| task\|"))
    assert first.startswith(r"| task\|2 ")
    assert "/experiments/7/tasks/2/" in first
    assert "within noise" in first
    assert "within noise" not in second


def test_with_another_experiment_as_the_baseline():
    pair = {
        "configuration": {"id": ord("B")},
        "against_baseline": BETTER["against_baseline"],
        "regressions": [{"task": "task|4", "difference": -0.1}],
    }
    found = against_other(report(A, WORSE), {"pairs": [pair], "headline": "B is better than before."})
    assert [entry["against_baseline"] for entry in found["configurations"]] == [
        None,
        BETTER["against_baseline"],
    ]
    assert [cell["difference"] for cell in found["cells"]] == [None, None, None, -0.1]
    assert found["headline"] == "B is better than before."
    assert compared_with(found, 3) == (
        "Compared with experiment 3. Not compared, because they have no counterpart there: *A*."
    )


def test_cells_of_a_spreadsheet_are_no_formulas():
    row = dict.fromkeys(COLUMNS) | {"task": "=1+1", "passed": True, "composite": 7.1234567}
    text = "".join(cells_csv([row]))
    assert text.splitlines()[1].startswith("'=1+1,")
    assert ",7.123457,true," in text


@pytest.mark.parametrize(("value", "text"), [(-0.001, "+0.00"), (-1.126, "-1.13"), (0.4, "+0.40")])
def test_a_difference_of_nothing_is_not_negative(value, text):
    assert signed(value) == text


@pytest.mark.parametrize("proven", [True, None])
def test_a_proven_judge_or_no_rule_passes_the_gate(proven):
    gate = gate_of([{**A, "judge_proven": proven, "unproven_reason": ""}], Conditions())
    assert gate["passed"]


def test_an_unproven_judge_fails_the_gate():
    gate = gate_of([{**A, "judge_proven": False, "unproven_reason": "12 of 100 labels"}], Conditions())
    assert (gate["passed"], gate["failed"]) == (False, ["*A*"])
    assert gate["reasons"] == ["*A* has an unproven judge: 12 of 100 labels."]


UNPROVEN = {**WORSE, "judge_proven": False, "unproven_reason": "12 of 100 labels"}


def test_an_unproven_judge_fails_its_test_case():
    root = ET.fromstring(results_junit(report(A, UNPROVEN), Conditions()).split("\n", 1)[1])
    assert [case.get("name") for case in root[0] if case.find("failure") is not None] == ["*B*"]
    assert root[0][1].find("failure").get("message") == "*B* has an unproven judge: 12 of 100 labels."


def test_the_summary_marks_an_unproven_judge_with_a_gate_and_without():
    gated = results_markdown(report(A, UNPROVEN), gate=gate_of([A, UNPROVEN], Conditions()))
    assert gated.count("12 of 100 labels") == 1
    alone = results_markdown(report(A, UNPROVEN))
    assert r"**Unproven judge.** \*B\*: 12 of 100 labels." in alone
    for text in (gated, alone):
        assert r"\*B\* (unproven judge)" in text
    assert "nproven" not in results_markdown(report(A, WORSE))


SMALL, LARGE = (
    {"name": f"{name}:8b", "kappa": kappa, "labels": 40} for name, kappa in (("a", 0.5), ("b", None))
)


@pytest.mark.parametrize(
    ("judges", "known", "words"),
    [
        (["", ""], [], ""),
        (["b:8b"] * 2, [LARGE], "Scores are judge b:8b's opinion; not compared with people."),
        (
            ["a:8b"] * 2,
            [SMALL],
            "Scores are judge a:8b's opinion. Its agreement with people is κ 0.50, over 40 labeled texts.",
        ),
        (
            ["a:8b", "b:8b"],
            [SMALL, LARGE],
            "Scores are the opinions of a:8b and b:8b. Agreement with people: a:8b κ 0.50, over 40 labeled "
            "texts. Not compared with people: b:8b.",
        ),
    ],
)
def test_judges_are_named_with_their_agreement(judges, known, words):
    entries = [{**entry, "judge": judge} for entry, judge in zip((A, WORSE), judges, strict=True)]
    found = {**report(*entries), "judges": known}
    assert judged_by(found) == words
    assert words in results_markdown(found)
