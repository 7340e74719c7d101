"""Requests to Ollama, and how its responses are read."""

import pytest

from refinement.providers.base import ErrorKind, ModelInfo, ProviderError
from refinement.providers.ollama import OllamaProvider
from tests.loopback.faults import Fault
from tests.loopback.replies import Answer
from tests.loopback.server import LoopbackServer
from tests.providers.asking import MODEL, SCHEMA, ask, failure, wanted


def test_a_request_carries_what_decides_the_reply(ollama_server: LoopbackServer) -> None:
    reply = ask(
        OllamaProvider(ollama_server.address), wanted(schema=SCHEMA, context_tokens=4096, max_tokens=77)
    )
    body = ollama_server.chats[0].body
    assert body["options"] == {"temperature": 0.0, "num_predict": 77, "num_ctx": 4096}
    assert body["format"] == SCHEMA
    assert list(body["format"]["properties"]) == ["reasoning", "score"]
    assert body["keep_alive"] == "10m"
    assert body["stream"] is True
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "think" not in body
    assert reply.schema_used


def test_options_of_the_endpoint_reach_the_server(ollama_server: LoopbackServer) -> None:
    ask(OllamaProvider(ollama_server.address, {"keep_alive": "1h", "think": False}))
    body = ollama_server.chats[0].body
    assert (body["keep_alive"], body["think"]) == ("1h", False)
    assert "num_ctx" not in body["options"]
    assert "format" not in body


def test_a_reply_is_whole(ollama_server: LoopbackServer) -> None:
    ollama_server.replies = lambda asked: Answer(
        "Hats are warm.", thinking="Warm, I think.", prompt_tokens=20
    )
    heard: list[str] = []
    reply = ask(OllamaProvider(ollama_server.address), on_text=heard.append)
    assert (reply.text, reply.thinking, reply.model) == ("Hats are warm.", "Warm, I think.", MODEL)
    assert "".join(heard) == reply.text
    assert len(heard) > 1
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == (20, 8, None)
    assert reply.timings == pytest.approx({"load": 0.5, "prompt": 0.25, "generate": 1.25, "total": 2.0})
    assert not reply.cut
    assert not reply.schema_used


def test_a_reply_cut_by_its_limit_says_so(ollama_server: LoopbackServer) -> None:
    reply = ask(OllamaProvider(ollama_server.address), wanted(max_tokens=5))
    assert reply.cut
    assert len(reply.text) == 20


def test_a_prompt_that_was_cut_silently_is_an_error(ollama_server: LoopbackServer) -> None:
    error = failure(OllamaProvider(ollama_server.address), wanted("word " * 2000, context_tokens=2048))
    assert (error.kind, error.retryable) == (ErrorKind.CONTEXT_EXCEEDED, False)
    assert "2,048" in error.message


def test_models_have_family_and_size(ollama_server: LoopbackServer) -> None:
    provider = OllamaProvider(ollama_server.address)
    expected = ModelInfo(MODEL, "loopback", 9_276_198_565, "14.8B", None, f"digest-of-{MODEL}")
    assert provider.models()[0] == expected
    assert provider.model_info(MODEL).context_length == 40_960
    assert provider.models()[0].context_length == 40_960


def test_a_context_length_is_asked_once_for_each_digest(ollama_server: LoopbackServer) -> None:
    provider = OllamaProvider(ollama_server.address)
    for _ in range(3):
        provider.model_info(MODEL)
    assert [entry.path for entry in ollama_server.log].count("/api/show") == 1


def test_the_latest_tag_may_be_left_out(ollama_server: LoopbackServer) -> None:
    ollama_server.models = ("mistral:latest",)
    assert OllamaProvider(ollama_server.address).model_info("mistral").name == "mistral:latest"


def test_information_about_a_missing_model_says_how_to_fetch_it(ollama_server: LoopbackServer) -> None:
    with pytest.raises(ProviderError, match="ollama pull nobody") as caught:
        OllamaProvider(ollama_server.address).model_info("nobody")
    assert caught.value.kind is ErrorKind.MODEL_MISSING


@pytest.mark.parametrize("path", ["/api/tags", "/api/show"])
def test_a_list_that_fails_is_sorted(ollama_server: LoopbackServer, path: str) -> None:
    ollama_server.faults = [Fault("status", role=path, status=500, message="{}")]
    with pytest.raises(ProviderError) as caught:
        OllamaProvider(ollama_server.address).model_info(MODEL)
    assert caught.value.retryable


def test_health_tells_the_version(ollama_server: LoopbackServer) -> None:
    health = OllamaProvider(ollama_server.address).health()
    assert health.ok
    assert "0.12.0" in health.message


@pytest.mark.parametrize(("status", "body"), [(200, "<html>"), (200, "{}"), (200, "[]"), (500, "oops")])
def test_something_else_on_the_port_is_not_healthy(
    ollama_server: LoopbackServer, status: int, body: str
) -> None:
    ollama_server.faults = [Fault("status", role="/api/version", status=status, message=body)]
    health = OllamaProvider(ollama_server.address).health()
    assert not health.ok
    assert "127.0.0.1" in health.message


def test_a_key_comes_from_its_own_variable_alone(
    ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "meant-for-another-host")
    monkeypatch.setenv("HATS_KEY", "felt")
    ask(OllamaProvider(ollama_server.address))
    ask(OllamaProvider(ollama_server.address, api_key_variable="HATS_KEY"))
    first, second = ollama_server.chats
    assert "authorization" not in first.headers
    assert second.headers["authorization"] == "Bearer felt"


@pytest.mark.parametrize("line", [b"[1]\n", b'{"message": 5}\n', b"\xff\xfe\n"])
def test_a_line_of_another_shape_is_a_bad_reply(
    ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    monkeypatch.setattr("tests.loopback.protocols.ollama_parts", lambda *_: [line])
    error = failure(OllamaProvider(ollama_server.address))
    assert (error.kind, error.retryable) == (ErrorKind.BAD_REPLY, True)


def test_passwords_in_an_address_are_not_shown() -> None:
    assert "secret" not in OllamaProvider("http://me:secret@127.0.0.1:9").where
