"""Label sets: chosen from rounds, changed, archived, exported and imported again."""

import pytest
from django.urls import reverse

from refinement.models import Label, LabelRater, LabelSet, Round
from refinement.services.trust.labels import label_set_archive
from tests.execution.trials.conftest import ollama_server, table
from tests.execution.trials.given import Table
from tests.services.trust.given import a_label_set, imported
from tests.services.trust.measurements.replaying import a_judged_run
from tests.views.labels.given import a_queue

__all__ = ["ollama_server", "table"]

pytestmark = pytest.mark.django_db


def test_rounds_are_chosen_from_low_middle_and_high_scores(as_editor, table: Table):
    a_judged_run(table, *range(1, 10))
    new = reverse("label_set_new", args=["alpha"])
    given = {"name": "Mixed", "rubric": "guides", "raters_wanted": "3", "rounds": "6"}
    answer = as_editor.post(new, given)
    row = LabelSet.objects.get()
    assert answer.url == reverse("label_set_page", args=["alpha", row.pk])
    chosen = Round.objects.filter(label_items__label_set=row).values_list("composite", flat=True)
    scores = sorted(int(score) for score in chosen)
    assert [sum(low <= score <= low + 2 for score in scores) for low in (1, 4, 7)] == [2, 2, 2]
    assert (row.raters_wanted, row.items.count()) == (3, 6)
    page = as_editor.get(answer.url).content.decode()
    assert "0 of 3" in page


def test_a_name_is_needed_and_must_be_free(as_editor, table: Table):
    a_judged_run(table, 8)
    new = reverse("label_set_new", args=["alpha"])
    given = {"name": "Mixed", "rubric": "guides", "raters_wanted": "2", "rounds": "1"}
    as_editor.post(new, given)
    answer = as_editor.post(new, given)
    assert answer.status_code == 422
    assert "There is a label set" in answer.content.decode()
    assert LabelSet.objects.count() == 1


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_can_be_imported_again(as_viewer, project, form):
    row = a_label_set(project, judges={"gpt#1": "gpt-4", "gpt#2": "gpt-4"})
    files = {}
    for what in ("ratings", "items"):
        answer = as_viewer.get(reverse("label_set_export", args=["alpha", row.pk, what, form]))
        content = getattr(answer, "streaming_content", None)
        files[what] = (b"".join(content) if content else answer.content).decode()
    again = imported(project, files["ratings"], files["items"], name="Copy")
    assert (again.items_new, again.labels_new, again.scores) == (3, 5, 6)
    assert {name: judge for name, judge, _ in again.raters} == {
        "Ada": "", "Ben": "", "gpt#1": "gpt-4", "gpt#2": "gpt-4",
    }  # fmt: skip


def test_an_archived_set_is_listed_apart(as_editor, project):
    row = a_label_set(project)
    listed = reverse("label_set_list", args=["alpha"])
    assert "First set" in as_editor.get(listed).content.decode()
    label_set_archive(label_set=row)
    assert "First set" not in as_editor.get(listed).content.decode()
    assert "First set" in as_editor.get(listed, {"archived": "1"}).content.decode()


def test_without_texts_to_label_it_leads_to_more_texts_and_the_judges(as_editor, as_viewer, project):
    row = a_queue(project, texts=1, raters_wanted=1)
    page = reverse("label_set_page", args=["alpha", row.pk])
    text = as_editor.get(page).content.decode()
    assert "Label texts" in text
    assert "See the judges" not in text
    rater = LabelRater.objects.create(label_set=row, name="Ada")
    Label.objects.create(item=row.items.get(), rater=rater, scores={"clarity": "4", "depth": "2"})
    text = as_editor.get(page).content.decode()
    assert "Label texts" not in text
    add = reverse("label_set_add", args=["alpha", row.pk])
    assert f'class="button button-primary" href="{add}"' in text
    assert "See the judges" in text
    assert "no account here" in text
    assert add not in as_viewer.get(page).content.decode()
