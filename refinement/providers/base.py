"""What every place that serves models promises: one request, one reply, sorted errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

Schema = Mapping[str, object]


class ErrorKind(StrEnum):
    """The sorts of failure; what to do next depends on these alone."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    MODEL_MISSING = "model_missing"
    CONTEXT_EXCEEDED = "context_exceeded"
    REFUSED = "refused"
    BAD_REPLY = "bad_reply"


class ProviderError(Exception):
    """A call that gave no reply. `message` is a sentence for people: what happened and what to do."""

    def __init__(
        self, kind: ErrorKind, message: str, *, retryable: bool, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after = retry_after  # seconds, when the server named them


class Cancelled(Exception):
    """The caller asked to stop; nothing was wrong with the model."""


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # system, user or assistant
    content: str


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """Everything that decides a reply."""

    model: str
    messages: Sequence[Message]
    temperature: float = 0.0
    max_tokens: int = 1024
    context_tokens: int | None = None  # the window to ask for, where the endpoint lets one choose
    schema: Schema | None = None  # the JSON schema the reply must follow, where supported
    role: str = "producer"  # judge, producer or reflect: slots and scripts go by it
    slot: int | None = None  # the cache slot to use, where the endpoint has some


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, whole."""

    text: str
    thinking: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int | None = None  # of the prompt tokens, where the endpoint tells
    seconds: float = 0.0
    finish_reason: str = "stop"  # stop, or length when the reply hit its limit
    schema_used: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)  # load, prompt, generate: seconds

    @property
    def cut(self) -> bool:
        return self.finish_reason == "length"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    name: str
    family: str = ""
    size_bytes: int | None = None
    parameters: str = ""  # as the server words it, such as 14.8B
    context_length: int | None = None


@dataclass(frozen=True, slots=True)
class Health:
    ok: bool
    message: str = ""


@dataclass(slots=True)
class CallControl:
    """How a caller follows and cancels a call. A watcher thread asks `is_cancelled` while the call runs."""

    deadline_seconds: float = 600.0
    is_cancelled: Callable[[], bool] = field(default=lambda: False)
    on_text: Callable[[str], None] = field(default=lambda piece: None)


class Provider(Protocol):
    """One endpoint. Instances are shared between threads."""

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """The model's reply; raises ProviderError or Cancelled, within a second of either's cause."""
        ...

    def models(self) -> list[ModelInfo]:
        """What can be asked for here, with family and context length where known."""
        ...

    def model_info(self, name: str) -> ModelInfo:
        """What is known of one model; raises ProviderError when the endpoint does not serve it."""
        ...

    def health(self) -> Health:
        """Whether the endpoint answers now; never raises, and answers within a few seconds."""
        ...
