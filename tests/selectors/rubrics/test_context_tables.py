"""The table of who sees what: the rules, and how they differ from their preset."""

from dataclasses import replace

import pytest

from refinement.engine.kinds import EvaluationMode, Information, Role
from refinement.engine.profiles import PROFILES, preset_rules, rubric_for
from refinement.engine.types import Evaluator
from refinement.judging.context import OFFERED, permitted
from refinement.selectors.rubrics.context_tables import context_table


def cells(table):
    return {(cell.role, cell.kind): cell for row in table.rows for cell in row.cells}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("mode", EvaluationMode)
def test_the_table_says_what_the_prompt_builder_enforces(profile, mode):
    tested = replace(rubric_for(profile), evaluation_mode=mode, evaluator=Evaluator(("pytest", "{file}")))
    rubric = replace(tested, context=preset_rules(tested))
    table = context_table(rubric)
    with_evaluator = mode is not EvaluationMode.JUDGE_ONLY
    assert table.preset_label == ("With an evaluator" if with_evaluator else "Without an evaluator")
    assert table.departures == []
    for (role, kind), cell in cells(table).items():
        assert cell.allowed is (kind in permitted(rubric, role))
        assert cell.offered is (kind in OFFERED[role])
        assert cell.state == ("never" if not cell.offered else "seen" if cell.allowed else "withheld")


def test_a_departure_is_marked_and_explained():
    rubric = rubric_for("simmer")
    judge = (rubric.context.judge | {Information.HISTORY}) - {Information.SEED}
    table = context_table(replace(rubric, context=replace(rubric.context, judge=judge)))
    departing = {key for key, cell in cells(table).items() if cell.departs}
    assert departing == {(Role.JUDGE, Information.HISTORY), (Role.JUDGE, Information.SEED)}
    assert table.departures == [
        "The judge does not see the first version, which the default shows. "
        "It has no text to compare later rounds with.",
        "The judge sees the history, which the default hides. "
        "It can see a trend, and its scores tend to stay near the earlier ones.",
    ]


def test_what_a_role_can_never_be_given_is_no_departure():
    rubric = rubric_for("wiggum")
    producer = rubric.context.producer | {Information.SEED_SCORES}
    table = context_table(replace(rubric, context=replace(rubric.context, producer=producer)))
    assert cells(table)[Role.PRODUCER, Information.SEED_SCORES].state == "never"
    assert table.departures == []


def test_the_table_names_only_what_a_prompt_can_carry():
    table = context_table(rubric_for("simmer"))
    assert table.roles == ("Judge", "Writer")
    assert all(any(cell.offered for cell in row.cells) for row in table.rows)
    assert {row.kind for row in table.rows} == OFFERED[Role.JUDGE] | OFFERED[Role.PRODUCER]


def test_every_kind_has_a_name_and_a_description():
    for row in context_table(rubric_for("wiggum")).rows:
        assert row.label
        assert row.description.endswith(".")
