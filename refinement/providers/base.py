"""The interface of all providers: one request, one reply, errors by kind.

A new kind of endpoint needs a class with the methods of `Provider` and an entry in `registry.FACTORIES`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

Schema = Mapping[str, object]


class ErrorKind(StrEnum):
    """The kinds of failure. `sorting.py` has a table of their causes, `retrying.py` says when to retry."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    MODEL_MISSING = "model_missing"
    CONTEXT_EXCEEDED = "context_exceeded"
    REFUSED = "refused"
    BAD_REPLY = "bad_reply"


class ProviderError(Exception):
    """A call without a reply. `message` is for users: what happened and what to do."""

    def __init__(
        self, kind: ErrorKind, message: str, *, retryable: bool, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after  # seconds, if the server sent them


class Cancelled(Exception):
    """The caller cancelled the call; the model did not fail."""


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # system, user or assistant
    content: str


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A prompt and its options."""

    model: str
    messages: Sequence[Message]
    temperature: float = 0.0
    max_tokens: int = 1024
    context_tokens: int | None = None  # the context window, for endpoints where it can be set
    schema: Schema | None = None  # the JSON schema of the reply, for endpoints that support it
    role: str = "producer"  # judge or producer: selects a cache slot or a script's lines
    slot: int | None = None  # the cache slot to use, for endpoints that have them


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply. It has text: an empty reply is a ProviderError."""

    text: str
    thinking: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None  # of the prompt tokens, if the endpoint reports them
    seconds: float = 0.0
    finish_reason: str = "stop"  # stop, or length if the reply reached its limit
    schema_used: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)  # load, prompt, generate: seconds

    @property
    def cut(self) -> bool:
        """Whether the reply reached its length limit."""
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    name: str
    family: str = ""
    size_bytes: int | None = None
    parameters: str = ""  # as the server shows it, such as 14.8B
    context_length: int | None = None
    digest: str = ""  # changes with the model's weights or settings; empty if the server tells none


@dataclass(frozen=True, slots=True)
class Health:
    ok: bool
    message: str = ""


@dataclass(slots=True)
class CallControl:
    """How a caller follows and cancels a call.

    `is_cancelled` is called from a watcher thread a few times a second while the call runs. `on_text` is
    called with each piece of the reply, in the caller's thread.
    """

    deadline_seconds: float = 600.0
    is_cancelled: Callable[[], bool] = field(default=lambda: False)
    on_text: Callable[[str], None] = field(default=lambda piece: None)


class Provider(Protocol):
    """One endpoint. Instances are shared between threads; get them from `registry.build`."""

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """Sends the request and waits for the whole reply.

        Raises ProviderError if there is no reply, also when the deadline passes, and Cancelled within a
        second after the control's `is_cancelled` returns True. Does not retry: that is the caller's choice.
        """
        ...

    def models(self) -> list[ModelInfo]:
        """The available models, with family and context length if known; raises ProviderError."""
        ...

    def model_info(self, name: str) -> ModelInfo:
        """One model's details; raises ProviderError, of kind MODEL_MISSING if the endpoint lacks it."""
        ...

    def health(self) -> Health:
        """Whether the endpoint works now; never raises, and returns within a few seconds."""
        ...


@runtime_checkable
class Embeds(Protocol):
    """A provider whose endpoint has embedding models."""

    def embed(self, model: str, texts: Sequence[str], *, seconds: float) -> list[list[float]]:
        """A vector for each text, in order; raises ProviderError, also when the time is over."""
        ...
