"""Dramatiq's broker on Redis: prompt within a process, modest when idle, and nothing kept on stopping."""

from collections import defaultdict
from time import monotonic
from typing import Any

import redis
from dramatiq import Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed

from refinement.broker.bell import Bell

POLL_SECONDS = 0.1  # how late a message from another process may be noticed


class ConsiderateConsumer(_RedisConsumer):
    """Fetches several messages at once; those that it has not handed out yet go back when it closes.

    Dramatiq's own asks Redis many times a second to be prompt. Most messages are sent by the very process
    that takes them up, so here a bell tells of those, and Redis is asked for the others now and then.
    """

    def __init__(self, broker: Any, queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)  # type: ignore[no-untyped-call]
        self.bell: Bell = broker.bells[queue_name]
        self._heard = -1  # the rings when Redis was asked last
        self._asked_at = float("-inf")
        self._more = False  # whether it may have had more than there was room for

    def __next__(self) -> MessageProxy | None:
        if not self.message_cache:
            self._fetch_in_time(monotonic() + self.timeout / 1000)
        if not self.message_cache:
            return None
        message = Message.decode(self.message_cache.pop(0))
        self.queued_message_ids.add(message.message_id)
        return MessageProxy(message)

    def _fetch_in_time(self, deadline: float) -> None:
        """Asks Redis where there is reason to, or waits for one."""
        if not self._more and self.bell.rings() == self._heard:
            next_look = min(deadline, self._asked_at + POLL_SECONDS)
            rung = self.bell.wait(self._heard, next_look - monotonic())
            if not rung and deadline <= next_look:
                return
        self._fetch()

    def _fetch(self) -> None:
        self._heard, self._asked_at = self.bell.rings(), monotonic()
        room = self.prefetch - self.outstanding_message_count
        self._more = False
        if room <= 0:
            return  # the next one that is acknowledged rings
        try:
            fetched = self.broker.do_fetch(self.queue_name, room)
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None
        self._more = len(fetched) >= room
        self.message_cache = [data for data in fetched if data is not None]

    def ack(self, message: MessageProxy) -> None:
        was_full = self.outstanding_message_count >= self.prefetch
        super().ack(message)  # type: ignore[no-untyped-call]
        if was_full:
            self.bell.ring()

    def close(self) -> None:
        """Gives back what Dramatiq forgets: it would come again only when this worker is missed."""
        unread, self.message_cache = self.message_cache, []
        ids = [Message.decode(data).options["redis_message_id"] for data in unread]
        if not ids:
            return
        try:
            self.broker.do_requeue(self.queue_name, *ids)
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None


class ConsiderateRedisBroker(RedisBroker):
    """As Dramatiq's, with the consumer above and the bell that wakes it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.bells: defaultdict[str, Bell] = defaultdict(Bell)  # one for each queue: the others sleep on

    @property
    def consumer_class(self) -> type[ConsiderateConsumer]:
        return ConsiderateConsumer

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        sent: Message[Any] = super().enqueue(message, delay=delay)
        self.bells[sent.queue_name].ring()
        return sent
