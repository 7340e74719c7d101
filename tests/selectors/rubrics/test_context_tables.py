"""Who sees what, as people read it: the rules themselves, and where they depart from their class."""

from dataclasses import replace

import pytest

from refinement.engine.kinds import Information, ProblemClass, Role
from refinement.engine.profiles import context_rules_for, rubric_for
from refinement.judging.context import OFFERED, permitted
from refinement.selectors.rubrics.context_tables import context_table


def cells(table):
    return {(cell.role, cell.kind): cell for row in table.rows for cell in row.cells}


@pytest.mark.parametrize("problem_class", ProblemClass)
def test_the_table_says_what_the_prompt_builder_enforces(problem_class):
    rubric = replace(
        rubric_for("simmer"), problem_class=problem_class, context=context_rules_for(problem_class)
    )
    table = context_table(rubric)
    assert table.departures == []
    for (role, kind), cell in cells(table).items():
        assert cell.allowed is (kind in permitted(rubric, role))
        assert cell.offered is (kind in OFFERED[role])
        assert cell.state == ("never" if not cell.offered else "seen" if cell.allowed else "withheld")


def test_a_departure_is_marked_and_explained():
    rubric = rubric_for("wiggum")
    judge = (rubric.context.judge | {Information.HISTORY}) - {Information.SEED}
    table = context_table(replace(rubric, context=replace(rubric.context, judge=judge)))
    departing = {key for key, cell in cells(table).items() if cell.departs}
    assert departing == {(Role.JUDGE, Information.HISTORY), (Role.JUDGE, Information.SEED)}
    assert table.departures == [
        "The judge does not see the seed text, which its class shows. "
        "It has no text to compare later rounds with.",
        "The judge sees the history, which its class hides. "
        "It can see a trend, and its scores tend to stay near the earlier ones.",
    ]


def test_what_a_role_can_never_be_given_is_no_departure():
    rubric = rubric_for("wiggum")
    producer = rubric.context.producer | {Information.SCORES}
    table = context_table(replace(rubric, context=replace(rubric.context, producer=producer)))
    assert cells(table)[Role.PRODUCER, Information.SCORES].state == "never"
    assert table.departures == []


def test_every_kind_has_a_name_and_a_description():
    for row in context_table(rubric_for("wiggum")).rows:
        assert row.label
        assert row.description.endswith(".")
