"""The wire formats of Ollama and OpenAI: replies as parts of a stream, and lists of models."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.loopback.replies import Answer, Asked

CHARS_PER_TOKEN = 4
CREATED = "2026-01-01T00:00:00Z"


def tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, count)))
    return [text[start : start + size] for start in range(0, len(text), size)]


def within_limit(answer: Answer, limit: Any) -> tuple[str, str]:
    """The text up to the reply limit, and the reason why it ended."""
    if isinstance(limit, int) and limit > 0 and tokens(answer.text) > limit:
        return answer.text[: limit * CHARS_PER_TOKEN], answer.finish_reason or "length"
    return answer.text, answer.finish_reason or "stop"


def ollama_parts(asked: Asked, answer: Answer, chunks: int) -> list[bytes]:
    """Lines of JSON, the last of them with `done` and the counts."""
    options = asked.body.get("options") or {}
    text, reason = within_limit(answer, options.get("num_predict"))
    model = asked.body.get("model", "")
    lines = [_ollama_line(model, "thinking", piece) for piece in pieces(answer.thinking, chunks)]
    lines += [_ollama_line(model, "content", piece) for piece in pieces(text, chunks)]
    prompt = answer.prompt_tokens if answer.prompt_tokens is not None else tokens(asked.prompt)
    window = options.get("num_ctx")
    end = {
        "model": model,
        "created_at": CREATED,
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": reason,
        "total_duration": 2_000_000_000,
        "load_duration": 500_000_000,
        # A prompt longer than the window is cut silently, as in Ollama.
        "prompt_eval_count": min(prompt, window) if window else prompt,
        "prompt_eval_duration": 250_000_000,
        "eval_count": tokens(text) + tokens(answer.thinking),
        "eval_duration": 1_250_000_000,
    }
    return [*lines, json.dumps(end).encode() + b"\n"]


def _ollama_line(model: str, field: str, piece: str) -> bytes:
    message = {"role": "assistant", "content": "", field: piece}
    part = {"model": model, "created_at": CREATED, "message": message, "done": False}
    return json.dumps(part).encode() + b"\n"


def openai_parts(asked: Asked, answer: Answer, chunks: int) -> list[bytes]:
    """Server-sent events, with usage at the end if it was requested."""
    text, reason = within_limit(answer, asked.body.get("max_tokens"))
    events = [_openai_event({"reasoning_content": piece}) for piece in pieces(answer.thinking, chunks)]
    events += [_openai_event({"content": piece}) for piece in pieces(text, chunks)]
    events.append(_openai_event({}, reason))
    if (asked.body.get("stream_options") or {}).get("include_usage"):
        prompt = answer.prompt_tokens if answer.prompt_tokens is not None else tokens(asked.prompt)
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": tokens(text),
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
        }
        events.append(event({"choices": [], "usage": usage}))
    return [*events, b"data: [DONE]\n\n"]


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _openai_event(delta: Mapping[str, str], reason: str | None = None) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def ollama_tags(models: Sequence[str]) -> object:
    return {"models": [_ollama_model(name) for name in models]}


def _ollama_model(name: str) -> dict[str, object]:
    family = "".join(letter for letter in name.split(":")[0] if letter.isalnum())
    return {
        "name": name,
        "model": name,
        "digest": f"digest-of-{name}",
        "size": 9_276_198_565,
        "details": {"family": family, "parameter_size": "14.8B", "format": "gguf"},
    }


def ollama_show(context_length: int) -> object:
    return {"details": {"family": "loopback"}, "model_info": {"loopback.context_length": context_length}}


def openai_models(models: Sequence[str], context_length: int) -> object:
    return {"object": "list", "data": [{"id": name, "max_model_len": context_length} for name in models]}
