"""The account page."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from refinement.models import Membership, User

pytestmark = pytest.mark.django_db


def test_it_shows_who_i_am_and_where(as_editor, editor, project):
    page = as_editor.get("/account/").content.decode()

    assert editor.email in page
    assert f'value="{editor.name}"' in page
    assert project.name in page


def test_the_name_can_be_changed(as_viewer, viewer):
    answer = as_viewer.post("/account/", {"name": " Grace Hopper "}, follow=True)

    viewer.refresh_from_db()
    assert viewer.name == "Grace Hopper"
    assert "Profile saved." in answer.content.decode()


def test_nobody_elses_name_is_touched(as_viewer, owner):
    as_viewer.post("/account/", {"name": "Somebody", "user": owner.pk, "id": owner.pk})

    before = owner.name
    owner.refresh_from_db()
    assert owner.name == before


@pytest.mark.parametrize("name", ["", "  ", "x" * 121])
def test_a_bad_name_is_said_beside_the_field(as_viewer, viewer, name):
    answer = as_viewer.post("/account/", {"name": name})

    assert answer.status_code == 422
    assert 'id="id_name_error"' in answer.content.decode()


def test_a_name_is_text_and_never_markup(as_viewer, viewer):
    as_viewer.post("/account/", {"name": "<script>alert(1)</script>"})

    assert "<script>alert" not in as_viewer.get("/account/").content.decode()


def test_anonymous_people_sign_in_first(anonymous):
    assert anonymous.get("/account/").headers["Location"] == "/account/login/?next=/account/"


def test_other_methods_are_refused(as_viewer):
    assert as_viewer.delete("/account/").status_code == 405


def test_times_are_in_the_chosen_zone(as_viewer, viewer, project):
    moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    Membership.objects.filter(user=viewer).update(created_at=moment)
    assert "data-time-zone" not in as_viewer.get("/p/alpha/members/").content.decode()

    answer = as_viewer.post("/account/", {"name": "Vera", "time_zone": "Asia/Tokyo"}, follow=True)
    page = as_viewer.get("/p/alpha/members/").content.decode()

    assert "Profile saved." in answer.content.decode()
    assert 'data-time-zone="Asia/Tokyo"' in page
    assert 'title="2 March 2026, 08:30 JST"' in page
    assert timezone.get_current_timezone_name() == "UTC"  # not of the next request


def test_an_unknown_zone_is_refused_and_one_that_is_gone_ignored(as_viewer, viewer):
    assert as_viewer.post("/account/", {"name": "Vera", "time_zone": "Mars/Base"}).status_code == 422
    User.objects.filter(pk=viewer.pk).update(time_zone="Mars/Base")
    assert as_viewer.get("/account/").status_code == 200
