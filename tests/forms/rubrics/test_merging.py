"""Merging two edits of one rubric: one-sided changes are taken, conflicts are chosen."""

from dataclasses import replace
from decimal import Decimal

import pytest

from refinement.engine.codec import rubric_from_json, rubric_to_json
from refinement.engine.kinds import JudgeMode
from refinement.engine.panels import PANELS
from refinement.engine.profiles import context_rules_for, default_rubrics
from refinement.engine.types import Check, Criterion, Evaluator, Information, Metric, Role
from refinement.forms.rubrics.merging import Change, differences, joined_order, merged
from refinement.forms.rubrics.telling import shown_difference


@pytest.fixture
def base():
    return rubric_from_json(rubric_to_json(default_rubrics()["wiggum"]))


def join(base, mine, theirs, **choices):
    return rubric_from_json(merged(base, mine, theirs, {f"choose.{k}": v for k, v in choices.items()}))


def changes(base, mine, theirs):
    return {".".join(entry.path): entry.change for entry in differences(base, mine, theirs)}


def with_criterion(rubric, key, **values):
    return replace(
        rubric,
        criteria=tuple(replace(row, **values) if row.key == key else row for row in rubric.criteria),
    )


def without(rubric, *keys):
    return replace(rubric, criteria=tuple(row for row in rubric.criteria if row.key not in keys))


def test_nothing_changed_is_nothing_told(base):
    assert differences(base, base, base) == []
    assert join(base, base, base) == base


def test_each_side_changes_something_else(base):
    mine = with_criterion(replace(base, purpose="Mine."), "depth", weight=Decimal("0.5"))
    theirs = with_criterion(replace(base, name="Theirs"), "depth", ideal="Better.")

    found = join(base, mine, theirs)

    assert (found.purpose, found.name) == ("Mine.", "Theirs")
    assert (found.criteria[0].weight, found.criteria[0].ideal) == (Decimal("0.5"), "Better.")
    assert set(changes(base, mine, theirs).values()) == {Change.MINE, Change.THEIRS}


@pytest.mark.parametrize(("side", "kept"), [("mine", "Mine."), ("theirs", "Theirs."), ("", "Mine.")])
def test_what_both_changed_is_a_choice(base, side, kept):
    mine, theirs = replace(base, purpose="Mine."), replace(base, purpose="Theirs.")

    assert changes(base, mine, theirs) == {"purpose": Change.BOTH}
    assert join(base, mine, theirs, purpose=side).purpose == kept


def test_the_same_change_on_both_sides_is_no_choice(base):
    mine = theirs = replace(base, purpose="Ours.")

    assert changes(base, mine, theirs) == {"purpose": Change.SAME}
    assert join(base, mine, theirs).purpose == "Ours."


def test_rows_added_on_both_sides_stand_where_they_were_put(base):
    first, *rest = base.criteria
    mine = replace(base, criteria=(first, Criterion("new-mine", "Mine"), *rest))
    theirs = replace(base, criteria=(*base.criteria, Criterion("new-theirs", "Theirs")))

    keys = [row.key for row in join(base, mine, theirs).criteria]

    assert keys[:2] == ["depth", "new-mine"]
    assert keys[-1] == "new-theirs"
    assert len(keys) == 8


def test_a_row_that_one_side_removed_is_gone(base):
    assert join(base, without(base, "structure"), replace(base, name="N")).criteria == base.criteria[:-1]
    assert join(base, replace(base, name="N"), without(base, "structure")).criteria == base.criteria[:-1]


@pytest.mark.parametrize(("side", "there"), [("mine", False), ("theirs", True)])
def test_a_row_removed_here_and_changed_there_is_a_choice(base, side, there):
    mine, theirs = without(base, "structure"), with_criterion(base, "structure", name="Order")

    assert changes(base, mine, theirs) == {"criteria.structure": Change.BOTH}
    found = merged(base, mine, theirs, {"choose.criteria.structure": side})
    assert ("Order" in [row["name"] for row in found["criteria"]]) is there


