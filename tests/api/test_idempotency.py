"""A create request that is sent twice has one effect and one response."""

from datetime import timedelta

import pytest
from django.utils import timezone

from refinement.models import IdempotencyKey
from refinement.services.idempotency import (
    KeyInFlight,
    KeyReused,
    key_complete,
    key_release,
    key_take,
    keys_clean,
)

pytestmark = pytest.mark.django_db
ONE = {"sender": "token:1", "key": "one", "fingerprint": "a" * 64}


def test_a_name_is_taken_once_and_keeps_its_answer():
    taken = key_take(**ONE)
    with pytest.raises(KeyInFlight):
        key_take(**ONE)
    key_complete(taken, status=201, body='{"id": 1}', headers={"Location": "/x"})
    again = key_take(**ONE)
    assert (again.status, again.body, again.headers) == (201, '{"id": 1}', {"Location": "/x"})
    with pytest.raises(KeyReused):
        key_take(**{**ONE, "fingerprint": "b" * 64})
    assert key_take(**{**ONE, "sender": "token:2"}).status is None


def test_a_name_that_somebody_left_is_taken_up_and_the_slow_one_writes_nothing():
    slow = key_take(**ONE)
    IdempotencyKey.objects.update(taken_at=timezone.now() - timedelta(seconds=61))
    heir = key_take(**ONE)
    assert heir.attempt == slow.attempt + 1
    with pytest.raises(KeyInFlight):
        key_complete(slow, status=201, body="{}", headers={})
    key_release(slow)
    key_complete(heir, status=201, body="{}", headers={})
    assert key_take(**ONE).status == 201


def test_names_are_kept_for_a_day():
    key_take(**ONE)
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=23, minutes=59))
    assert keys_clean() == 0
    IdempotencyKey.objects.update(created_at=timezone.now() - timedelta(hours=24, minutes=1))
    assert keys_clean() == 1
