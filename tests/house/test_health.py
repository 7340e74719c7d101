"""/healthz reports that the process is running, /readyz that the instance can work."""

import threading
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from refinement.execution.workers import worker_beat, worker_leave
from refinement.models import Endpoint, WorkerBeat
from refinement.providers.base import Health
from refinement.selectors import health
from refinement.selectors.health import endpoint_health
from tests.loopback.fixtures import ollama_server
from wiggum_site import VERSION

__all__ = ["ollama_server"]
NOWHERE = "http://127.0.0.1:1"


@pytest.fixture(autouse=True)
def nothing_seen_yet(monkeypatch):
    """What an earlier test saw of the endpoints is forgotten, and Ollama is not there."""
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", NOWHERE)
    monkeypatch.delenv("WIGGUM_ENDPOINTS", raising=False)
    monkeypatch.delenv("WIGGUM_GGUF", raising=False)
    health.health_cache.forget()
    yield
    health.health_cache.forget()


def beat(seconds_ago: int) -> None:
    then = timezone.now() - timedelta(seconds=seconds_ago)
    WorkerBeat.objects.create(
        name=f"host:{seconds_ago}", started_at=then, seen_at=then, threads=1, version=VERSION
    )


def test_healthz_needs_no_login_and_no_database():
    response = Client().get("/healthz")  # a query would fail here: this test has no database
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "version": VERSION}


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_only_reading_is_allowed(anonymous, path):
    assert anonymous.post(path).status_code == 405


def test_ready_with_a_worker(anonymous):
    beat(19)
    response = anonymous.get("/readyz")
    body = response.json()
    assert response.status_code == 200
    assert [body[part]["ok"] for part in ("database", "broker", "worker", "endpoints")] == [True] * 4
    assert body["worker"]["message"] == "1 worker online"


def test_not_ready_without_a_living_worker(anonymous):
    beat(21)
    response = anonymous.get("/readyz")
    assert response.status_code == 503
    assert response.json()["worker"]["ok"] is False
    assert response.json()["database"]["ok"] is True


def test_not_ready_without_a_database(anonymous):
    with patch("django.db.backends.utils.CursorWrapper.execute", side_effect=OperationalError("secret")):
        response = anonymous.get("/readyz")
    assert response.status_code == 503
    assert [response.json()[part]["ok"] for part in ("database", "broker", "worker")] == [False] * 3
    assert b"secret" not in response.content


@pytest.mark.parametrize(
    ("url", "name"), [("redis://127.0.0.1:1/0", "Redis"), ("amqp://127.0.0.1:1/", "RabbitMQ")]
)
def test_not_ready_without_its_broker(anonymous, settings, url, name):
    settings.BROKER_URL = url
    beat(1)
    response = anonymous.get("/readyz")
    assert response.status_code == 503
    assert response.json()["broker"] == {
        "ok": False,
        "message": f"Queue: cannot send messages ({name} does not respond)",
    }


def test_a_worker_is_heard_leaves_and_is_forgotten(db):
    beat(61)
    now = timezone.now()
    worker_beat(name="host:1:a", started_at=now, threads=4)
    worker_beat(name="host:1:a", started_at=now, threads=4)
    assert list(WorkerBeat.objects.values_list("name", "threads")) == [("host:1:a", 4)]
    worker_leave(name="host:1:a")
    assert not WorkerBeat.objects.exists()


# --- endpoints ------------------------------------------------------------------------------------
def messages():
    return {state["name"]: (state["ok"], state["message"]) for state in endpoint_health()["endpoints"]}


def asked_instead(monkeypatch, answer):
    """Endpoints give this answer; who was asked is in the list."""
    asked = []

    def ask(spec):
        asked.append(spec.name)
        return answer(spec)

    monkeypatch.setattr(health, "ask", ask)
    return asked


def test_the_two_that_are_always_there_are_described_in_words(db, monkeypatch):
    monkeypatch.setattr("refinement.providers.embedded.ModelProcess", None)  # loading it would fail

    assert messages() == {
        "ollama": (False, f"Ollama is not responding at {NOWHERE}. Start it or set WIGGUM_OLLAMA_URL."),
        "embedded": (
            True,
            "Demo model: OK. Fine for a tour; too small to judge well.",
        ),
    }


def test_an_ollama_that_answers_says_so(db, monkeypatch, ollama_server):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    ok, message = messages()["ollama"]
    assert ok
    assert f"Ollama at {ollama_server.address} is online" in message


def test_a_model_file_of_ones_own_is_not_called_small(db, monkeypatch, tmp_path):
    monkeypatch.setenv("WIGGUM_GGUF", str(tmp_path / "missing.gguf"))
    ok, message = messages()["embedded"]
    assert not ok
    assert "which is not a file" in message


def test_endpoints_of_administrators_are_looked_at_too(db):
    Endpoint.objects.create(name="rack", kind="openai_compatible", url=NOWHERE)
    Endpoint.objects.create(name="off", kind="ollama", url=NOWHERE, enabled=False)
    found = messages()
    assert found["rack"][0] is False
    assert "off" not in found


def test_a_setting_that_cannot_be_read_is_said(db, monkeypatch, anonymous):
    monkeypatch.setenv("WIGGUM_ENDPOINTS", "[{]")
    part = endpoint_health()
    assert part["ok"] is False
    assert part["message"].startswith("WIGGUM_ENDPOINTS is not valid JSON")
    beat(1)
    assert anonymous.get("/readyz").status_code == 200


def test_they_are_asked_once_in_some_seconds_and_again_when_they_change(db, monkeypatch):
    asked = asked_instead(monkeypatch, lambda spec: Health(True, "Well."))
    endpoint_health()
    endpoint_health()
    assert sorted(asked) == ["embedded", "ollama"]

    Endpoint.objects.create(name="rack", kind="ollama", url=NOWHERE)
    assert "rack" in messages()

    asked.clear()
    monkeypatch.setattr(health, "CACHE_SECONDS", 0.0)
    endpoint_health()
    assert sorted(asked) == ["embedded", "ollama", "rack"]


def test_a_slow_one_holds_up_nobody(db, monkeypatch):
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.05)
    released = threading.Event()

    def answer(spec):
        if spec.name == "ollama":
            released.wait(30)
        return Health(True, "Well.")

    asked_instead(monkeypatch, answer)
    try:
        found = messages()
        assert not released.is_set()
    finally:
        released.set()
    assert found["ollama"] == (False, "ollama is not responding. Check the server.")


def test_one_that_breaks_is_said_to_be_unusable(db, monkeypatch):
    def answer(spec):
        raise ValueError("its address is odd.")

    asked_instead(monkeypatch, answer)
    part = endpoint_health()
    assert (part["ok"], part["message"]) == (False, "No model server available")
    assert messages()["ollama"] == (False, "ollama is not available: its address is odd.")


def test_readyz_stays_ready_without_endpoints_and_tells_no_addresses(anonymous, monkeypatch):
    asked_instead(monkeypatch, lambda spec: Health(False, f"{NOWHERE} says a secret"))
    beat(1)
    response = anonymous.get("/readyz")
    assert response.status_code == 200
    assert response.json()["endpoints"] == {
        "ok": False,
        "message": "No model server available",
        "endpoints": [
            {"name": "ollama", "ok": False, "message": "Not available"},
            {"name": "embedded", "ok": False, "message": "Not available"},
        ],
    }


def test_the_home_page_says_where_it_looked(as_editor, project):
    page = as_editor.get(f"/p/{project.slug}/").content.decode()
    assert f"Wiggum looked for Ollama at <code>{NOWHERE}</code>." in page
    assert "too small to judge well" in page
