"""Two definitions side by side, and two texts word by word."""

import time
from dataclasses import fields, replace
from decimal import Decimal

import pytest

from refinement.diffing.passages import word_diff
from refinement.engine.kinds import JudgeMode, OnPlateau
from refinement.engine.panels import PANELS, Judges
from refinement.engine.profiles import default_rubrics, rubric_for
from refinement.engine.rubrics import Gate
from refinement.engine.types import (
    Budget,
    Check,
    Criterion,
    EvaluationMode,
    Evaluator,
    Metric,
    Policy,
    ProblemClass,
    Rubric,
    Scale,
)
from refinement.selectors.rubrics.comparisons import definitions_compared

BASE = rubric_for("wiggum")
POLICY_CHANGES = {
    "max_rounds": 7,
    "stop_rules": BASE.policy.stop_rules[::-1],
    "composite": rubric_for("simmer").policy.composite,
    "next_base": rubric_for("simmer").policy.next_base,
    "feedback": rubric_for("simmer").policy.feedback,
    "pass_threshold": None,
    "perfect_score": Decimal(10),
    "minimum_gain": Decimal("0.1"),
    "plateau_rounds": 5,
    "plateau_window": 2,
    "on_plateau": OnPlateau.ASK,
    "checks_in_composite": True,
    "primary_first": True,
    "penalties": replace(BASE.policy.penalties, points=Decimal(2)),
    "budget": Budget(tokens=1),
    "judge_limit_chars": 1,
    "source_limit_chars": 1,
    "producer_tokens": 1,
    "producer_temperature": Decimal(1),
    "composite_decimals": 1,
}
CHANGES = {
    "name": "Other",
    "profile": "simmer",
    "scale": Scale(Decimal(0), Decimal(10), Decimal(1)),
    "policy": replace(BASE.policy, max_rounds=4),
    "context": replace(BASE.context, judge=frozenset()),
    "criteria": BASE.criteria[::-1],
    "checks": (Check("c", "is-json"),),
    "problem_class": ProblemClass.CODE,
    "evaluation_mode": EvaluationMode.HYBRID,
    "evaluator": Evaluator(("pytest", "{file}")),
    "purpose": "Other.",
    "artifact_type": "code",
    "background": "Some.",
    "output_contract": "Some.",
    "output_schema": {"type": "object"},
    "output_pattern": "^# ",
    "search_space": "Some.",
    "templates": {"judge": "Own."},
    "judges": Judges(JudgeMode.BOARD),
    "gates": (Gate((BASE.criteria[0].key,)),),
}


@pytest.mark.parametrize("slug", default_rubrics())
def test_a_definition_equals_itself(slug):
    assert definitions_compared(default_rubrics()[slug], default_rubrics()[slug]).changed == ()


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_a_change_of_any_policy_field_is_seen(name):
    other = replace(BASE, policy=replace(BASE.policy, **{name: POLICY_CHANGES[name]}))
    assert len(definitions_compared(BASE, other).changed) == 1


@pytest.mark.parametrize(
    "name", [field.name for field in fields(Rubric) if not field.name.startswith("calibration")]
)
def test_a_change_of_any_field_is_seen(name):
    assert definitions_compared(BASE, replace(BASE, **{name: CHANGES[name]})).changed


@pytest.mark.parametrize(
    ("change", "label", "value"),
    [
        ({"repeat": 5}, "Evaluator runs per round", "5"),
        (
            {"validation": ("python3", "-m", "py_compile", "{file}")},
            "Validation command",
            "python3 -m py_compile {file}",
        ),
        ({"failure_patterns": ("a", "b")}, "Failure patterns", "a\nb"),
        (
            {"metrics": (Metric("loss", pattern="l=(.)", lower_is_better=True), Metric("f", pointer="/f"))},
            "Metrics",
            "loss: pattern l=(.), lower is better\nf: pointer /f",
        ),
    ],
)
def test_a_change_of_what_is_read_from_the_output_is_seen(change, label, value):
    other = replace(BASE, evaluator=replace(BASE.evaluator, **change))
    (changed,) = definitions_compared(BASE, other).changed
    assert (changed.label, changed.after) == (label, value)


def test_a_change_of_the_calibration_example_is_seen():
    seeded = replace(BASE, calibration_text="Text.", calibration_scores={"depth": Decimal(7)})
    labels = [entry.label for entry in definitions_compared(BASE, seeded).changed]
    assert labels == ["Text", "Score of depth"]


@pytest.mark.parametrize(
    "change", [{"name": "x"}, {"description": "x"}, {"ideal": "x"}, {"weight": Decimal(3)}, {"primary": True}]
)
def test_criteria_are_matched_by_key(change):
    criteria = (replace(BASE.criteria[0], **change), *BASE.criteria[1:])
    [entry] = definitions_compared(BASE, replace(BASE, criteria=criteria)).changed
    assert entry.label.startswith("depth · ")


