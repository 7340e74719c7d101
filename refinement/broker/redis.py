"""Dramatiq's broker on Redis: prompt within a process, modest when idle, and nothing kept on stopping."""

from typing import Any

import redis
from dramatiq import Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.errors import ConnectionClosed

from refinement.broker.bell import Bell

POLL_SECONDS = 0.25  # how late a message from another process may be noticed


class ConsiderateConsumer(_RedisConsumer):
    """Fetches several messages at once; those that it has not handed out yet go back when it closes.

    Dramatiq's own asks Redis many times a second to be prompt. Most messages are sent by the very process
    that takes them up, so here a bell tells of those, and Redis is asked for the others now and then.
    """

    def __next__(self) -> MessageProxy | None:
        bell: Bell = self.broker.bell
        heard = bell.rings()
        if not self.message_cache:
            self._fetch()
        if not self.message_cache:
            if not bell.wait(heard, min(POLL_SECONDS, self.timeout / 1000)):
                return None
            self._fetch()
        if not self.message_cache:
            return None
        message = Message.decode(self.message_cache.pop(0))
        self.queued_message_ids.add(message.message_id)
        return MessageProxy(message)

    def _fetch(self) -> None:
        room = self.prefetch - self.outstanding_message_count
        if room <= 0:
            return
        try:
            fetched = self.broker.do_fetch(self.queue_name, room)
        except redis.ConnectionError as error:
            raise ConnectionClosed(error) from None
        self.message_cache = [data for data in fetched if data is not None]

    def ack(self, message: MessageProxy) -> None:
        was_full = self.outstanding_message_count >= self.prefetch
        super().ack(message)  # type: ignore[no-untyped-call]
        if was_full:
            self.broker.bell.ring()

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
        self.bell = Bell()

    @property
    def consumer_class(self) -> type[ConsiderateConsumer]:
        return ConsiderateConsumer

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        sent: Message[Any] = super().enqueue(message, delay=delay)
        self.bell.ring()
        return sent
