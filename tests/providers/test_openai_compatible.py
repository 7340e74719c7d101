"""OpenAI's protocol: requests, fallbacks, the key, and responses."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from refinement.providers.base import ErrorKind, ProviderError
from refinement.providers.openai_compatible import OpenAICompatibleProvider, family_of
from tests.loopback import protocols
from tests.loopback.connection import Connection
from tests.loopback.faults import Fault
from tests.loopback.replies import Answer
from tests.loopback.server import Entry, LoopbackServer
from tests.providers.asking import MODEL, SCHEMA, ask, failure, wanted

Parts = Callable[[list[bytes]], None]


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> Parts:
    """Has the server answer with these parts, whatever was asked."""
    return lambda parts: monkeypatch.setattr("tests.loopback.protocols.openai_parts", lambda *_: parts)


@pytest.fixture
def picky(ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Has the server refuse requests that its rule complains about."""
    usual = LoopbackServer._chat

    def install(complaint: Callable[[dict[str, Any]], str]) -> None:
        async def chat(self: LoopbackServer, entry: Entry, connection: Connection) -> None:
            words = complaint(entry.body)
            if words:
                connection.respond(400, json.dumps({"error": {"message": words}}).encode())
            else:
                await usual(self, entry, connection)

        monkeypatch.setattr(LoopbackServer, "_chat", chat)

    return install


def test_a_request_carries_what_decides_the_reply(ollama_server: LoopbackServer) -> None:
    reply = ask(OpenAICompatibleProvider(ollama_server.address), wanted(schema=SCHEMA, max_tokens=77))
    body = ollama_server.chats[0].body
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (body["max_tokens"], body["temperature"], body["stream"]) == (77, 0.0, True)
    assert body["stream_options"] == {"include_usage": True}
    assert reply.schema_used
    assert reply.prompt_tokens > 0
    assert reply.cached_tokens == reply.prompt_tokens // 2


def test_thinking_is_kept_apart(ollama_server: LoopbackServer) -> None:
    ollama_server.replies = lambda asked: Answer("Hats.", thinking="Hm.")
    heard: list[str] = []
    reply = ask(OpenAICompatibleProvider(ollama_server.address), on_text=heard.append)
    assert (reply.text, reply.thinking, "".join(heard)) == ("Hats.", "Hm.", "Hats.")


def test_a_reply_cut_by_its_limit_says_so(ollama_server: LoopbackServer) -> None:
    assert ask(OpenAICompatibleProvider(ollama_server.address), wanted(max_tokens=5)).cut


