"""Servers with OpenAI's chat completions API: vLLM, LM Studio, llama.cpp, hosted ones."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

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
from refinement.providers.dialect import Dialect, ReplyFormat
from refinement.providers.events import ErrorInStream, StreamedReply, Unreadable, read_stream
from refinement.providers.transport import client_for

LIST_SECONDS = 10.0
HEALTH_SECONDS = 3.0
CONTEXT_FIELDS = ("max_model_len", "max_context_length", "context_length")
MISSING_ADVICE = "Choose one of the server's models, or load it there first."


class OpenAICompatibleProvider:
    """One server. The key is read from the environment for each call, and never stored."""

    def __init__(
        self,
        address: str,
        api_key_variable: str = "",
        options: Mapping[str, Any] | None = None,
        name: str = "The model server",
    ) -> None:
        if httpx.URL(address).path in ("", "/"):
            address = address.rstrip("/") + "/v1"
        self.where = f"{name} at {sorting.display_address(address)}"
        self._key_variable = api_key_variable
        self._extra = dict((options or {}).get("extra_body", {}))
        self._client = client_for(address.rstrip("/") + "/")
        self._dialects: dict[str, Dialect] = {}  # by model

    # --- completing -----------------------------------------------------------------------------
    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """Streams the reply; if the server does not support an option, sends the request again without it."""
        check_prompt_fits(request, self.where)
        with calling(control, self.where) as call:
            while True:
                dialect = self._dialects.get(request.model, Dialect())
                body = {**dialect.body(request), **self._extra, **self.extra_fields(request)}
                streamed = StreamedReply(control.on_text)
                complaint = self._send(request, body, streamed)
                if complaint is None:
                    return self._reply(request, dialect, streamed, call)
                simpler = dialect.after_complaint(complaint.text, format_requested="response_format" in body)
                if simpler is None:
                    raise self._status_error(complaint, request.model)
                self._dialects[request.model] = simpler

    def extra_fields(self, request: CompletionRequest) -> dict[str, Any]:
        """Additional request fields, for subclasses."""
        return {}

    def _send(
        self, request: CompletionRequest, body: dict[str, Any], streamed: StreamedReply
    ) -> httpx.Response | None:
        """Fills `streamed`; returns the response instead if it is an error about the request (400, 422)."""
        with (
            self._map_errors(request.model, streamed),
            self._client.stream("POST", "chat/completions", json=body, headers=self._headers()) as answer,
        ):
            if answer.is_success:
                read_stream(answer.iter_bytes(), streamed)
                return None
            answer.read()
            if answer.status_code in (400, 422):
                return answer
            raise self._status_error(answer, request.model)

    def _headers(self) -> dict[str, str]:
        key = self._key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _key(self) -> str:
        if not self._key_variable:
            return ""
        key = os.environ.get(self._key_variable, "").strip()
        if not key:
            raise ProviderError(
                ErrorKind.REFUSED,
                f"{self.where} needs a key, but the environment variable {self._key_variable} is not set. "
                "Set it where Wiggum is started.",
                retryable=False,
            )
        return sorting.checked_key(key, self.where, self._key_variable)

    def _reply(
        self, request: CompletionRequest, dialect: Dialect, streamed: StreamedReply, call: Call
    ) -> Reply:
        if streamed.refusals or streamed.finish_reason == "content_filter":
            raise self._refusal(request.model, "".join(streamed.refusals))
        if not streamed.complete:
            raise sorting.connection_lost(self.where)
        text, thinking = "".join(streamed.pieces), "".join(streamed.thoughts)
        if not text.strip():
            all_thinking = bool(thinking) and streamed.finish_reason == "length"
            raise sorting.empty_reply(self.where, request.model, all_thinking=all_thinking)
        return Reply(
            text=text,
            thinking=thinking,
            model=streamed.model or request.model,
            prompt_tokens=streamed.prompt_tokens,
            completion_tokens=streamed.completion_tokens,
            cached_tokens=streamed.cached_tokens,
            seconds=call.elapsed(),
            finish_reason=streamed.finish_reason or "stop",
            schema_used=request.schema is not None and dialect.form is ReplyFormat.SCHEMA,
            timings=streamed.timings,
        )

    def _refusal(self, model: str, reason: str) -> ProviderError:
        detail = f": {sorting.shortened(reason)}" if reason else " because of its content filter"
        return ProviderError(
            ErrorKind.REFUSED,
            f"{model} at {self.where} refused to answer{detail}. Change the task or choose another model.",
            retryable=False,
        )

    # --- errors -----------------------------------------------------------------------------------
    @contextlib.contextmanager
    def _map_errors(self, model: str, streamed: StreamedReply | None = None) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            began = streamed is not None and bool(streamed.pieces or streamed.thoughts)
            raise sorting.transport_error(error, self.where, began=began) from error
        except Unreadable as error:
            if sorting.is_html(error.text):
                raise sorting.not_a_model_server(self.where) from error
            raise sorting.unreadable_reply(self.where, error.text) from error
        except ErrorInStream as error:
            raise self._stream_error(str(error), model) from error

    def _stream_error(self, body: str, model: str) -> ProviderError:
        detail = self._without_key(sorting.error_text(body))
        if sorting.CONTEXT_PATTERN.search(detail):
            return sorting.context_exceeded(self.where, model, detail)
        return ProviderError(
            ErrorKind.BAD_REPLY,
            f"{self.where} reported an error in the middle of its reply: {sorting.shortened(detail)}. "
            "Try again; if it keeps failing, check its log.",
            retryable=True,
        )

    def _status_error(self, answer: httpx.Response, model: str) -> ProviderError:
        return sorting.status_error(
            answer.status_code,
            self._without_key(answer.text),
            answer.headers,
            where=self.where,
            model=model,
            missing_advice=MISSING_ADVICE,
            key_variable=self._key_variable,
        )

    def _without_key(self, text: str) -> str:
        """The text with the key replaced: servers quote it in errors, and it must not be shown or logged."""
        key = os.environ.get(self._key_variable, "").strip() if self._key_variable else ""
        return text.replace(key, "[key]") if key else text

    def embed(self, model: str, texts: Sequence[str], *, seconds: float) -> list[list[float]]:
        """Embeddings from /embeddings."""
        body = {"model": model, "input": list(texts)}
        with calling(CallControl(deadline_seconds=seconds), self.where), self._map_errors(model):
            answer = self._client.post("embeddings", json=body, headers=self._headers())
            if not answer.is_success:
                raise self._status_error(answer, model)
            try:
                entries = sorted(answer.json()["data"], key=lambda entry: int(entry["index"]))
                found = [[float(number) for number in entry["embedding"]] for entry in entries]
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Unreadable(self._without_key(answer.text)) from None
        return sorting.checked_vectors(found, len(texts), self.where, model)

    # --- models -----------------------------------------------------------------------------------
    def models(self) -> list[ModelInfo]:
        """The server's models, with their context length if it reports one."""
        return self._models(LIST_SECONDS)

    def _models(self, seconds: float) -> list[ModelInfo]:
        with calling(CallControl(deadline_seconds=seconds), self.where), self._map_errors(""):
            answer = self._client.get("models", headers=self._headers())
            if not answer.is_success:
                raise self._status_error(answer, "")
            try:
                return [_model_info(entry) for entry in answer.json()["data"]]
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Unreadable(self._without_key(answer.text)) from None

    def model_info(self, name: str) -> ModelInfo:
        """The model's entry in the server's list."""
        for info in self.models():
            if info.name == name:
                return info
        raise sorting.model_missing(self.where, name, MISSING_ADVICE)

    def health(self) -> Health:
        """Requests the list of models."""
        try:
            count = len(self._models(HEALTH_SECONDS))
        except ProviderError as error:
            return Health(False, error.message)
        return Health(True, f"{self.where} is online with {count} model{'' if count == 1 else 's'}.")


def _model_info(entry: Mapping[str, Any]) -> ModelInfo:
    meta = entry.get("meta") or {}
    known = [entry[field] for field in CONTEXT_FIELDS if entry.get(field)]
    context = known[0] if known else meta.get("n_ctx") or meta.get("n_ctx_train")
    return ModelInfo(
        name=str(entry["id"]),
        family=family_of(str(entry["id"])),
        size_bytes=meta.get("size"),
        context_length=int(context) if context else None,
    )


def family_of(name: str) -> str:
    """The model family: the letters that the model's name starts with, without its owner."""
    match = re.match(r"[a-z]+", name.rsplit("/", 1)[-1].lower())
    return match.group() if match else ""
