"""The task type of runs: its form, where it is stored, and where it is refused."""

import pytest
from django.core.exceptions import ValidationError

from refinement.models import Run
from refinement.services.runs.lifecycle import run_rerun
from tests.models.given import a_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("how-to", "how-to"),
        ("  How-To ", "how-to"),
        ("Release\n  notes", "release notes"),
        ("\u202eresearch\x00", "research\N{REPLACEMENT CHARACTER}"),
        (" \t", ""),
        ("x" * 50, "x" * 50),
    ],
)
def test_equal_labels_are_stored_alike(project, typed, kept):
    assert a_run(project, task_type=typed).task_type == kept
    assert Run.objects.get().task_type == kept


def test_a_long_one_is_refused(project):
    with pytest.raises(ValidationError) as caught:
        a_run(project, task_type="x" * 51)
    assert caught.value.message_dict == {"task_type": ["A task type has at most 50 characters."]}
    assert not Run.objects.exists()


def test_a_rerun_has_the_same(project):
    assert run_rerun(run=a_run(project, task_type="research")).task_type == "research"
