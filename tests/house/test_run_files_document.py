"""docs/run-json.md names every field of the files."""

import re

import pytest

from refinement.interchange.exports.rows import ENDS
from refinement.selectors.runs import exports as run_exports
from refinement.selectors.runs.boards.answers import ANSWER_FIELDS, PANEL_FIELDS
from tests.house.processes import ROOT

TEXT = (ROOT / "docs/run-json.md").read_text()
NAMED = set(re.findall(r"`(\w+)`", TEXT))


def test_every_column_is_named_in_its_order():
    told = re.search(r"The columns are (.*? and\s+`key_changes`)", TEXT, re.S)[1]
    assert re.findall(r"`(\w+)`", told) == [*run_exports.COLUMNS, *ENDS]


@pytest.mark.parametrize("fields", [PANEL_FIELDS, ANSWER_FIELDS])
def test_every_field_of_a_board_is_named(fields):
    assert set(fields) - NAMED == set()


@pytest.mark.parametrize(
    "fields",
    [
        "_ROUND_FIELDS",
        "_RUN_FIGURES",
        "_HUMAN_SCORE_FIELDS",
        "_DECISION_FIELDS",
        "_INSTRUCTION_FIELDS",
        "EVALUATOR_FIELDS",
        "SOURCE_FIELDS",
    ],
)
def test_every_field_of_the_document_is_named(fields):
    # When something was made is a matter of course.
    assert set(getattr(run_exports, fields)) - NAMED - {"created_at", "judged_at"} == set()