def test_rows_added_twice_under_one_key_are_compared_field_by_field(base):
    base = replace(base, checks=())
    mine = replace(base, checks=(Check("c", "contains", {"text": "a"}),))
    theirs = replace(base, checks=(Check("c", "contains", {"text": "b"}),))

    assert changes(base, mine, theirs) == {
        "checks.c.kind": Change.SAME,
        "checks.c.parameters": Change.BOTH,
        "checks.c.severity": Change.SAME,
        "checks.c.weight": Change.SAME,
        "checks.c.suggestion": Change.SAME,
    }
    assert join(base, mine, theirs, **{"checks.c.parameters": "theirs"}).checks == theirs.checks


@pytest.mark.parametrize("side", ["mine", "theirs"])
def test_two_orders_are_a_choice(base, side):
    mine = replace(base, criteria=base.criteria[::-1])
    theirs = replace(base, criteria=(base.criteria[1], base.criteria[0], *base.criteria[2:]))

    assert changes(base, mine, theirs) == {"criteria.": Change.BOTH}
    chosen = {"mine": mine, "theirs": theirs}[side]
    assert join(base, mine, theirs, **{"criteria.": side}).criteria == chosen.criteria


@pytest.mark.parametrize("swapped", [False, True])
def test_one_new_order_is_taken_with_the_other_sides_changes(base, swapped):
    moved = replace(base, criteria=base.criteria[::-1])
    edited = with_criterion(base, "depth", name="Deep")
    mine, theirs = (edited, moved) if swapped else (moved, edited)

    rows = join(base, mine, theirs).criteria

    assert [row.key for row in rows] == [row.key for row in moved.criteria]
    assert rows[-1].name == "Deep"


def test_one_criterion_at_most_is_primary(base):
    mine, theirs = with_criterion(base, "depth", primary=True), with_criterion(base, "grounded", primary=True)

    assert changes(base, mine, theirs) == {"primary": Change.BOTH}
    for side, key in (("mine", "depth"), ("theirs", "grounded")):
        found = join(base, mine, theirs, primary=side)
        assert [row.key for row in found.criteria if row.primary] == [key]


def test_a_primary_criterion_that_nobody_touched_stays(base):
    simmer = rubric_from_json(rubric_to_json(default_rubrics()["simmer"]))

    assert join(simmer, replace(simmer, name="A"), replace(simmer, purpose="B")).criteria == simmer.criteria


def test_the_table_is_joined_cell_by_cell(base):
    tested = context_rules_for("wiggum", evaluator=True)
    mine = replace(base, context=replace(base.context, judge=base.context.judge | {Information.BACKGROUND}))
    theirs = replace(base, context=tested)

    found = join(base, mine, theirs)

    assert found.context.allowed(Role.JUDGE) == tested.judge | {Information.BACKGROUND}


def test_templates_and_stop_rules(base):
    mine = replace(base, templates={"judge": "Mine {{ artifact }}"})
    theirs = replace(base, policy=replace(base.policy, stop_rules=base.policy.stop_rules[::-1]))

    found = join(base, mine, theirs)

    assert found.templates == mine.templates
    assert found.policy.stop_rules == theirs.policy.stop_rules
    assert join(mine, base, mine).templates == {}


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ([], [], []),
        (["a"], ["b"], ["b", "a"]),
        (["a", "b"], ["a", "x", "b"], ["a", "x", "b"]),
        (["b", "a"], ["a", "x", "b", "y"], ["b", "y", "a", "x"]),
    ],
)
def test_two_orders_as_one(first, second, joined):
    assert joined_order(first, second) == joined


def test_differences_are_told_in_words(base):
    mine = with_criterion(without(base, "structure"), "depth", weight=Decimal(2))
    theirs = replace(base, templates={"judge": "x {{ artifact }}"}, policy=replace(base.policy, max_rounds=7))

    lines = {
        entry.label: entry
        for entry in (shown_difference(e, mine, theirs) for e in differences(base, mine, theirs))
    }

    assert (lines["Max. rounds"].original, lines["Max. rounds"].theirs) == ("3", "7")
    assert lines["Judge instructions"].original == "Default"
    assert lines["Criterion “Depth”: weight"].mine == "2"
    assert lines["Criterion “Structure”"].mine == "Empty"


