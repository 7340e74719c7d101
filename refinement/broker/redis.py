"""Dramatiq's Redis broker, whose consumers get messages of their own process at once."""

from collections.abc import Iterable
from typing import Any

from dramatiq import Consumer, Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker

from refinement.broker.bell import Wakeups

IDLE_MILLISECONDS = 250  # the maximum delay before an idle worker gets another process's message


class PromptRedisBroker(RedisBroker):
    """Redis tells nobody about new messages, so Dramatiq's consumers sleep between their queries.

    A worker sends itself most of what it does next. These consumers sleep until this process sends a message
    or has finished one, and for `IDLE_MILLISECONDS` at most.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self._wakeups: dict[str, Wakeups] = {}  # by queue

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        sent: Message[Any] = super().enqueue(message, delay=delay)
        if delay is None:
            self._wakeups_of(message.queue_name).notify()
        return sent

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        consumer = super().consume(queue_name, prefetch, timeout=0)  # it does not sleep itself
        pause = min(timeout, IDLE_MILLISECONDS) / 1000
        return WakingConsumer(consumer, self._wakeups_of(queue_name), pause)

    def _wakeups_of(self, queue: str) -> Wakeups:
        return self._wakeups.setdefault(queue, Wakeups())


class WakingConsumer(Consumer):
    """A consumer that returns at once when it finds nothing, with pauses that end early on a wake-up."""

    def __init__(self, consumer: Consumer, wakeups: Wakeups, pause: float) -> None:
        self.consumer = consumer
        self.wakeups = wakeups
        self.pause = pause  # seconds

    def __next__(self) -> MessageProxy | None:
        seen = self.wakeups.count()
        message = next(self.consumer)
        if message is None:
            self.wakeups.wait(seen, self.pause)
        return message

    def ack(self, message: MessageProxy) -> None:
        self.consumer.ack(message)
        self.wakeups.notify()  # there is room for another one

    def nack(self, message: MessageProxy) -> None:
        self.consumer.nack(message)
        self.wakeups.notify()

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        self.consumer.requeue(messages)

    def close(self) -> None:
        self.consumer.close()
