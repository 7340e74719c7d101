"""Dramatiq's broker on Redis: prompt, modest when idle, and nothing kept on stopping."""

from collections import defaultdict
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

import redis
from dramatiq import Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import dq_name
from dramatiq.errors import ConnectionClosed

from refinement.broker.bell import Bell
from refinement.broker.finishing import Finishing

# How late a message from another worker may be noticed. Not sooner: its sender takes it up in a moment, and
# knows the run already.
POLL_SECONDS = 1.0
DELAY_SECONDS = 0.25  # how late a delayed message may be passed on
LISTEN_AGAIN_SECONDS = 1.0


class ConsiderateConsumer(_RedisConsumer):
    """Fetches several messages at once; those that it has not handed out yet go back when it closes.

    Dramatiq's own asks Redis many times a second to be prompt. Most messages are sent by the very process
    that takes them up, so here a bell tells of those; what a process without consumers sends, such as a
    page that launches a run, is published; and for the rest Redis is asked now and then.
    """

    def __init__(self, broker: Any, queue_name: str, prefetch: int, timeout: int) -> None:
        super().__init__(broker, queue_name, prefetch, timeout)  # type: ignore[no-untyped-call]
        self.bell: Bell = broker.bells[queue_name]
        self._heard = -1  # the rings when Redis was asked last
        self._asked_at = float("-inf")
        self._more = False  # whether it may have had more than there was room for
        # Between two looks, Dramatiq's thread sees whether a delayed message's time has come.
        delays = queue_name == dq_name(queue_name)
        self._seconds = min(timeout / 1000, DELAY_SECONDS) if delays else timeout / 1000

    def __next__(self) -> MessageProxy | None:
        if not self.message_cache:
            self._fetch_in_time(monotonic() + self._seconds)
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
        room = self.prefetch - self.outstanding_message_count + self.broker.finishing.count()
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
        # First: counted as free twice, for a moment, a thread would be given a second message to sit on.
        self.broker.finishing.done()
        super().ack(message)  # type: ignore[no-untyped-call]
        if was_full:
            self.bell.ring()

    def nack(self, message: MessageProxy) -> None:
        self.broker.finishing.done()
        super().nack(message)  # type: ignore[no-untyped-call]

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


class Listener(Thread):
    """Rings the bells for what other processes have sent. A word that is missed costs a poll."""

    def __init__(self, client: "redis.Redis", prefix: str, bells: "defaultdict[str, Bell]") -> None:
        super().__init__(name="redis listener", daemon=True)
        self._client = client
        self._prefix = prefix
        self._bells = bells
        self._stopping = Event()

    def run(self) -> None:
        while not self._stopping.is_set():
            with suppress(redis.RedisError, OSError, ValueError), self._client.pubsub() as heard:  # type: ignore[no-untyped-call]
                heard.psubscribe(f"{self._prefix}*")
                self._listen(heard)
            self._stopping.wait(LISTEN_AGAIN_SECONDS)

    def _listen(self, heard: Any) -> None:
        while not self._stopping.is_set():
            message = heard.get_message(ignore_subscribe_messages=True, timeout=LISTEN_AGAIN_SECONDS)
            if message is not None:
                self._bells[message["channel"].decode().removeprefix(self._prefix)].ring()

    def stop(self) -> None:
        self._stopping.set()


class ConsiderateRedisBroker(RedisBroker):
    """As Dramatiq's, with the consumer above and the bells that wake it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        self.bells: defaultdict[str, Bell] = defaultdict(Bell)  # one for each queue: the others sleep on
        self.finishing = Finishing()
        self._channel = f"{self.namespace}.sent."
        self._starting = Lock()
        self._listener: Listener | None = None

    @property
    def consumer_class(self) -> type[ConsiderateConsumer]:
        return ConsiderateConsumer

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Any:
        with self._starting:
            if self._listener is None:
                self._listener = Listener(self.client, self._channel, self.bells)
                self._listener.start()
        return super().consume(queue_name, prefetch, timeout)

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        sent: Message[Any] = super().enqueue(message, delay=delay)
        self.finishing.sent()
        if self._listener is None:
            with suppress(redis.RedisError):  # it is kept; that nobody was told costs a moment
                self.client.publish(f"{self._channel}{sent.queue_name}", b"")
        else:
            self.bells[sent.queue_name].ring()
        return sent

    def close(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        super().close()
