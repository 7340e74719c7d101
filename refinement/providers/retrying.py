"""When to ask again, as data: the caller waits, or has the run wait."""

from refinement.providers.base import ErrorKind, ProviderError

FIRST_DELAY = 1.0
LONGEST_DELAY = 60.0
# A server that is away may come back in an hour: a run waits for it. The others fail for a reason.
ATTEMPTS = {ErrorKind.TIMEOUT: 3, ErrorKind.BAD_REPLY: 3}


def delay_before(attempt: int, error: ProviderError, jitter: float) -> float | None:
    """Seconds to wait after failed attempt number `attempt` (from 1), or None to give up.

    `jitter` is a random share from 0 to 1, which spreads callers over the second half of the delay.
    """
    if not error.retryable or attempt >= ATTEMPTS.get(error.kind, attempt + 1):
        return None
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST_DELAY)
    delay = min(FIRST_DELAY * 2.0 ** min(attempt - 1, 16), LONGEST_DELAY)
    return delay * (0.5 + 0.5 * jitter)
