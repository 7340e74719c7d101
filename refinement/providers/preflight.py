"""Asks a model once whether it keeps to the form of a reply, before a run depends on it."""

import json
from dataclasses import dataclass

from refinement.providers.base import CallControl, CompletionRequest, Message, Provider, ProviderError

SECONDS = 40.0  # a model that is not loaded yet needs some
TOKENS = 400
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string", "maxLength": 200},
        "score": {"type": "integer", "minimum": 1, "maximum": 10},
    },
    "required": ["reasoning", "score"],
    "additionalProperties": False,
}
PROMPT = (
    Message(
        "system", "You judge texts. Reply with JSON: your reasoning in one sentence, then a score of 1 to 10."
    ),
    Message("user", "Judge this text: Restart the service. If that does not help, ask somebody."),
)


@dataclass(frozen=True, slots=True)
class Preflight:
    """What a model did with the test prompt."""

    model: str
    answered: bool
    honours_schema: bool = False
    thinks: bool = False
    seconds: float = 0.0
    message: str = ""  # what is wrong, and what to do

    @property
    def ok(self) -> bool:
        return self.answered and self.honours_schema


def preflight(provider: Provider, model: str) -> Preflight:
    """Ask for a small verdict. Never raises ProviderError: what went wrong is in the message."""
    request = CompletionRequest(model, PROMPT, max_tokens=TOKENS, schema=SCHEMA, role="judge")
    try:
        reply = provider.complete(request, CallControl(deadline_seconds=SECONDS))
    except ProviderError as error:
        return Preflight(model, answered=False, message=error.message)
    found = Preflight(
        model,
        answered=True,
        honours_schema=fits(reply.text),
        thinks=bool(reply.thinking) or "<think>" in reply.text,
        seconds=reply.seconds,
    )
    if found.honours_schema:
        return found
    message = (
        "Its reply is not in the requested form. It can write; as a judge its replies are read as well as "
        "possible and asked for again."
    )
    return Preflight(model, True, False, found.thinks, found.seconds, message)


def fits(text: str) -> bool:
    """Whether the text is exactly the requested JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    if not isinstance(value, dict) or set(value) != {"reasoning", "score"}:
        return False
    score = value["score"]
    whole = isinstance(score, int) and not isinstance(score, bool)
    return isinstance(value["reasoning"], str) and whole and 1 <= score <= 10
