"""Connecting a model: find, test, check and save; other members see whom to ask."""

import pytest

from refinement.forms.endpoints import default_name, kind_at
from refinement.models import Endpoint, ModelCheck
from refinement.selectors.launch.available_models import offers
from tests.loopback.fixtures import ollama_server
from tests.loopback.replies import Answer

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db
CONNECT = "/connect/"


@pytest.fixture
def boss(as_owner, owner, monkeypatch):
    owner.is_superuser = True
    owner.save(update_fields=["is_superuser"])
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", "http://127.0.0.1:9")
    offers.forget()
    yield as_owner
    offers.forget()


@pytest.fixture
def typed(ollama_server):
    return {
        "url": f"{ollama_server.address}/v1",
        "kind": "openai_compatible",
        "name": "lab",
        "api_key_variable": "",
    }


def test_others_see_who_to_ask(boss, as_editor, owner):
    page = as_editor.get(CONNECT).content.decode()
    assert "Who to ask" in page
    assert owner.display_name in page
    assert "Test connection" not in page
    assert as_editor.post(CONNECT, {"do": "save"}).status_code == 403


def test_it_says_where_ollama_was_looked_for(boss):
    page = boss.get(CONNECT).content.decode()
    assert "not found" in page
    assert "http://127.0.0.1:9" in page
    assert "ollama pull" in page


def test_what_ollama_offers_is_listed_and_checked(boss, ollama_server, monkeypatch):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    assert "loopback:8b" in boss.get(CONNECT).content.decode()
    ollama_server.replies = lambda asked: Answer('{"reasoning": "Short.", "score": 3}')
    page = boss.post(CONNECT, {"endpoint": "ollama", "model": "loopback:8b", "do": "check"}).content.decode()
    assert "Ready to judge" in page
    assert "Ready to judge" in boss.get(CONNECT).content.decode()  # kept for later


def test_a_check_is_kept_for_everybody_until_the_model_is_checked_again_or_the_server_moves(
    boss, as_editor, ollama_server, monkeypatch
):
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    sent = {"endpoint": "ollama", "model": "loopback:8b", "do": "check"}
    ollama_server.replies = lambda asked: Answer("It is fine, 7 of 10.")
    assert "Wrong reply format" in boss.post(CONNECT, sent).content.decode()
    assert "Wrong reply format" in as_editor.get(CONNECT).content.decode()
    ollama_server.replies = lambda asked: Answer('{"reasoning": "Short.", "score": 3}')
    boss.post(CONNECT, sent)
    page = as_editor.get(CONNECT).content.decode()
    assert "Ready to judge" in page
    assert "Wrong reply format" not in page
    ModelCheck.objects.update(address="http://127.0.0.1:9")
    assert "Ready to judge" not in as_editor.get(CONNECT).content.decode()


def test_a_connection_is_tested_with_a_real_request_and_nothing_is_saved(boss, typed, ollama_server):
    page = boss.post(CONNECT, {**typed, "do": "test"}).content.decode()
    assert "Connected" in page
    assert "loopback:1b" in page
    assert not Endpoint.objects.exists()
    checked = boss.post(CONNECT, {**typed, "do": "check", "model": "loopback:1b"}).content.decode()
    assert "loopback:1b" in checked
    assert "preflight" in checked


def test_a_name_is_made_from_the_address(boss, typed):
    answer = boss.post(CONNECT, {**typed, "name": "", "do": "test"})
    assert "Connected" in answer.content.decode()
    assert answer.context["form"]["name"].value() == "server"
    boss.post(CONNECT, {**typed, "name": "", "do": "save"})
    assert Endpoint.objects.get().name == "server"
    assert default_name(typed["url"]) == "server-2"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://gpu.example.org/v1", "gpu"),
        ("https://api.lab.example.org/v1", "lab"),
        ("http://localhost:8000", "local"),
        ("gpu-7:11434", "gpu-7"),
        ("http://[::1]:8000", "server"),
        ("http://ollama:11434", "ollama-2"),
    ],
)
def test_the_name_is_short_and_free(db, url, name):
    assert default_name(url) == name


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://gpu.example.org:11434", "ollama"),
        ("gpu-7:11434/", "ollama"),
        ("http://gpu.example.org:11434/v1", "openai_compatible"),
        ("https://api.example.org/v1", "openai_compatible"),
        ("http://gpu:port", "openai_compatible"),
    ],
)
def test_the_kind_is_found_from_the_address(url, kind):
    assert kind_at(url) == kind


def test_without_a_kind_it_is_found(boss, typed):
    assert "Connected" in boss.post(CONNECT, {**typed, "kind": "", "do": "test"}).content.decode()


def test_a_server_that_is_not_there_is_said_plainly(boss, typed):
    page = boss.post(CONNECT, {**typed, "url": "http://127.0.0.1:9/v1", "do": "test"}).content.decode()
    assert "No connection" in page
    assert "Cannot connect to http://127.0.0.1:9/v1" in page


@pytest.mark.parametrize("do", ["test", "save"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"url": "ftp://x"}, "http"),
        ({"api_key_variable": "SECRET_KEY"}, "cannot be used for a key"),
        ({"name": "ollama"}, "already has this name"),
        ({"url": ""}, "required"),
    ],
)
def test_what_cannot_be_one_is_said_beside_its_field(boss, typed, do, change, words):
    answer = boss.post(CONNECT, {**typed, **change, "do": do})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Endpoint.objects.exists()


def test_a_saved_server_is_offered_at_once(boss, typed):
    page = boss.post(CONNECT, {**typed, "do": "save"}, follow=True).content.decode()
    assert Endpoint.objects.get().name == "lab"
    assert "lab is connected" in page
    assert "loopback:8b" in page
