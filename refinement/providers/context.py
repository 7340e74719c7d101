"""Sizes of context windows, and whether a prompt fits."""

from refinement.providers.base import CompletionRequest, ErrorKind, ProviderError

SMALLEST_WINDOW = 2048
CHARS_PER_TOKEN = 3  # a safe estimate: English has about four
MAX_CHARS_PER_TOKEN = 8  # no normal text has more
TEMPLATE_TOKENS = 64  # what a model's chat template adds around the messages


def text_size(text: str) -> int:
    """The text's length for estimates: UTF-8 bytes, because a non-ASCII letter takes about one token."""
    return len(text.encode("utf-8", "surrogatepass"))


def context_tokens_for(longest_prompt_chars: int, reply_tokens: int, model_context: int | None) -> int:
    """The context window for all calls to a model in a run: a power of two, at most `model_context`.

    Raises ProviderError (context_exceeded) if the prompt and reply do not fit `model_context`; None is no
    limit.
    """
    needed = -(-longest_prompt_chars // CHARS_PER_TOKEN) + reply_tokens + TEMPLATE_TOKENS
    if model_context is not None and needed > model_context:
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"The longest expected prompt ({longest_prompt_chars:,} characters) and a reply of "
            f"{reply_tokens:,} tokens need about {needed:,} tokens of context; the model has "
            f"{model_context:,}. Shorten the text or the reply, or choose a model with a longer context.",
            retryable=False,
        )
    window = SMALLEST_WINDOW
    while window < needed:
        window *= 2
    return window if model_context is None else min(window, model_context)


def check_prompt_fits(request: CompletionRequest, where: str, window: int | None = None) -> None:
    """Raises ProviderError (context_exceeded) for a prompt that is certainly too long for the window.

    `window` defaults to the request's; without either, nothing is checked.
    """
    limit = window or request.context_tokens
    if limit is None:
        return
    chars = sum(len(message.content) for message in request.messages)
    if chars > limit * MAX_CHARS_PER_TOKEN:
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"A prompt of {chars:,} characters does not fit the context window of {limit:,} tokens of "
            f"{request.model} at {where}. Shorten the text or allow a larger window.",
            retryable=False,
        )
