"""When to retry a failed call. The caller does the waiting."""

from refinement.providers.base import ErrorKind, ProviderError

FIRST_DELAY = 1.0
LONGEST_DELAY = 60.0
# There is no limit for an unreachable server: it may come back in an hour, and the run waits for it.
ATTEMPTS = {ErrorKind.TIMEOUT: 3, ErrorKind.BAD_REPLY: 3}


def delay_before(attempt: int, error: ProviderError, jitter: float) -> float | None:
    """Seconds to wait after failed attempt number `attempt` (from 1), or None to give up.

    Delays double up to LONGEST_DELAY, or follow the server's Retry-After. `jitter` is a random number from 0
    to 1 that spreads callers over the second half of the delay.
    """
    if not error.retryable or attempt >= ATTEMPTS.get(error.kind, attempt + 1):
        return None
    if error.retry_after is not None:
        return min(error.retry_after, LONGEST_DELAY)
    delay = min(FIRST_DELAY * 2.0 ** min(attempt - 1, 16), LONGEST_DELAY)
    return delay * (0.5 + 0.5 * jitter)
