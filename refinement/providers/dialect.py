"""How one model wants to be asked: learnt from its server's complaints, remembered in memory."""

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from refinement.providers.base import CompletionRequest
from refinement.providers.sorting import CONTEXT_WORDS

ABOUT_FORMAT = re.compile(
    r"response_format|json_schema|json_object|structured|grammar|schema|guided", re.IGNORECASE
)


class Form(IntEnum):
    """Ways to ask for a form, the strictest first."""

    SCHEMA = 0
    OBJECT = 1
    NONE = 2


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which of the optional parts of a request the model takes."""

    form: Form = Form.SCHEMA
    limit_field: str = "max_tokens"
    usage: bool = True
    temperature: bool = True

    def after_complaint(self, text: str, *, form_was_asked: bool) -> "Dialect | None":
        """What to try after a complaint about the request; None when it is about another matter."""
        if CONTEXT_WORDS.search(text):
            return None
        if self.limit_field == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, limit_field="max_completion_tokens")
        if self.usage and "stream_options" in text:
            return replace(self, usage=False)
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        if form_was_asked and self.form < Form.NONE and ABOUT_FORMAT.search(text):
            return replace(self, form=Form(self.form + 1))
        return None

    def body(self, request: CompletionRequest) -> dict[str, Any]:
        """The request as JSON."""
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": entry.role, "content": entry.content} for entry in request.messages],
            self.limit_field: request.max_tokens,
            "stream": True,
        }
        if self.temperature:
            body["temperature"] = request.temperature
        if self.usage:
            body["stream_options"] = {"include_usage": True}
        if request.schema is not None and self.form is Form.SCHEMA:
            schema = {"name": "reply", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.form is Form.OBJECT:
            body["response_format"] = {"type": "json_object"}
        return body
