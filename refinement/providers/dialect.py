"""Which request options a model supports, learned from its server's error messages."""

import re
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from refinement.providers.base import CompletionRequest
from refinement.providers.sorting import CONTEXT_PATTERN

FORMAT_PATTERN = re.compile(
    r"response_format|json_schema|json_object|structured|grammar|schema|guided", re.IGNORECASE
)


class ReplyFormat(IntEnum):
    """Ways to request structured output, the strictest first."""

    SCHEMA = 0
    OBJECT = 1
    NONE = 2


@dataclass(frozen=True, slots=True)
class Dialect:
    """The optional parts of a request that the model supports."""

    form: ReplyFormat = ReplyFormat.SCHEMA
    limit_field: str = "max_tokens"
    usage: bool = True
    temperature: bool = True

    def after_complaint(self, text: str, *, format_requested: bool) -> "Dialect | None":
        """The dialect to try next after an error message; None if the message is not about an option."""
        if CONTEXT_PATTERN.search(text):
            return None
        if self.limit_field == "max_tokens" and "max_completion_tokens" in text:
            return replace(self, limit_field="max_completion_tokens")
        if self.usage and "stream_options" in text:
            return replace(self, usage=False)
        if self.temperature and "temperature" in text:
            return replace(self, temperature=False)
        if format_requested and self.form < ReplyFormat.NONE and FORMAT_PATTERN.search(text):
            return replace(self, form=ReplyFormat(self.form + 1))
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
        if request.schema is not None and self.form is ReplyFormat.SCHEMA:
            schema = {"name": "reply", "strict": True, "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif request.schema is not None and self.form is ReplyFormat.OBJECT:
            body["response_format"] = {"type": "json_object"}
        return body
