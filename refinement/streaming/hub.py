"""All open live pages of this process: one poller asks for them together, and nobody else asks."""

import asyncio
import contextlib
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from refinement.selectors.runs.live import still_allowed
from refinement.streaming.frames import HEARTBEAT, OPENING, frame
from refinement.streaming.looking import News, Wanted, look
from refinement.streaming.watchers import Watcher

LOOK_EVERY = 0.5  # seconds: an event is on the page within a second
AFTER_A_FAILURE = 3.0
CHECK_EVERY = 3.0  # who was removed from the project hears nothing more within five seconds
HEARTBEAT_EVERY = 15.0
LONGEST = 3600.0  # then the page comes back: what nobody ended is not kept for ever
MOST_WATCHERS = 2_000
MOST_OF_ONE_PERSON = 40  # tabs and scripts together; hidden tabs close their stream
P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger("wiggum.live")


class Hub:
    """Who watches which run. Everything but the looking happens on the event loop."""

    def __init__(self, looking: Callable[[Mapping[int, Wanted]], Mapping[int, News]] = look) -> None:
        self._looking = looking
        self._watchers: dict[int, set[Watcher]] = {}
        # Read by views in other threads; changed on the event loop alone.
        self._open_streams: Counter[int] = Counter()
        self._poller: asyncio.Task[None] | None = None
        # One thread, and with it one connection to the database, which is closed when nobody watches.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="live")

    def __len__(self) -> int:
        return self._open_streams.total()

    @property
    def is_full(self) -> bool:
        return len(self) >= MOST_WATCHERS

    def is_full_for(self, user_id: int) -> bool:
        """Whether a person has as many streams open as one person may."""
        return self._open_streams[user_id] >= MOST_OF_ONE_PERSON

    async def stream(self, watcher: Watcher) -> AsyncIterator[bytes]:
        """The watcher's frames until the run is over, the reader leaves, or may read no more."""
        if self.is_full or self.is_full_for(watcher.user_id):
            return  # many were asked for at once; coming back, they are refused in words
        now = asyncio.get_running_loop().time()
        watcher.until = now + LONGEST * random.uniform(0.75, 1)  # noqa: S311  spreads, hides nothing
        watcher.spoken_at = now
        self._join(watcher)
        try:
            yield OPENING
            # Signs of life come from the poller: a clock for each reader would cost more than all it sends.
            while (parts := await watcher.queue.get()) is not None:
                yield parts
        finally:
            self._leave(watcher)

    def _join(self, watcher: Watcher) -> None:
        self._watchers.setdefault(watcher.run_id, set()).add(watcher)
        self._open_streams[watcher.user_id] += 1
        if self._poller is None:
            self._poller = asyncio.create_task(self._poll())

    def _leave(self, watcher: Watcher) -> None:
        self._open_streams[watcher.user_id] -= 1
        if not self._open_streams[watcher.user_id]:
            del self._open_streams[watcher.user_id]
        others = self._watchers.get(watcher.run_id, set())
        others.discard(watcher)
        if not others:
            self._watchers.pop(watcher.run_id, None)

    def _all(self) -> list[Watcher]:
        return [watcher for watchers in self._watchers.values() for watcher in watchers]

    async def _poll(self) -> None:
        clock = asyncio.get_running_loop().time
        checked = clock()
        while self._watchers:
            began = clock()
            pause = LOOK_EVERY
            try:
                await self._look()
                if began - checked >= CHECK_EVERY:
                    checked = began
                    await self._check()
            except Exception:
                # Pages are not worth less because a database was away for a moment: the next look heals it.
                logger.warning("Live pages could not be told what is new; trying again.", exc_info=True)
                await self._in_thread(close_connection)
                pause = AFTER_A_FAILURE
            self._keep_alive(clock())
            await asyncio.sleep(max(pause - (clock() - began), pause / 5))
        # Set before anything is awaited: who joins from here on starts a poller of their own.
        self._poller = None
        await self._in_thread(close_connection)

    def _keep_alive(self, now: float) -> None:
        for watcher in self._all():
            if now >= watcher.until:
                watcher.end()
            elif now - watcher.spoken_at >= HEARTBEAT_EVERY:
                watcher.spoken_at = now
                watcher.say(HEARTBEAT)

    async def _look(self) -> None:
        now = asyncio.get_running_loop().time()
        wanted = {run_id: wanted_by(watchers) for run_id, watchers in self._watchers.items()}
        news = await self._in_thread(self._looking, wanted)
        for run_id in wanted:
            for watcher in tuple(self._watchers.get(run_id, ())):
                if run_id in news:
                    watcher.spoken_at = now if watcher.tell(news[run_id]) else watcher.spoken_at
                else:
                    watcher.say(frame("gone", {}))
                    watcher.end()

    async def _check(self) -> None:
        everybody = self._all()
        people, sessions = await self._in_thread(
            still_allowed,
            {watcher.person for watcher in everybody},
            {watcher.session for watcher in everybody},
        )
        for watcher in everybody:
            if watcher.person not in people or watcher.session not in sessions:
                watcher.say(frame("gone", {}))
                watcher.end()

    async def _in_thread(self, work: Callable[P, T], *given: P.args, **_: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *given)


def wanted_by(watchers: set[Watcher]) -> Wanted:
    return Wanted(
        after_event=min(watcher.after for watcher in watchers),
        after_piece=min(watcher.piece for watcher in watchers),
        seen=frozenset(watcher.seen for watcher in watchers),
        html=any(watcher.html for watcher in watchers),
    )


def close_connection() -> None:
    with contextlib.suppress(DatabaseError, InterfaceError):
        connection.close()


hub = Hub()
