"""The labelling queue: one text after the other, blind, and without script."""

import pytest

from refinement.models import AuditEntry, Label, LabelRater
from tests.conftest import member, signed_in
from tests.services.trust.given import a_label_set
from tests.views.labels.given import a_queue, scores

pytestmark = pytest.mark.django_db


@pytest.fixture
def row(project):
    return a_queue(project)


@pytest.fixture
def queue(row):
    return f"/p/alpha/labels/{row.pk}/queue/"


def test_labelling_starts_with_a_post_and_says_what_it_hides(as_viewer, queue):
    begin = as_viewer.get(queue)
    assert b"Start labelling" in begin.content
    assert not LabelRater.objects.exists()
    assert as_viewer.post(queue)["Location"] == queue
    rater = LabelRater.objects.get()
    assert (rater.name, rater.opened_at is not None) == ("Vera Viewer", True)
    page = as_viewer.get(queue).content.decode()
    assert "Body 1." in page
    assert "Explain." in page
    assert "0 of 3" in page


def test_each_save_leads_to_the_next_text_until_all_are_done(as_viewer, row, queue):
    as_viewer.post(queue)
    for position in (1, 2, 3):
        assert f"Body {position}." in as_viewer.get(queue).content.decode()
        sent = as_viewer.post(queue, scores(position, **{"reason-depth": "Thin."}))
        assert sent["Location"] == f"{queue}?scored={position}"
    done = as_viewer.get(queue).content.decode()
    assert "You&#x27;re done" in done or "You're done" in done
    rater = LabelRater.objects.get()
    assert (rater.opened_at, rater.left_at) == (None, None)
    label = Label.objects.order_by("item__position").first()
    assert (label.scores, label.reasons, label.blind) == (
        {"clarity": "4", "depth": "2"},
        {"depth": "Thin."},
        True,
    )
    assert AuditEntry.objects.filter(action="labels.label").count() == 3


def test_a_text_with_enough_raters_waits_for_nobody(project, row, queue):
    people = [member(project, "viewer", f"{name}@example.org", name) for name in ("Ann", "Bob", "Cid")]
    clients = [signed_in(person) for person in people]
    for client in clients:
        client.post(queue)
    for client in clients[:2]:
        client.post(queue, scores(1))
    assert "Body 2." in clients[2].get(queue).content.decode()
    assert "0 of 2" in clients[2].get(queue).content.decode()


def test_a_text_can_be_skipped_and_comes_back(as_viewer, queue):
    as_viewer.post(queue)
    assert "Body 2." in as_viewer.get(f"{queue}?after=1").content.decode()
    assert "Body 1." in as_viewer.get(f"{queue}?after=3").content.decode()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"clarity": 6}, "6 is not on the scale"),
        ({"depth": ""}, "Enter a score"),
        ({"clarity": "1.5"}, "1.5 is not"),
    ],
)
def test_a_wrong_score_is_explained_and_saves_nothing(as_viewer, queue, wrong, words):
    as_viewer.post(queue)
    answer = as_viewer.post(queue, scores(1, **wrong))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Label.objects.exists()


def test_nothing_is_saved_before_labelling_is_started(as_viewer, queue):
    assert as_viewer.post(queue, scores(1)).status_code == 422
    assert not Label.objects.exists()


def test_a_label_saved_in_another_window_is_not_overwritten(as_viewer, queue):
    as_viewer.post(queue)
    as_viewer.post(queue, scores(1))
    answer = as_viewer.post(queue, scores(1, clarity=1))
    assert answer.status_code == 409
    assert Label.objects.get().scores["clarity"] == "4"
    again = as_viewer.post(queue, scores(1, clarity=1, version=1))
    assert again.status_code == 302
    assert (Label.objects.get().version, Label.objects.get().scores["clarity"]) == (2, "1")


def test_leaving_is_confirmed_and_makes_later_labels_open(as_viewer, row, queue):
    as_viewer.post(queue)
    as_viewer.post(queue, scores(1))
    leave = f"/p/alpha/labels/{row.pk}/leave/"
    assert b"Leave labelling?" in as_viewer.post(leave).content
    assert LabelRater.objects.get().opened_at is not None
    as_viewer.post(leave, {"sure": "yes"})
    assert (LabelRater.objects.get().opened_at, LabelRater.objects.get().left_at is not None) == (None, True)
    as_viewer.post(queue)
    assert b"Not blind" in as_viewer.get(queue).content
    as_viewer.post(queue, scores(2))
    assert list(Label.objects.order_by("id").values_list("blind", flat=True)) == [True, False]


def test_who_has_seen_scores_of_the_set_does_not_label_blind(as_viewer, project):
    row = a_label_set(project)
    as_viewer.get(f"/p/alpha/labels/{row.pk}/texts/1/")
    queue = f"/p/alpha/labels/{row.pk}/queue/"
    as_viewer.post(queue)
    as_viewer.post(queue, scores(row.items.get(key="c")))
    assert not Label.objects.get(rater__user__isnull=False).blind


def test_an_archived_set_has_no_queue(as_viewer, as_editor, row, queue):
    as_editor.post(f"/p/alpha/labels/{row.pk}/archive/")
    as_viewer.post(queue)
    assert not LabelRater.objects.exists()
    assert b"archived" in as_viewer.get(queue).content


def test_own_labels_can_be_corrected_but_nobody_elses_text_is_opened(as_viewer, row, queue):
    as_viewer.post(queue)
    as_viewer.post(queue, scores(1))
    assert b'value="4"' in as_viewer.get(f"{queue}?text=1").content
    assert as_viewer.get(f"{queue}?text=99").status_code == 404
    as_viewer.post(f"/p/alpha/labels/{row.pk}/leave/", {"sure": "yes"})
    assert b"Save changes" in as_viewer.get(f"{queue}?text=1").content
    assert b"Start labelling" in as_viewer.get(f"{queue}?text=2").content