@pytest.mark.parametrize(
    ("refused", "forms"),
    [
        ({"json_schema"}, ["json_schema", "json_object", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", None, None]),
    ],
)
def test_a_form_the_server_does_not_know_is_given_up_and_remembered(
    ollama_server: LoopbackServer,
    picky: Callable[[Any], None],
    refused: set[str],
    forms: list[str | None],
) -> None:
    def form(body: dict[str, Any]) -> str | None:
        return (body.get("response_format") or {}).get("type")

    picky(lambda body: "response_format is not supported" if form(body) in refused else "")
    provider = OpenAICompatibleProvider(ollama_server.address)
    first, second = ask(provider, wanted(schema=SCHEMA)), ask(provider, wanted(schema=SCHEMA))
    assert not first.schema_used
    assert not second.schema_used
    assert [form(entry.body) for entry in ollama_server.chats] == forms


@pytest.mark.parametrize(
    ("words", "field", "instead"),
    [
        ("Unsupported parameter: use 'max_completion_tokens'", "max_tokens", "max_completion_tokens"),
        ("'temperature' does not support 0", "temperature", None),
        ("unknown field stream_options", "stream_options", None),
    ],
)
def test_fields_a_model_refuses_are_left_out(
    ollama_server: LoopbackServer, picky: Callable[[Any], None], words: str, field: str, instead: str | None
) -> None:
    picky(lambda body: words if field in body else "")
    assert ask(OpenAICompatibleProvider(ollama_server.address)).text
    last = ollama_server.chats[-1].body
    assert field not in last
    assert instead is None or last[instead] == 1024


def test_another_complaint_is_not_taken_for_one_about_the_form(
    ollama_server: LoopbackServer, picky: Callable[[Any], None]
) -> None:
    picky(lambda body: "messages must alternate")
    error = failure(OpenAICompatibleProvider(ollama_server.address), wanted(schema=SCHEMA))
    assert (error.kind, error.retryable) == (ErrorKind.BAD_REPLY, False)
    assert "messages must alternate" in error.message
    assert len(ollama_server.chats) == 1


def test_the_key_comes_from_the_environment(
    ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATS_KEY", "felt-and-straw")
    ask(OpenAICompatibleProvider(ollama_server.address, "HATS_KEY"))
    assert ollama_server.chats[0].headers["authorization"] == "Bearer felt-and-straw"


def test_a_missing_key_names_its_variable(
    ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HATS_KEY", raising=False)
    error = failure(OpenAICompatibleProvider(ollama_server.address, "HATS_KEY"))
    assert (error.kind, error.retryable) == (ErrorKind.REFUSED, False)
    assert "HATS_KEY" in error.message
    assert ollama_server.log == []


@pytest.mark.parametrize("kind", ["status", "error_object"])
def test_a_key_that_the_server_repeats_is_not_shown(
    ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("HATS_KEY", "felt-and-straw")
    ollama_server.faults = [Fault(kind, status=401, message="wrong key felt-and-straw")]
    error = failure(OpenAICompatibleProvider(ollama_server.address, "HATS_KEY"))
    assert "felt-and-straw" not in error.message
    assert "[key]" in error.message


def test_a_refused_key_names_its_variable(
    ollama_server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATS_KEY", "felt")
    ollama_server.faults = [Fault("status", status=403)]
    error = failure(OpenAICompatibleProvider(ollama_server.address, "HATS_KEY"))
    assert error.kind is ErrorKind.REFUSED
    assert "HATS_KEY" in error.message


def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    return protocols.event({"choices": [{"delta": delta, "finish_reason": reason}]})


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([chunk({"refusal": "I would rather not"}), chunk({}, "stop")], "I would rather not"),
        ([chunk({"content": "So"}), chunk({}, "content_filter")], "content filter"),
    ],
)
def test_a_refusal_is_final(
    ollama_server: LoopbackServer, say: Parts, parts: list[bytes], words: str
) -> None:
    say(parts)
    error = failure(OpenAICompatibleProvider(ollama_server.address))
    assert (error.kind, error.retryable) == (ErrorKind.REFUSED, False)
    assert words in error.message


def test_figures_of_llama_cpp_are_read(ollama_server: LoopbackServer, say: Parts) -> None:
    timings = {"prompt_ms": 250.0, "predicted_ms": 1500.0, "cache_n": 90}
    end = protocols.event({"choices": [], "model": "other", "timings": timings})
    say([b": a comment\r\n\r\n", chunk({"content": "Hats."}), chunk({}, "stop"), end])
    reply = ask(OpenAICompatibleProvider(ollama_server.address))
    assert reply.timings == pytest.approx({"prompt": 0.25, "generate": 1.5})
    assert (reply.cached_tokens, reply.model) == (90, "other")


def test_a_server_that_does_not_stream_is_understood(ollama_server: LoopbackServer, say: Parts) -> None:
    whole = {
        "choices": [{"message": {"content": "Hats."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9},
    }
    say([json.dumps(whole, indent=1).encode()])
    reply = ask(OpenAICompatibleProvider(ollama_server.address))
    assert (reply.text, reply.prompt_tokens) == ("Hats.", 9)


@pytest.mark.parametrize("line", [b"data: [1]\n\n", b"data: {\n\n"])
def test_an_event_of_another_shape_is_a_bad_reply(
    ollama_server: LoopbackServer, say: Parts, line: bytes
) -> None:
    say([line])
    error = failure(OpenAICompatibleProvider(ollama_server.address))
    assert (error.kind, error.retryable) == (ErrorKind.BAD_REPLY, True)


def test_an_error_line_in_the_stream_is_an_error(ollama_server: LoopbackServer, say: Parts) -> None:
    say([chunk({"content": "So"}), b'error: {"message": "out of memory"}\n\n'])
    assert "out of memory" in failure(OpenAICompatibleProvider(ollama_server.address)).message


def test_models_are_listed_with_family_and_context(ollama_server: LoopbackServer) -> None:
    provider = OpenAICompatibleProvider(ollama_server.address + "/v1/")
    info = provider.model_info(MODEL)
    assert (info.family, info.context_length) == ("loopback", 40_960)
    with pytest.raises(ProviderError, match="no model named nobody"):
        provider.model_info("nobody")
    health = provider.health()
    assert health.ok
    assert "online with 2 models" in health.message


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, "<html>", "web page"),
        (200, "[]", "unreadable reply"),
        (401, "{}", "refused"),
        (200, '{"data": [5]}', "read"),
    ],
)
def test_a_list_that_fails_is_said(ollama_server: LoopbackServer, status: int, body: str, words: str) -> None:
    ollama_server.faults = [Fault("status", role="/v1/models", status=status, message=body)]
    health = OpenAICompatibleProvider(ollama_server.address).health()
    assert not health.ok
    assert words in health.message


def test_one_model_of_llama_cpp(ollama_server: LoopbackServer) -> None:
    entry = {"id": "Qwen/Qwen3-4B", "meta": {"n_ctx": 8192, "n_ctx_train": 40960, "size": 5}}
    ollama_server.faults = [
        Fault("status", role="/v1/models", status=200, message=json.dumps({"data": [entry]}))
    ]
    info = OpenAICompatibleProvider(ollama_server.address).models()[0]
    assert (info.family, info.context_length, info.size_bytes) == ("qwen", 8192, 5)
    assert "online with 1 model." in OpenAICompatibleProvider(ollama_server.address).health().message


@pytest.mark.parametrize(
    ("name", "family"),
    [("gpt-4o", "gpt"), ("meta-llama/Llama-3.1-8B", "llama"), ("7b", ""), ("qwen3:14b", "qwen")],
)
def test_a_family_is_read_from_the_name(name: str, family: str) -> None:
    assert family_of(name) == family
