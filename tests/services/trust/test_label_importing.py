"""Imports of ratings: what is saved, what a second import changes, and what is refused."""

import pytest
from django.core.exceptions import ValidationError

from refinement.interchange.labels.types import BadLabels
from refinement.models import AuditEntry, JudgeRecord, Label, LabelItem, LabelRater, LabelSet, Report
from refinement.selectors.rubrics.definitions import RubricNotFound, definition_of
from refinement.services.rubrics.editing import version_create
from refinement.services.trust.label_importing import WrongSet
from tests.services.trust.given import ITEMS, a_label_set, a_rubric, imported

pytestmark = pytest.mark.django_db
JUDGES = {"gpt#1": "gpt-4", "gpt#2": "gpt-4"}


def test_ratings_become_labels_of_raters(project, editor):
    version = a_rubric(project)
    result = imported(project, items=ITEMS, user=editor, judges=JUDGES)
    row = LabelSet.objects.get()
    assert (row.name, row.rubric_version, row.created_by) == ("First set", version, editor)
    assert (result.labels_new, result.items_new, result.items_without_text, result.scores) == (5, 3, 1, 6)
    assert [(item.key, item.position, item.title) for item in row.items.all()] == [
        ("a", 1, "Backups"),
        ("b", 2, ""),
        ("c", 3, "Nobody rated this."),
    ]
    ada = Label.objects.get(item__key="a", rater__name="Ada")
    assert (ada.scores, ada.blind, ada.version) == ({"clarity": "4", "depth": "2"}, False, 1)
    assert set(row.raters.values_list("name", "judge_model")) == {
        ("Ada", ""),
        ("Ben", ""),
        ("gpt#1", "gpt-4"),
        ("gpt#2", "gpt-4"),
    }
    assert AuditEntry.objects.get(action="labels.import").after["labels"] == 5


def test_a_recorded_judge_has_a_record_and_its_report_is_requested(project):
    version = a_rubric(project)
    imported(project, judges=JUDGES)
    record = JudgeRecord.objects.get()
    assert (record.rubric_version, record.model, record.endpoint) == (version, "gpt-4", "")
    assert Report.objects.get(kind="trust").subject == record.pk


def test_a_dry_run_saves_nothing_and_counts_the_same(project):
    a_rubric(project)
    dry = imported(project, items=ITEMS, judges=JUDGES, dry_run=True)
    for model in (LabelSet, LabelItem, LabelRater, Label, JudgeRecord, Report):
        assert not model.objects.exists()
    assert not AuditEntry.objects.filter(action__startswith="labels.").exists()
    real = imported(project, items=ITEMS, judges=JUDGES)
    assert dry.label_set is None
    assert dry.as_dict() | {"dry_run": False, "label_set": real.label_set} == real.as_dict()


def test_a_second_import_adds_changes_and_leaves_the_rest(project):
    row = a_label_set(project, judges=JUDGES)
    again = imported(project, items=ITEMS, judges=JUDGES)
    assert (again.new_set, again.labels_new, again.labels_changed, again.labels_unchanged) == (False, 0, 0, 5)
    more = "item,criterion,rater,score\na,clarity,Ada,3\nb,depth,Ada,5\nd,clarity,Cleo,2\n"
    result = imported(project, more, '{"item": "b", "text": "Late text."}')
    assert (result.labels_new, result.labels_changed, result.items_new, result.items_filled) == (1, 2, 1, 1)
    ada = {label.item.key: label for label in Label.objects.filter(rater__name="Ada")}
    assert (ada["a"].scores, ada["a"].version) == ({"clarity": "3", "depth": "2"}, 2)
    assert ada["b"].scores == {"clarity": "1", "depth": "5"}
    assert row.items.get(key="b").text == "Late text."
    assert row.items.get(key="d").position == 4


def test_conflicts_with_the_set_are_named_by_line(project, editor):
    row = a_label_set(project, judges=JUDGES)
    member = LabelRater.objects.create(label_set=row, name="Edgar", user=editor)
    Label.objects.create(item=row.items.get(key="a"), rater=member, scores={"clarity": "1"})
    wrong = (
        "item,criterion,rater,score,judge\na,clarity,Ada,4,gpt-4\na,clarity,Edgar,1,\nb,clarity,Edgar,2,\n"
        "c,clarity,gpt#1,2,\n"
    )
    with pytest.raises(BadLabels) as caught:
        imported(project, wrong, '{"item": "a", "text": "Another."}')
    assert [str(problem) for problem in caught.value.ratings] == [
        "Line 2: In this set, 'Ada' is a person.",
        "Line 4: 'Edgar' is a member who labels here, so only they can change their labels.",
        "Line 5: In this set, 'gpt#1' is the judge gpt-4.",
    ]
    assert [str(problem) for problem in caught.value.items] == [
        "Line 1: The set has another text for the item 'a'. Give this one another name."
    ]
    assert Label.objects.filter(rater=member).count() == 1


def test_a_set_of_another_rubric_or_version_or_an_archived_one_is_refused(project):
    row = a_label_set(project)
    a_rubric(project, slug="other")
    with pytest.raises(WrongSet, match="belongs to the rubric summaries"):
        imported(project, rubric="other")
    version_create(rubric=row.rubric, definition=definition_of(row.rubric_version))
    with pytest.raises(WrongSet, match="for version 1"):
        imported(project, rubric="summaries@2")
    assert imported(project).version == 1
    LabelSet.objects.update(archived_at=row.created_at)
    with pytest.raises(WrongSet, match="archived"):
        imported(project)


def test_unknown_rubrics_and_rubrics_without_criteria_are_refused(project):
    with pytest.raises(RubricNotFound):
        imported(project, rubric="nothing")
    a_rubric(project)
    with pytest.raises(ValidationError, match="Enter a name"):
        imported(project, name=" ")


def test_a_large_import_makes_few_queries(project, django_assert_max_num_queries):
    a_rubric(project)
    cells = [
        f"i{item},{key},r{rater},3"
        for item in range(1_000)
        for key in ("clarity", "depth")
        for rater in (1, 2)
    ]
    source = "\n".join(["item,criterion,rater,score", *cells])
    # SQLite takes about 80 rows in a query.
    with django_assert_max_num_queries(70):
        result = imported(project, source)
    assert (result.labels_new, result.scores) == (2_000, 4_000)
    with django_assert_max_num_queries(70):
        changed = imported(project, source.replace(",3", ",4"))
    assert (changed.labels_changed, changed.labels_new) == (2_000, 0)
