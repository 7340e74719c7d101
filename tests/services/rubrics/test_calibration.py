"""Saving the calibration example: exact, guarded by the version, all or nothing."""

from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError

from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.rubrics.calibration import calibration_remove, calibration_set
from refinement.services.rubrics.editing import NewerVersion
from tests.models.given import a_version

pytestmark = pytest.mark.django_db


def test_scores_are_kept_exactly_and_in_the_rubrics_order(project):
    rubric = a_version(project).rubric
    scores = {"structure": Decimal("3.3333"), "depth": Decimal("7.50")}
    definition = definition_of(calibration_set(rubric=rubric, text="A\x00b", scores=scores, edited_from=1))
    assert list(definition.calibration_scores.items()) == [
        ("depth", Decimal("7.5")),
        ("structure", Decimal("3.3333")),
    ]
    assert definition.calibration_text == "A\N{REPLACEMENT CHARACTER}b"


def test_a_score_for_a_criterion_that_is_not_there_is_refused(project):
    rubric = a_version(project).rubric
    with pytest.raises(ValidationError, match="This version has no criterion 'other'"):
        calibration_set(rubric=rubric, text="A text.", scores={"other": Decimal(1)}, edited_from=1)
    assert rubric.versions.count() == 1


def test_an_edit_of_another_version_is_refused(project):
    rubric = a_version(project).rubric
    with pytest.raises(NewerVersion):
        calibration_set(rubric=rubric, text="A text.", scores={"depth": Decimal(1)}, edited_from=2)
    with pytest.raises(NewerVersion):
        calibration_remove(rubric=rubric, edited_from=7)
    assert calibration_remove(rubric=rubric, edited_from=1) is None
    assert rubric.versions.count() == 1
