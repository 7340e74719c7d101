"""Any server with OpenAI's chat completions: vLLM, LM Studio, llama.cpp, hosted ones."""

import contextlib
import os
import re
from collections.abc import Iterator, Mapping
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
from refinement.providers.context import refuse_what_cannot_fit
from refinement.providers.dialect import Dialect, Form
from refinement.providers.events import ErrorInStream, Gathered, Unreadable, gather
from refinement.providers.transport import client_for

LOOK_SECONDS = 10.0
HEALTH_SECONDS = 3.0
CONTEXT_FIELDS = ("max_model_len", "max_context_length", "context_length")
MISSING_ADVICE = "Choose one of the models that the endpoint lists, or load it there first."


class OpenAICompatibleProvider:
    """One server. The key is read from the environment for each call, and kept nowhere."""

    def __init__(
        self,
        address: str,
        api_key_variable: str = "",
        options: Mapping[str, Any] | None = None,
        name: str = "The model server",
    ) -> None:
        if httpx.URL(address).path in ("", "/"):
            address = address.rstrip("/") + "/v1"
        self.where = f"{name} at {sorting.shown_address(address)}"
        self._key_variable = api_key_variable
        self._extra = dict((options or {}).get("extra_body", {}))
        self._client = client_for(address.rstrip("/") + "/")
        self._dialects: dict[str, Dialect] = {}  # by model

    # --- completing -----------------------------------------------------------------------------
    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """The model's reply, streamed; asks again in a simpler form when the server does not take ours."""
        refuse_what_cannot_fit(request, self.where)
        with calling(control, self.where) as call:
            while True:
                dialect = self._dialects.get(request.model, Dialect())
                body = {**dialect.body(request), **self._extra, **self.extra_fields(request)}
                gathered = Gathered(control.on_text)
                complaint = self._ask(request, body, gathered)
                if complaint is None:
                    return self._reply(request, dialect, gathered, call)
                simpler = dialect.after_complaint(complaint.text, form_was_asked="response_format" in body)
                if simpler is None:
                    raise self._status(complaint, request.model)
                self._dialects[request.model] = simpler

    def extra_fields(self, request: CompletionRequest) -> dict[str, Any]:
        """What a kind of server wants besides the usual."""
        return {}

    def _ask(
        self, request: CompletionRequest, body: dict[str, Any], gathered: Gathered
    ) -> httpx.Response | None:
        """Fills `gathered`; returns the answer instead when it is a complaint about the request."""
        with (
            self._sorting(request.model, gathered),
            self._client.stream("POST", "chat/completions", json=body, headers=self._headers()) as answer,
        ):
            if answer.is_success:
                gather(answer.iter_bytes(), gathered)
                return None
            answer.read()
            if answer.status_code in (400, 422):
                return answer
            raise self._status(answer, request.model)

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
                f"{self.where} needs a key, and the environment variable {self._key_variable} is not set. "
                "Set it where Wiggum is started.",
                retryable=False,
            )
        return sorting.sendable_key(key, self.where, self._key_variable)

    def _reply(self, request: CompletionRequest, dialect: Dialect, gathered: Gathered, call: Call) -> Reply:
        if gathered.refusals or gathered.finish_reason == "content_filter":
            raise self._refusal(request.model, "".join(gathered.refusals))
        if not gathered.complete:
            raise sorting.connection_lost(self.where)
        text, thinking = "".join(gathered.pieces), "".join(gathered.thoughts)
        if not text.strip():
            all_thinking = bool(thinking) and gathered.finish_reason == "length"
            raise sorting.empty_reply(self.where, request.model, all_thinking=all_thinking)
        return Reply(
            text=text,
            thinking=thinking,
            model=gathered.model or request.model,
            prompt_tokens=gathered.prompt_tokens,
            completion_tokens=gathered.completion_tokens,
            cached_tokens=gathered.cached_tokens,
            seconds=call.elapsed(),
            finish_reason=gathered.finish_reason or "stop",
            schema_used=request.schema is not None and dialect.form is Form.SCHEMA,
            timings=gathered.timings,
        )

    def _refusal(self, model: str, words: str) -> ProviderError:
        detail = f": {sorting.quoted(words)}" if words else " by its content filter"
        return ProviderError(
            ErrorKind.REFUSED,
            f"{model} at {self.where} refused to answer{detail}. Change the task or choose another model.",
            retryable=False,
        )

    # --- what goes wrong --------------------------------------------------------------------------
    @contextlib.contextmanager
    def _sorting(self, model: str, gathered: Gathered | None = None) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            began = gathered is not None and bool(gathered.pieces or gathered.thoughts)
            raise sorting.wire_failure(error, self.where, began=began) from error
        except Unreadable as error:
            if sorting.looks_like_a_page(error.text):
                raise sorting.not_a_model_server(self.where) from error
            raise sorting.damaged(self.where, error.text) from error
        except ErrorInStream as error:
            raise self._in_stream(str(error), model) from error

    def _in_stream(self, body: str, model: str) -> ProviderError:
        words = self._without_key(sorting.said(body))
        if sorting.CONTEXT_WORDS.search(words):
            return sorting.context_exceeded(self.where, model, words)
        return ProviderError(
            ErrorKind.BAD_REPLY,
            f"{self.where} reported an error in the middle of its reply: {sorting.quoted(words)}. "
            "Try again; if it stays so, look in its log.",
            retryable=True,
        )

    def _status(self, answer: httpx.Response, model: str) -> ProviderError:
        return sorting.status_failure(
            answer.status_code,
            self._without_key(answer.text),
            answer.headers,
            where=self.where,
            model=model,
            missing_advice=MISSING_ADVICE,
            key_variable=self._key_variable,
        )

    def _without_key(self, text: str) -> str:
        """Servers quote the key they were given; it must reach neither a page nor a log."""
        key = os.environ.get(self._key_variable, "").strip() if self._key_variable else ""
        return text.replace(key, "[key]") if key else text

    # --- looking ----------------------------------------------------------------------------------
    def models(self) -> list[ModelInfo]:
        """What the server lists, with the context length where it tells."""
        return self._models(LOOK_SECONDS)

    def _models(self, seconds: float) -> list[ModelInfo]:
        with calling(CallControl(deadline_seconds=seconds), self.where), self._sorting(""):
            answer = self._client.get("models", headers=self._headers())
            if not answer.is_success:
                raise self._status(answer, "")
            try:
                return [_listed(entry) for entry in answer.json()["data"]]
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Unreadable(self._without_key(answer.text)) from None

    def model_info(self, name: str) -> ModelInfo:
        """The model as the server lists it."""
        for info in self.models():
            if info.name == name:
                return info
        raise sorting.model_missing(self.where, name, MISSING_ADVICE)

    def health(self) -> Health:
        """Asks for the list of models."""
        try:
            count = len(self._models(HEALTH_SECONDS))
        except ProviderError as error:
            return Health(False, error.message)
        return Health(True, f"{self.where} answers and lists {count} model{'' if count == 1 else 's'}.")


def _listed(entry: Mapping[str, Any]) -> ModelInfo:
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
    """The family a model's name suggests: the letters it begins with, after any owner."""
    found = re.match(r"[a-z]+", name.rsplit("/", 1)[-1].lower())
    return found.group() if found else ""