def test_metrics_and_a_schema_are_taken_whole(base):
    one = Evaluator(("score", "{file}"), metrics=(Metric("loss", pointer="/a", lower_is_better=True),))
    mine = replace(base, evaluator=one, output_schema={"type": "object", "properties": {"a": {}}})
    theirs = replace(base, output_schema={"type": "array"}, output_pattern="x")
    assert changes(base, mine, theirs)["output_schema"] is Change.BOTH
    assert changes(base, mine, theirs)["evaluator.metrics"] is Change.MINE
    joined = join(base, mine, theirs)
    assert (joined.output_schema, joined.output_pattern) == (mine.output_schema, "x")
    assert joined.evaluator.metrics == one.metrics
    assert join(base, mine, theirs, output_schema="theirs").output_schema == {"type": "array"}
    told = {entry.path: shown_difference(entry, mine, theirs) for entry in differences(base, mine, theirs)}
    assert told["evaluator", "metrics"].mine == "loss: pointer /a, lower is better"
    assert told["evaluator", "metrics"].label == "Metrics"
    assert '"type": "array"' in told["output_schema",].theirs


def judged_by(rubric, *panel, **changes):
    return replace(rubric, judges=replace(rubric.judges, panel=panel, **changes))


READER, EXPERT, EDITOR = PANELS["document"]


def test_judges_are_merged_by_name(base):
    board = judged_by(base, READER, EXPERT, EDITOR)
    mine = judged_by(base, READER, replace(EXPERT, model="rack/x"), EDITOR, clerk="rack/y")
    theirs = judged_by(base, EDITOR, replace(READER, lens="Theirs."), mode=JudgeMode.AUTO)

    assert changes(board, mine, theirs) == {
        "judges.mode": Change.THEIRS,
        "judges.clerk": Change.MINE,
        f"panel.{READER.name}.lens": Change.THEIRS,
        f"panel.{EXPERT.name}": Change.BOTH,
        "panel.": Change.THEIRS,
    }
    found = join(board, mine, theirs).judges
    assert (found.mode, found.clerk) == (JudgeMode.AUTO, "rack/y")
    assert [judge.name for judge in found.panel] == [EDITOR.name, READER.name, EXPERT.name]
    assert found.panel[1:] == (replace(READER, lens="Theirs."), replace(EXPERT, model="rack/x"))
    chosen = merged(board, mine, theirs, {f"choose.panel.{EXPERT.name}": "theirs"})
    assert [judge["name"] for judge in chosen["judges"]["panel"]] == [EDITOR.name, READER.name]


def test_judges_that_both_added_are_both_kept(base):
    board = judged_by(base, READER, EXPERT)
    mine, theirs = (
        judged_by(base, READER, EXPERT, EDITOR),
        judged_by(base, *PANELS["code"][:1], READER, EXPERT),
    )

    found = join(board, mine, theirs).judges.panel

    assert found == (PANELS["code"][0], READER, EXPERT, EDITOR)


def test_changes_of_judges_are_shown_in_words(base):
    board = judged_by(base, READER, EXPERT)
    mine = judged_by(base, EXPERT, replace(READER, model="rack/x"), deliberation=False)
    theirs = judged_by(base, READER, EXPERT, EDITOR, mode=JudgeMode.BOARD)
    found = [shown_difference(entry, mine, theirs) for entry in differences(board, mine, theirs)]

    assert {entry.label: (entry.original, entry.mine, entry.theirs) for entry in found} == {
        "Judges": ("Single judge", "Single judge", "Board"),
        "Deliberation": ("Yes", "No", "Yes"),
        "Judge “First-time reader”: model": ("Empty", "rack/x", "Empty"),
        "Judge “Editor”": ("Empty", "Empty", f"lens: {EDITOR.lens}"),
        "Order of the judges": (
            "1. First-time reader\n2. Domain expert",
            "1. Domain expert\n2. First-time reader",
            "1. First-time reader\n2. Domain expert",
        ),
    }