def test_a_criterion_that_went_and_one_that_came():
    criteria = (*BASE.criteria[:-1], Criterion("brevity", "Brevity"))
    changed = definitions_compared(BASE, replace(BASE, criteria=criteria)).changed
    sides = {entry.label: (entry.before, entry.after) for entry in changed}
    assert sides["brevity"] == (None, "Name: Brevity\nWeight: 1\nPrimary: no")
    assert sides["structure"][0].startswith("Name: Structure\nWeight: 0.1\nPrimary: no\nDescription: Whether")
    assert sides["structure"][1] is None
    assert set(sides) == {"Order", "brevity", "structure"}


def joined(segments):
    return "".join(segment.text for segment in segments)


@pytest.mark.parametrize(
    ("before", "after", "removed", "added"),
    [
        ("one two three", "one three", ["two "], []),
        ("one three", "one two three", [], ["two "]),
        ("a text b", "a text c", ["b"], ["c"]),
        ("same", "same", [], []),
        ("weight 0.25 of all", "weight 0.3 of all", ["0.25"], ["0.3"]),
        ("start old words end", "start new things end", ["old words"], ["new things"]),
        (
            "nothing at all alike here",
            "quite at odds with it",
            ["nothing at all alike here"],
            ["quite at odds with it"],
        ),
        ("a\nb", "a\n\nb", ["\n"], ["\n\n"]),
        ("x" * 9, "y" * 9, ["x" * 9], ["y" * 9]),
    ],
)
def test_words_that_differ_are_marked(before, after, removed, added):
    diff = word_diff(before, after)
    assert [part.text for part in diff.before if part.kind == "changed"] == removed
    assert [part.text for part in diff.after if part.kind == "changed"] == added
    assert (joined(diff.before), joined(diff.after)) == (before, after)


def test_the_middle_of_a_long_unchanged_passage_is_left_out():
    same = "word " * 1_000
    diff = word_diff(f"old {same} end", f"new {same} end.")
    assert [part.kind for part in diff.after] == ["changed", "same", "left_out", "same", "changed"]
    assert "characters unchanged" in diff.after[2].text
    assert len(joined(diff.after)) < 600


@pytest.mark.parametrize("piece", ["word{} ", "line {}\n", "x{}"])
def test_a_megabyte_on_each_side_takes_no_great_time_or_memory(piece):
    before = "".join(piece.format(number) for number in range(120_000))
    after = "".join(piece.format(number * 7) for number in range(120_000))
    started = time.process_time()
    diff = word_diff(before, after)
    assert time.process_time() - started < 5
    assert joined(part for part in diff.before if part.kind == "changed")


def judged_by(judges: Judges) -> Rubric:
    return replace(BASE, judges=judges)


@pytest.mark.parametrize(
    ("judges", "label", "before", "after"),
    [
        (Judges(JudgeMode.BOARD), "Judges", "Single judge", "Board"),
        (Judges(JudgeMode.AUTO), "Judges", "Single judge", "Automatic"),
        (Judges(deliberation=False), "Deliberation", "On", "Off"),
        (Judges(clerk="rack/small"), "Clerk's model", "The run's judge model", "rack/small"),
    ],
)
def test_a_change_of_who_judges_is_named_in_words(judges, label, before, after):
    (changed,) = definitions_compared(BASE, judged_by(judges)).changed
    assert (changed.group, changed.label, changed.before, changed.after) == (
        "Who judges",
        label,
        before,
        after,
    )


def test_judges_of_a_panel_are_compared_by_name():
    reader, expert, editor = PANELS["document"]
    before = judged_by(Judges(JudgeMode.BOARD, (reader, expert)))
    after = judged_by(Judges(JudgeMode.BOARD, (replace(reader, model="rack/qwen"), editor)))
    changed = {
        entry.label: (entry.before, entry.after) for entry in definitions_compared(before, after).changed
    }
    assert changed == {
        "Judges on the board": ("First-time reader, Domain expert", "First-time reader, Editor"),
        "First-time reader · model": ("The run's judge model", "rack/qwen"),
        "Editor": (None, f"Lens: {editor.lens}\nModel: The run's judge model"),
        "Domain expert": (f"Lens: {expert.lens}\nModel: The run's judge model", None),
    }


def test_a_panel_instead_of_a_composed_one_is_named():
    before, after = judged_by(Judges(JudgeMode.BOARD)), judged_by(Judges(JudgeMode.BOARD, PANELS["code"]))
    panel = next(
        entry for entry in definitions_compared(before, after).changed if entry.label == "Judges on the board"
    )
    assert panel.before == "The clerk composes 3 judges for each run"
    assert panel.after == "Correctness reviewer, Next maintainer, Performance engineer"
