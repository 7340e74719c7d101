"""Every fault, with every HTTP provider: kind, retry and message."""

import pytest

from refinement.providers.base import ErrorKind
from refinement.providers.ollama import OllamaProvider
from refinement.providers.openai_compatible import OpenAICompatibleProvider
from tests.loopback.faults import Fault
from tests.loopback.replies import Answer
from tests.loopback.server import LoopbackServer
from tests.providers.asking import MAKERS, ask, failure, wanted

FAULTS = [
    (Fault("drop"), ErrorKind.UNREACHABLE, True, "cannot be reached"),
    (Fault("reset"), ErrorKind.BAD_REPLY, True, "in the middle of its reply"),
    (Fault("cut"), ErrorKind.BAD_REPLY, True, "in the middle of its reply"),
    (Fault("status"), ErrorKind.BAD_REPLY, True, "status 500: the server stumbled"),
    (Fault("status", status=503), ErrorKind.UNREACHABLE, True, "busy or temporarily unavailable"),
    (Fault("status", status=401), ErrorKind.REFUSED, False, "refused the request (status 401"),
    (Fault("status", status=418), ErrorKind.BAD_REPLY, False, "Check the server's settings"),
    (
        Fault("status", status=429, message="You exceeded your current quota"),
        ErrorKind.REFUSED,
        False,
        "quota is exceeded",
    ),
    (Fault("rate_limit", retry_after="7"), ErrorKind.UNREACHABLE, True, "status 429"),
    (Fault("hang"), ErrorKind.TIMEOUT, True, "within 0.5 seconds"),
    (Fault("html"), ErrorKind.BAD_REPLY, False, "web page"),
    (Fault("unknown_model"), ErrorKind.MODEL_MISSING, False, "no model named loopback:1b"),
    (Fault("context_exceeded"), ErrorKind.CONTEXT_EXCEEDED, False, "9031 tokens"),
    (Fault("empty"), ErrorKind.BAD_REPLY, True, "empty reply"),
    (Fault("truncated_line"), ErrorKind.BAD_REPLY, True, "unreadable reply"),
    (Fault("error_object"), ErrorKind.BAD_REPLY, True, "llama runner process has terminated"),
    (
        Fault("error_object", message="the prompt exceeds the context length"),
        ErrorKind.CONTEXT_EXCEEDED,
        False,
        "context window",
    ),
]


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    ("fault", "expected", "retryable", "words"), FAULTS, ids=[f"{row[0].kind}-{row[1]}" for row in FAULTS]
)
def test_a_fault_is_sorted(
    ollama_server: LoopbackServer,
    kind: str,
    fault: Fault,
    expected: ErrorKind,
    retryable: bool,
    words: str,
) -> None:
    ollama_server.faults = [fault]
    seconds = 0.5 if fault.kind == "hang" else 60
    error = failure(MAKERS[kind](ollama_server), deadline_seconds=seconds)
    assert (error.kind, error.retryable) == (expected, retryable)
    assert words in error.message
    assert error.message == str(error)
    assert error.message.endswith((".", "loopback:1b"))


@pytest.mark.parametrize("kind", MAKERS)
def test_a_closed_port_is_unreachable(ollama_server: LoopbackServer, kind: str) -> None:
    provider = MAKERS[kind](ollama_server)
    ask(provider)
    ollama_server.go_offline()
    error = failure(provider)
    assert (error.kind, error.retryable) == (ErrorKind.UNREACHABLE, True)
    assert f"127.0.0.1:{ollama_server.port}" in error.message
    assert not provider.health().ok
    ollama_server.go_online()
    assert ask(provider).text


@pytest.mark.parametrize("kind", MAKERS)
def test_retry_after_reaches_the_caller(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("rate_limit", retry_after="7")]
    assert failure(MAKERS[kind](ollama_server)).retry_after == 7


@pytest.mark.parametrize("kind", MAKERS)
def test_a_slow_first_byte_is_waited_for(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("slow_first_byte", seconds=0.5)]
    assert ask(MAKERS[kind](ollama_server)).seconds >= 0.5


@pytest.mark.parametrize("kind", MAKERS)
def test_an_unknown_model_is_missing(ollama_server: LoopbackServer, kind: str) -> None:
    error = failure(MAKERS[kind](ollama_server), wanted(model="nobody:7b"))
    assert error.kind is ErrorKind.MODEL_MISSING
    assert "nobody:7b" in error.message


@pytest.mark.parametrize("kind", MAKERS)
def test_a_prompt_beyond_its_window_is_not_even_sent(ollama_server: LoopbackServer, kind: str) -> None:
    error = failure(MAKERS[kind](ollama_server), wanted("x" * 20_000, context_tokens=2048))
    assert (error.kind, error.retryable) == (ErrorKind.CONTEXT_EXCEEDED, False)
    assert ollama_server.chats == []


@pytest.mark.parametrize("kind", MAKERS)
def test_only_the_named_call_meets_the_fault(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("status", nth=(2,))]
    provider = MAKERS[kind](ollama_server)
    assert ask(provider).text
    assert failure(provider).kind is ErrorKind.BAD_REPLY
    assert ask(provider).text


@pytest.mark.parametrize("kind", MAKERS)
def test_a_reply_that_is_all_thinking_says_so(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.replies = lambda asked: Answer("", thinking="hmm " * 10, finish_reason="length")
    error = failure(MAKERS[kind](ollama_server))
    assert (error.kind, error.retryable) == (ErrorKind.BAD_REPLY, False)
    assert "thinking" in error.message


@pytest.mark.parametrize("kind", MAKERS)
def test_an_address_that_moved_is_not_followed(ollama_server: LoopbackServer, kind: str) -> None:
    ollama_server.faults = [Fault("status", status=307)]
    error = failure(MAKERS[kind](ollama_server))
    assert (error.kind, error.retryable) == (ErrorKind.BAD_REPLY, False)
    assert len(ollama_server.log) == 1


@pytest.mark.parametrize("kind", MAKERS)
def test_no_proxy_of_the_environment_is_asked(
    ollama_server: LoopbackServer, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(MAKERS[kind](ollama_server)).text


@pytest.mark.parametrize("provider", [OllamaProvider, OpenAICompatibleProvider])
@pytest.mark.parametrize("key", ["felt\r\nX-Admin: 1", "f\u00e9lt"])
def test_a_key_that_no_header_can_hold_is_neither_sent_nor_shown(
    ollama_server: LoopbackServer, provider: type, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATS_KEY", key)
    error = failure(provider(ollama_server.address, api_key_variable="HATS_KEY"))
    assert (error.kind, error.retryable) == (ErrorKind.REFUSED, False)
    assert "HATS_KEY" in error.message
    assert key[:2] not in error.message
    assert ollama_server.log == []
