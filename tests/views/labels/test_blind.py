"""While a member labels, no response contains scores or reasons of the texts."""

import pytest

from refinement.models import BlindReading, Label, LabelRater, LabelSet, User
from refinement.selectors.rubrics.definitions import definition_of
from refinement.services.reviews.human_scores import Reading
from refinement.services.trust.judges import judge_ensure
from refinement.services.trust.label_items import label_rounds_add
from refinement.services.trust.labelling import label_give, queue_leave, queue_open
from refinement.services.trust.labels import label_set_create
from tests.views.runs.listed import runs_of
from tests.views.runs.test_blind import HTMX, answered, revealed, run, told_in

__all__ = ["run"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def row(run, project) -> LabelSet:
    """A set with two rounds of the run, which a colleague has labelled with recognisable words."""
    made = label_set_create(project=project, version=run.rubric_version, name="Blind set")
    rounds = list(run.rounds.select_related("run").filter(number__in=(2, 3)).order_by("number"))
    label_rounds_add(label_set=made, rounds=rounds, user=None)
    colleague = LabelRater.objects.create(label_set=made, name="Cora")
    keys = [criterion.key for criterion in definition_of(run.rubric_version).criteria]
    for item in made.items.all():
        Label.objects.create(
            item=item, rater=colleague, scores=dict.fromkeys(keys, "3.1875"), reasons={keys[0]: "Zreason"},
            note="Zscorenote",
        )  # fmt: skip
    judge_ensure(project=project, version=run.rubric_version, model=run.judge_model)
    return made


def test_no_answer_shows_anything_that_was_said_of_the_texts(run, row, project, owner, as_owner):
    runs_of(project, 2)
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    queue_open(label_set=row, user=owner)
    assert revealed(as_owner, run) == {}


def test_the_same_addresses_show_the_labels_to_somebody_else(row, as_owner):
    text = answered(as_owner, f"/p/alpha/labels/{row.pk}/texts/1/").decode()
    export = answered(as_owner, f"/p/alpha/labels/{row.pk}/export/ratings/csv/").decode()
    assert {"Zreason", "Zscorenote"} <= set(told_in(text))
    assert "Zreason" in told_in(export)


def test_pages_lead_to_the_queue_and_files_are_refused(as_viewer, viewer, run, row):
    queue_open(label_set=row, user=viewer)
    queue = f"/p/alpha/labels/{row.pk}/queue/"
    browser = {"Accept": "text/html,application/xhtml+xml"}
    for page in (
        f"/p/alpha/runs/{run.pk}/",
        f"/p/alpha/runs/{run.pk}/score/2/",
        f"/p/alpha/labels/{row.pk}/texts/1/",
    ):
        answer = as_viewer.get(page, headers=browser)
        assert (answer.status_code, answer["Location"]) == (302, queue), page
        assert as_viewer.get(page, headers=HTMX)["HX-Redirect"] == queue
    for page in (f"/p/alpha/runs/{run.pk}/export/json/", f"/p/alpha/labels/{row.pk}/export/ratings/csv/"):
        refused = as_viewer.get(page)
        assert refused.status_code == 403
        assert "Finish or leave labelling first" in refused.content.decode()
    assert as_viewer.get(f"/p/alpha/labels/{row.pk}/").status_code == 200


def test_the_banner_leads_back_to_the_queue(as_viewer, viewer, run, row):
    queue_open(label_set=row, user=viewer)
    text = as_viewer.get("/p/alpha/runs/").content.decode()
    assert f'href="/p/alpha/labels/{row.pk}/queue/"' in text
    assert "You are scoring" not in text


def test_finishing_or_leaving_shows_everything_again(as_viewer, viewer, as_editor, editor, run, row):
    definition = definition_of(run.rubric_version)
    scores = Reading({criterion.key: definition.scale.maximum for criterion in definition.criteria}, {})
    queue_open(label_set=row, user=viewer)
    for item in row.items.select_related("round__run"):
        label_give(item=item, user=viewer, definition=definition, submitted=scores, seen_version=0)
    assert as_viewer.get(f"/p/alpha/runs/{run.pk}/").status_code == 200
    row.raters_wanted = 3
    row.save(update_fields=["raters_wanted"])
    queue_open(label_set=row, user=editor)
    assert as_editor.get(f"/p/alpha/runs/{run.pk}/").status_code == 403
    queue_leave(label_set=row, user=editor)
    assert as_editor.get(f"/p/alpha/runs/{run.pk}/").status_code == 200


def test_a_text_of_a_run_whose_scores_were_seen_is_not_labelled_blind(as_viewer, viewer, run, row):
    as_viewer.get(f"/p/alpha/runs/{run.pk}/")
    assert BlindReading.objects.filter(reader=viewer).exists()
    definition = definition_of(run.rubric_version)
    scores = Reading({criterion.key: definition.scale.maximum for criterion in definition.criteria}, {})
    queue_open(label_set=row, user=viewer)
    item = row.items.select_related("round__run").first()
    given = label_give(item=item, user=viewer, definition=definition, submitted=scores, seen_version=0)
    assert not given.blind


def test_who_scores_the_run_blind_sees_no_labels_of_it(as_viewer, viewer, run, row):
    BlindReading.objects.create(run=run, reader=viewer, round_number=2)
    for page in (f"/p/alpha/labels/{row.pk}/texts/1/", f"/p/alpha/labels/{row.pk}/export/ratings/csv/"):
        answer = as_viewer.get(page)
        assert answer.status_code == 403
        assert told_in(answer.content.decode()) == []
