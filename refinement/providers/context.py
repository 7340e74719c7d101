"""How large a context window to ask for, and when a prompt cannot fit one."""

from refinement.providers.base import CompletionRequest, ErrorKind, ProviderError

SMALLEST_WINDOW = 2048
CHARS_PER_TOKEN = 3  # on the safe side: English runs at about four
CLEARLY_TOO_MANY_CHARS_PER_TOKEN = 8  # no usual text packs more into a token
TEMPLATE_TOKENS = 64  # what a model's chat template adds around the messages


def text_size(text: str) -> int:
    """The length to plan with: bytes of UTF-8, for a letter beyond ASCII costs about a token by itself."""
    return len(text.encode("utf-8", "surrogatepass"))


def context_tokens_for(longest_prompt_chars: int, reply_tokens: int, model_context: int | None) -> int:
    """The window for all calls of a model in a run: a doubling step, at most what the model reports."""
    needed = -(-longest_prompt_chars // CHARS_PER_TOKEN) + reply_tokens + TEMPLATE_TOKENS
    if model_context is not None and needed > model_context:
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"The longest prompt to expect ({longest_prompt_chars:,} characters) and a reply of "
            f"{reply_tokens:,} tokens need about {needed:,} tokens of context; the model has "
            f"{model_context:,}. Shorten the text or the reply, or choose a model with a longer context.",
            retryable=False,
        )
    window = SMALLEST_WINDOW
    while window < needed:
        window *= 2
    return window if model_context is None else min(window, model_context)


def refuse_what_cannot_fit(request: CompletionRequest, where: str, window: int | None = None) -> None:
    """Raises CONTEXT_EXCEEDED for a prompt that is beyond the window by any reckoning."""
    limit = window or request.context_tokens
    if limit is None:
        return
    chars = sum(len(message.content) for message in request.messages)
    if chars > limit * CLEARLY_TOO_MANY_CHARS_PER_TOKEN:
        raise ProviderError(
            ErrorKind.CONTEXT_EXCEEDED,
            f"A prompt of {chars:,} characters cannot fit the context window of {limit:,} tokens that "
            f"{request.model} was given at {where}. Shorten the text or allow a larger window.",
            retryable=False,
        )
