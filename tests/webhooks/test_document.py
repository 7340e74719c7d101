"""The instructions in docs/webhooks.md work as written."""

import json
import re
from pathlib import Path

import pytest

from refinement.models import WebhookEvent
from refinement.webhooks.signing import secret_make, signature_header

DOCUMENT = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text()
SECRET, BODY, AT = secret_make(), b'{"event": "ping"}', 1_800_000_000
HEADER = signature_header(SECRET, BODY, AT)


@pytest.fixture(scope="module")
def is_genuine():
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.S)
    names: dict = {}
    exec(code, names)
    return names["is_genuine"]


@pytest.mark.parametrize("late", [-299, 0, 299])
def test_what_was_sent_is_taken(is_genuine, late):
    assert is_genuine(SECRET, HEADER, BODY, now=AT + late)


@pytest.mark.parametrize("late", [-301, 301, 86_400])
def test_an_old_message_is_refused_whoever_sends_it(is_genuine, late):
    assert not is_genuine(SECRET, HEADER, BODY, now=AT + late)
    assert not is_genuine(SECRET, HEADER, BODY)


def test_a_changed_body_and_a_wrong_secret_are_refused(is_genuine):
    assert not is_genuine(SECRET, HEADER, BODY + b" ", now=AT)
    assert not is_genuine(secret_make(), HEADER, BODY, now=AT)


def test_another_time_is_not_covered_by_the_signature(is_genuine):
    assert not is_genuine(SECRET, HEADER.replace(f"t={AT}", f"t={AT + 600}"), BODY, now=AT + 600)


@pytest.mark.parametrize(
    "header", ["", "t=1", "v1=ab", "t=x,v1=ab", f"t={AT},v1=", f"t={AT},v1=é", "nonsense"]
)
def test_nonsense_is_refused(is_genuine, header):
    assert not is_genuine(SECRET, header, BODY, now=AT)


def test_the_document_names_every_event_and_its_example_is_json():
    assert set(WebhookEvent.values) <= set(re.findall(r"^\| `([\w.]+)`", DOCUMENT, re.M))
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENT, re.S)
    assert json.loads(example)["run"]["best"] == "9.100000"
