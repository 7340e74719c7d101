"""Streams to all live pages of this process, with one poller that queries the database for all of them."""

import asyncio
import contextlib
import logging
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from refinement.selectors.runs.live.page import still_allowed
from refinement.streaming.frames import HEARTBEAT, OPENING, frame
from refinement.streaming.looking import News, Wanted, collect_news
from refinement.streaming.watchers import Watcher

POLL_EVERY = 0.5  # seconds; events reach the page within a second
AFTER_A_FAILURE = 3.0
CHECK_EVERY = 3.0  # removed members lose access within five seconds
HEARTBEAT_EVERY = 15.0
LONGEST = 3600.0  # then the stream ends and the page reconnects
MOST_WATCHERS = 2_000
MOST_OF_ONE_PERSON = 40  # tabs and scripts; hidden tabs close their stream
P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger("wiggum.live")


class Hub:
    """The watchers of each run. Everything except database queries runs on the event loop."""

    def __init__(self, query: Callable[[Mapping[int, Wanted]], Mapping[int, News]] = collect_news) -> None:
        self._query = query
        self._watchers: dict[int, set[Watcher]] = {}
        # Read by views in other threads, changed only on the event loop.
        self._open_streams: Counter[int] = Counter()
        self._poller: asyncio.Task[None] | None = None
        # One thread has one database connection, which is closed when there are no watchers.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="live")

    def __len__(self) -> int:
        return self._open_streams.total()

    @property
    def is_full(self) -> bool:
        return len(self) >= MOST_WATCHERS

    def is_full_for(self, user_id: int) -> bool:
        """Whether the user has reached the limit of open streams."""
        return self._open_streams[user_id] >= MOST_OF_ONE_PERSON

    async def stream(self, watcher: Watcher) -> AsyncIterator[bytes]:
        """The watcher's frames until the run ends, the client disconnects or loses access."""
        if self.is_full or self.is_full_for(watcher.user_id):
            return  # many requests at once; on reconnect they get an error message
        now = asyncio.get_running_loop().time()
        watcher.until = now + LONGEST * random.uniform(0.75, 1)  # noqa: S311  jitter, not security
        watcher.sent_at = now
        self._join(watcher)
        try:
            yield OPENING
            # The poller sends heartbeats, because a timer for each stream would be expensive.
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
            pause = POLL_EVERY
            try:
                await self._send_news()
                if began - checked >= CHECK_EVERY:
                    checked = began
                    await self._check()
            except Exception:
                # Keep the streams open during a short database outage and retry.
                logger.warning("Polling for live pages failed; retrying.", exc_info=True)
                await self._in_thread(close_connection)
                pause = AFTER_A_FAILURE
            self._keep_alive(clock())
            await asyncio.sleep(max(pause - (clock() - began), pause / 5))
        # Set before the next await, so that a new watcher starts a new poller.
        self._poller = None
        await self._in_thread(close_connection)

    def _keep_alive(self, now: float) -> None:
        for watcher in self._all():
            if now >= watcher.until:
                watcher.end()
            elif now - watcher.sent_at >= HEARTBEAT_EVERY:
                watcher.sent_at = now
                watcher.send(HEARTBEAT)

    async def _send_news(self) -> None:
        now = asyncio.get_running_loop().time()
        wanted = {run_id: needs_of(watchers) for run_id, watchers in self._watchers.items()}
        news = await self._in_thread(self._query, wanted)
        for run_id in wanted:
            for watcher in tuple(self._watchers.get(run_id, ())):
                if run_id in news:
                    watcher.sent_at = now if watcher.send_news(news[run_id]) else watcher.sent_at
                else:
                    watcher.send(frame("gone", {}))
                    watcher.end()

    async def _check(self) -> None:
        watchers = self._all()
        people, sessions = await self._in_thread(
            still_allowed,
            {watcher.person for watcher in watchers},
            {watcher.session for watcher in watchers},
        )
        for watcher in watchers:
            if watcher.person not in people or watcher.session not in sessions:
                watcher.send(frame("gone", {}))
                watcher.end()

    async def _in_thread(self, work: Callable[P, T], *args: P.args, **_: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)


def needs_of(watchers: set[Watcher]) -> Wanted:
    return Wanted(
        after_event=min(watcher.after for watcher in watchers),
        after_piece=min(watcher.piece for watcher in watchers),
        seen=frozenset(watcher.seen for watcher in watchers),
        after_judges=min((watcher.judges_piece for watcher in watchers if watcher.html), default=0),
        html=any(watcher.html for watcher in watchers),
    )


def close_connection() -> None:
    with contextlib.suppress(DatabaseError, InterfaceError):
        connection.close()


hub = Hub()
