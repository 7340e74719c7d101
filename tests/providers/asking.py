"""Shorthands for calls to providers in tests."""

import threading
from collections.abc import Callable
from typing import Any

from refinement.providers.base import CallControl, CompletionRequest, Message, Provider, ProviderError, Reply
from refinement.providers.ollama import OllamaProvider
from refinement.providers.openai_compatible import OpenAICompatibleProvider
from tests.loopback.server import LoopbackServer

MODEL = "loopback:1b"
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "number"}},
    "required": ["reasoning", "score"],
}
MAKERS: dict[str, Callable[[LoopbackServer], Provider]] = {
    "ollama": lambda server: OllamaProvider(server.address),
    "openai": lambda server: OpenAICompatibleProvider(server.address),
}


def wanted(text: str = "Write about hats.", **changes: Any) -> CompletionRequest:
    messages = [Message("system", "You write."), Message("user", text)]
    return CompletionRequest(**{"model": MODEL, "messages": messages, **changes})


def ask(provider: Provider, request: CompletionRequest | None = None, **control: Any) -> Reply:
    return provider.complete(request or wanted(), CallControl(**control))


def failure(provider: Provider, request: CompletionRequest | None = None, **control: Any) -> ProviderError:
    """The error of the call; the test fails if there is a reply."""
    try:
        reply = ask(provider, request, **control)
    except ProviderError as error:
        return error
    raise AssertionError(f"expected an error, got {reply}")


class Stopper:
    """A cancel button."""

    def __init__(self) -> None:
        self._pressed = threading.Event()

    def press(self) -> None:
        self._pressed.set()

    def __call__(self) -> bool:
        return self._pressed.is_set()
