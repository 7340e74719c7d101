"""Ollama, through its official client."""

import contextlib
import os
import threading
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import httpx
import pydantic

import ollama
from refinement.providers import sorting
from refinement.providers.base import (
    CallControl,
    CompletionRequest,
    ErrorKind,
    Health,
    ModelInfo,
    ProviderError,
    Reply,
)
from refinement.providers.cancelling import Call, calling
from refinement.providers.context import check_prompt_fits
from refinement.providers.transport import client_for, client_options

DEFAULT_KEEP_ALIVE = "10m"
LIST_SECONDS = 10.0  # for lists of models
RECENT_SECONDS = 10.0  # how long a model's details are cached; if it is gone, its call fails
HEALTH_SECONDS = 3.0
NANOSECONDS = 1e-9
FAILURES = (
    ollama.ResponseError,
    ollama.RequestError,
    pydantic.ValidationError,
    httpx.HTTPError,
    ConnectionError,
    ValueError,  # invalid JSON or UTF-8
    AttributeError,  # raised by the client for a line that is JSON but not an object
    TypeError,
)


class OllamaProvider:
    """An Ollama server. `options`: keep_alive, and think for models that support it."""

    def __init__(
        self, address: str, options: Mapping[str, Any] | None = None, api_key_variable: str = ""
    ) -> None:
        self.where = f"Ollama at {sorting.display_address(address)}"
        self._options = dict(options or {})
        self._key_variable = api_key_variable
        self._client = ollama.Client(address, auth=self._authorized, **client_options())
        self._plain = client_for(address)
        self._known: dict[str, ModelInfo] = {}  # by digest
        self._recent: dict[str, tuple[float, ModelInfo]] = {}  # by name, for many runs that start at once
        self._known_lock = threading.Lock()

    def _authorized(self, request: httpx.Request) -> httpx.Request:
        # The client would send OLLAMA_API_KEY to any host; only the endpoint's own key may be sent.
        request.headers.pop("Authorization", None)
        if key := os.environ.get(self._key_variable, ""):
            key = sorting.checked_key(key, self.where, self._key_variable)
            request.headers["Authorization"] = f"Bearer {key}"
        return request

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """Streams the reply from /api/chat."""
        check_prompt_fits(request, self.where)
        pieces: list[str] = []
        thoughts: list[str] = []
        last: ollama.ChatResponse | None = None
        with calling(control, self.where) as call, contextlib.closing(self._parts(request)) as parts:
            for last in parts:
                if last.message.thinking:
                    thoughts.append(last.message.thinking)
                if last.message.content:
                    pieces.append(last.message.content)
                    control.on_text(last.message.content)
            return self._reply(request, "".join(pieces), "".join(thoughts), last, call)

    def _parts(self, request: CompletionRequest) -> Generator[ollama.ChatResponse, None, None]:
        began = False
        try:
            for part in self._chat(request):
                began = True
                yield part
        except FAILURES as error:
            raise self._error(error, request.model, began=began) from error

    def _chat(self, request: CompletionRequest) -> Iterator[ollama.ChatResponse]:
        options: dict[str, Any] = {"temperature": request.temperature, "num_predict": request.max_tokens}
        if request.context_tokens is not None:
            options["num_ctx"] = request.context_tokens
        return self._client.chat(
            model=request.model,
            messages=[{"role": entry.role, "content": entry.content} for entry in request.messages],
            stream=True,
            format=None if request.schema is None else dict(request.schema),
            options=options,
            keep_alive=self._options.get("keep_alive", DEFAULT_KEEP_ALIVE),
            think=self._options.get("think"),
        )

    def _reply(
        self,
        request: CompletionRequest,
        text: str,
        thinking: str,
        last: ollama.ChatResponse | None,
        call: Call,
    ) -> Reply:
        if last is None or not last.done:
            raise sorting.connection_lost(self.where)
        prompt_tokens, completion_tokens = last.prompt_eval_count or 0, last.eval_count or 0
        self._refuse_truncation(request, prompt_tokens, completion_tokens)
        finish_reason = last.done_reason or "stop"
        if not text.strip():
            all_thinking = bool(thinking) and finish_reason == "length"
            raise sorting.empty_reply(self.where, request.model, all_thinking=all_thinking)
        return Reply(
            text=text,
            thinking=thinking,
            model=last.model or request.model,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            seconds=call.elapsed(),
            finish_reason=finish_reason,
            schema_used=request.schema is not None,
            timings=_timings(last),
        )

    def _refuse_truncation(self, request: CompletionRequest, prompt: int, completion: int) -> None:
        """Raises ProviderError if Ollama cut the prompt, which it does silently; its token counts show it."""
        window = request.context_tokens
        if window is not None and prompt + completion >= window:
            raise sorting.context_exceeded(
                self.where,
                request.model,
                f"{prompt:,} prompt tokens and {completion:,} reply tokens filled the window of {window:,}, "
                "so text was left out",
            )

    def _error(self, error: Exception, model: str, *, began: bool) -> ProviderError:
        if not isinstance(error, ollama.ResponseError):
            return sorting.transport_error(error, self.where, began=began)
        if error.status_code > 0:
            return sorting.status_error(
                error.status_code,
                str(error.error),
                self._headers(error),
                where=self.where,
                model=model,
                missing_advice=f"Fetch it with: ollama pull {model}",
                key_variable=self._key_variable,
            )
        if sorting.CONTEXT_PATTERN.search(str(error.error)):
            return sorting.context_exceeded(self.where, model, str(error.error))
        return ProviderError(
            ErrorKind.BAD_REPLY,
            f"{self.where} reported an error in the middle of its reply: "
            f"{sorting.shortened(str(error.error))}. Try again; if it keeps failing, check its log.",
            retryable=True,
        )

    @staticmethod
    def _headers(error: ollama.ResponseError) -> Mapping[str, str]:
        """The response's headers: the client drops them, but they are in the original error."""
        origin = error.__context__
        return origin.response.headers if isinstance(origin, httpx.HTTPStatusError) else {}

    @contextlib.contextmanager
    def _request(self, seconds: float, model: str = "") -> Iterator[None]:
        with calling(CallControl(deadline_seconds=seconds), self.where):
            try:
                yield
            except FAILURES as error:
                raise self._error(error, model, began=False) from error

    def models(self) -> list[ModelInfo]:
        """The server's models, with the context length of those that `model_info` has fetched."""
        with self._request(LIST_SECONDS):
            listed = self._client.list().models
        return [self._model_info(entry) for entry in listed if entry.model]

    def _model_info(self, entry: ollama.ListResponse.Model) -> ModelInfo:
        known = self._known.get(entry.digest or "")
        details = entry.details
        return ModelInfo(
            name=entry.model or "",
            family=(details and details.family) or "",
            size_bytes=int(entry.size) if entry.size is not None else None,
            parameters=(details and details.parameter_size) or "",
            context_length=known.context_length if known else None,
            digest=entry.digest or "",
        )

    def model_info(self, name: str) -> ModelInfo:
        """One model with its context length, fetched once per version of the model."""
        seen, info = self._recent.get(name, (0.0, None))
        if info is not None and time.monotonic() - seen < RECENT_SECONDS:
            return info
        with self._request(LIST_SECONDS, name):
            listed = self._client.list().models
        for entry in listed:
            if entry.model in (name, f"{name}:latest"):
                info = self._known.get(entry.digest or "") or self._fetch_info(entry)
                self._recent[name] = (time.monotonic(), info)
                return info
        raise sorting.model_missing(self.where, name, f"Fetch it with: ollama pull {name}")

    def _fetch_info(self, entry: ollama.ListResponse.Model) -> ModelInfo:
        plain = self._model_info(entry)
        with self._request(LIST_SECONDS, plain.name):
            shown = self._client.show(plain.name).modelinfo or {}
        lengths = [value for key, value in shown.items() if key.endswith(".context_length")]
        info = ModelInfo(
            name=plain.name,
            family=plain.family,
            size_bytes=plain.size_bytes,
            parameters=plain.parameters,
            context_length=int(lengths[0]) if lengths else None,
            digest=plain.digest,
        )
        if entry.digest:
            with self._known_lock:
                self._known[entry.digest] = info
        return info

    def embed(self, model: str, texts: Sequence[str], *, seconds: float) -> list[list[float]]:
        """Embeddings from /api/embed. Texts beyond the model's window are cut by the server."""
        with self._request(seconds, model):
            keep_alive = self._options.get("keep_alive", DEFAULT_KEEP_ALIVE)
            found = self._client.embed(model=model, input=list(texts), keep_alive=keep_alive).embeddings
        return sorting.checked_vectors([list(vector) for vector in found], len(texts), self.where, model)

    def health(self) -> Health:
        """Requests the version: cheap, and only an Ollama server has it."""
        try:
            with self._request(HEALTH_SECONDS):
                answer = self._plain.get("api/version", auth=self._authorized)
                answer.raise_for_status()
                version = answer.json()["version"]
        except ProviderError as error:
            return Health(False, error.message)
        except (KeyError, TypeError):
            return Health(False, sorting.not_a_model_server(self.where).message)
        return Health(True, f"{self.where} is online (version {version}).")


def _timings(last: ollama.ChatResponse) -> dict[str, float]:
    parts = {
        "load": last.load_duration,
        "prompt": last.prompt_eval_duration,
        "generate": last.eval_duration,
        "total": last.total_duration,
    }
    return {name: value * NANOSECONDS for name, value in parts.items() if value is not None}
