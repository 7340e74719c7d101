"""Creating measurements: texts as benches, copies with their originals, and what is refused."""

import pytest
from django.core.exceptions import ValidationError

from refinement.engine.codec import rubric_to_json
from refinement.models import AuditEntry, Bench, JudgeRecord, Measurement, QueuedMessage
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.trust.measurements.creating import NewItem
from tests.execution.trials.given import EXAMPLE, JUDGE, Table, calibrated
from tests.services.trust.measurements.given import a_measurement

pytestmark = pytest.mark.django_db


def test_each_text_is_a_bench_and_nothing_is_judged_yet(table: Table, editor):
    measurement = a_measurement(table, "One.\r\n", "Two.", repeats=3, user=editor)
    assert (measurement.status, measurement.kind, measurement.repeats) == ("running", "retest", 3)
    assert [item.bench.candidate for item in measurement.items.all()] == ["One.\n", "Two."]
    assert Bench.objects.filter(trials__isnull=False).count() == 0
    assert QueuedMessage.objects.filter(body__contains="advance_measurement").count() == 1
    assert AuditEntry.objects.filter(action="measurement.create", object_id=str(measurement.pk)).exists()


def test_its_judge_has_a_record_unless_it_judges_by_a_draft(table: Table):
    a_measurement(table, "One.", definition=rubric_to_json(definition_of(table.version)))
    assert not JudgeRecord.objects.exists()
    a_measurement(table, "One.")
    assert JudgeRecord.objects.get().key == JUDGE.model


def test_copies_name_their_original(table: Table):
    items = [NewItem("One."), NewItem("On.", original=0, edit="sentence", criterion="depth", change="x")]
    first, copy = a_measurement(table, items=items, kind="planted").items.all()
    assert (first.original, copy.original) == (None, first)
    assert (copy.edit, copy.criterion, copy.change, copy.harmless) == ("sentence", "depth", "x", False)


def test_the_judge_sees_the_calibration_example_as_in_a_run_but_never_the_answer(table: Table):
    table.rubric(calibrated())
    measurement = a_measurement(table, "One.", EXAMPLE)
    assert [item.bench.anchored for item in measurement.items.all()] == [True, False]


@pytest.mark.parametrize(
    ("given", "field", "words"),
    [
        ({"items": []}, "items", "no texts"),
        ({"items": [NewItem("One."), NewItem(" \n")]}, "items", "Text 2: it is empty."),
        ({"items": [NewItem("x" * 1_000_001)]}, "items", "characters long"),
        ({"items": [NewItem("One.", original=0)]}, "items", "its original"),
        ({"items": [NewItem("x")] * 5_001}, "items", "5,001 texts"),
        ({"items": [NewItem("x")] * 2_001, "repeats": 10}, "items", "20,010 judgements"),
        ({"repeats": 0}, "repeats", "1 to 10"),
        ({"judge": ("ollama", "", ())}, "judge", "Choose a judge"),
        ({"judge": ("nowhere", "m", ())}, "judge", "nowhere"),
        ({"token_budget": 0}, "token_budget", "at least 1"),
        ({"definition": {"name": "x"}}, "definition", "The draft is not valid"),
    ],
)
def test_what_cannot_be_measured_is_refused(table: Table, given, field, words):
    with pytest.raises(ValidationError) as refusal:
        a_measurement(table, **{"items": [NewItem("One.")], **given})
    assert words in " ".join(refusal.value.message_dict[field])
    assert not Measurement.objects.exists()


def test_an_archived_rubric_is_refused(table: Table):
    table.version.rubric.archived_at = "2026-01-01T00:00Z"
    with pytest.raises(ValidationError, match="archived"):
        a_measurement(table, "One.")
