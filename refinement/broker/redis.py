"""Dramatiq's Redis broker with faster polling."""

from typing import Any

from dramatiq.brokers.redis import RedisBroker

IDLE_MILLISECONDS = 250  # the maximum delay before an idle worker gets a message


class PromptRedisBroker(RedisBroker):
    """Polls an empty queue more often, independently of the worker's idle timeout."""

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Any:
        return super().consume(queue_name, prefetch, min(timeout, IDLE_MILLISECONDS))
