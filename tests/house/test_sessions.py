"""Sessions: read by a prepared statement, and under every condition of Django's own."""

from datetime import timedelta

import pytest
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from wiggum_site.sessions import SessionStore

pytestmark = pytest.mark.django_db


@pytest.fixture
def key():
    store = SessionStore()
    store["colour"] = "green"
    store.save()
    return store.session_key


def test_a_session_is_read_as_django_reads_it(key):
    assert SessionStore(key)["colour"] == db.SessionStore(key)["colour"] == "green"


def test_sessions_of_djangos_own_store_stay_signed_in():
    before = db.SessionStore()
    before["colour"] = "blue"
    before.save()
    assert SessionStore(before.session_key)["colour"] == "blue"


def test_a_session_that_ran_out_is_none(key):
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))
    store = SessionStore(key)
    assert store.get("colour") is None
    assert store.session_key is None


@pytest.mark.parametrize("unknown", ["nobody-has-this-key", "", None])
def test_an_unknown_key_is_not_taken_over(unknown):
    store = SessionStore(unknown)
    assert store.get("colour") is None
    assert store.session_key is None


def test_an_ended_session_is_gone_at_once(key):
    assert SessionStore(key)["colour"] == "green"
    Session.objects.filter(pk=key).delete()
    assert SessionStore(key).get("colour") is None
