"""Dramatiq's broker on Redis: prompt, modest when idle, and nothing kept on stopping."""

from collections import defaultdict, deque
from contextlib import suppress
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any
from uuid import uuid4

import redis
from dramatiq import Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import current_millis, dq_name
from dramatiq.errors import ConnectionClosed

from refinement.broker.bell import Bell
from refinement.broker.finishing import Finishing
from refinement.broker.passing import HeldMessage, Passing

# How late a message from another worker may be noticed. Not sooner: its sender takes it up in a moment, and
# knows the run already.
POLL_SECONDS = 1.0
DELAY_SECONDS = 0.25  # how late a delayed message may be passed on
LISTEN_AGAIN_SECONDS = 1.0
CROWDED_SECONDS = 0.25  # for so long after somebody waited, nothing is passed on
# Dramatiq's own keys, as its dispatch.lua describes them. A message is exchanged for its successor where its
# holder still has it and nobody waits.
EXCHANGE = """
local queue, acks, messages = KEYS[1], KEYS[2], KEYS[3]
redis.call("zadd", KEYS[4], ARGV[1], ARGV[2])
local old, new, data = ARGV[3], ARGV[4], ARGV[5]
if redis.call("llen", queue) > 0 or redis.call("srem", acks, old) == 0 then
    return 0
end
redis.call("hdel", messages, old)
redis.call("hset", messages, new, data)
redis.call("sadd", acks, new)
return 1
"""


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
        self._handed: deque[HeldMessage] = deque()  # by threads of this process, which held them already
        self._accepting = Lock()
        self._closed = False
        # Between two looks, Dramatiq's thread sees whether a delayed message's time has come.
        delays = queue_name == dq_name(queue_name)
        self._seconds = min(timeout / 1000, DELAY_SECONDS) if delays else timeout / 1000

    def __next__(self) -> MessageProxy | None:
        if not self.message_cache and not self._handed:
            self._fetch_in_time(monotonic() + self._seconds)
        if self.message_cache:
            message = HeldMessage(Message.decode(self.message_cache.pop(0)))
            self.queued_message_ids.add(message.message_id)
            return message
        return self._handed.popleft() if self._handed else None

    def accept(self, message: Message[Any]) -> bool:
        """Takes a message that this process holds already; False when it takes none any more."""
        with self._accepting:
            if self._closed:
                return False
            self.queued_message_ids.add(message.message_id)
            held = HeldMessage(message)
            if self.broker.passing.put_to_work(held):
                return True
            self._handed.append(held)
        self.bell.nudge()
        return True

    def _fetch_in_time(self, deadline: float) -> None:
        """Asks Redis where there is reason to, or waits for one."""
        if not self._more and self.bell.rings() == self._heard:
            next_look = min(deadline, self._asked_at + POLL_SECONDS)
            rung = self.bell.wait(self._heard, next_look - monotonic(), unless=lambda: bool(self._handed))
            if self._handed or (not rung and deadline <= next_look):
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
        if self._passed_on(message):
            return
        was_full = self.outstanding_message_count >= self.prefetch
        # First: counted as free twice, for a moment, a thread would be given a second message to sit on.
        self.broker.finishing.done()
        super().ack(message)  # type: ignore[no-untyped-call]
        if was_full:
            self.bell.ring()

    def nack(self, message: MessageProxy) -> None:
        if self._passed_on(message):
            return
        self.broker.finishing.done()
        super().nack(message)  # type: ignore[no-untyped-call]

    def _passed_on(self, message: MessageProxy) -> bool:
        if not (isinstance(message, HeldMessage) and message.passed_on):
            return False
        self.broker.finishing.done()
        self.queued_message_ids.discard(message.message_id)
        return True

    def close(self) -> None:
        """Gives back what Dramatiq forgets: it would come again only when this worker is missed."""
        with self._accepting:
            self._closed = True
            handed, self._handed = self._handed, deque()
        unread, self.message_cache = self.message_cache, []
        messages: list[Any] = [*map(Message.decode, unread), *handed]
        ids = [message.options["redis_message_id"] for message in messages]
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
        self.passing = Passing()
        self.add_middleware(self.passing)
        self._exchange = self.client.register_script(EXCHANGE)
        self._crowded_until = 0.0
        self.consumers: dict[str, ConsiderateConsumer] = {}  # the newest of each queue
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
        self.consumers[queue_name] = super().consume(queue_name, prefetch, timeout)  # type: ignore[assignment]
        return self.consumers[queue_name]

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        sent: Message[Any] = super().enqueue(message, delay=delay)
        self.finishing.sent()
        if self._listener is None:
            with suppress(redis.RedisError):  # it is kept; that nobody was told costs a moment
                self.client.publish(f"{self._channel}{sent.queue_name}", b"")
        else:
            self.bells[sent.queue_name].ring()
        return sent

    def may_pass_on(self, message: Message[Any]) -> bool:
        """Whether `pass_on` is worth a try, told without asking Redis."""
        if monotonic() < self._crowded_until or message.queue_name not in self.consumers:
            return False
        return self.passing.predecessor(message) is not None

    def pass_on(self, message: Message[Any]) -> bool:
        """Puts the message in the place of the one that this thread holds."""
        held, queue = self.passing.predecessor(message), message.queue_name
        if held is None or queue not in self.consumers:
            return False
        new_id = str(uuid4())
        message = message.copy(options={"redis_message_id": new_id})
        places = (queue, f"__acks__.{self.broker_id}.{queue}", f"{queue}.msgs", "__heartbeats__")
        old_id = held.options["redis_message_id"]
        said = [current_millis(), self.broker_id, old_id, new_id, message.encode()]
        if not self._exchange(keys=[f"{self.namespace}:{place}" for place in places], args=said):
            self._crowded_until = monotonic() + CROWDED_SECONDS
            return False
        held.passed_on = True
        if not self.consumers[queue].accept(message):
            self.do_requeue(queue, new_id)
        return True

    def close(self) -> None:
        if self._listener is not None:
            self._listener.stop()
        super().close()
