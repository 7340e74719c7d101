"""One open stream: what the client has seen, and the frames to send."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from refinement.selectors.runs.live.page import TAIL_CHARS
from refinement.streaming.frames import frame, state_frame
from refinement.streaming.looking import News, state_key

MOST_WAITING = 100  # frames; a slower client is disconnected and can reconnect where it left off


class Watcher:
    """A client of one run's stream."""

    def __init__(
        self,
        *,
        run_id: int,
        user_id: int,
        project_id: int,
        session: str,
        after: int,
        stays: bool = False,
        html: bool = False,
    ) -> None:
        self.run_id = run_id
        self.user_id = user_id
        self.person = (user_id, project_id)
        self.session = session
        self.after = after
        self.stays = stays  # stays open after the run ends, for scores and decisions
        self.html = html  # a page, which also gets the judge's reply as HTML
        self.reading = ""  # the last HTML sent
        self.piece = 0
        self.judges_piece = 0  # the newest of a board's judges
        self.text: int | None = None  # the first piece of the current text
        self.seen: object = None
        self.until = float("inf")  # when the stream ends
        self.sent_at = 0.0
        self.ended = False
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def send(self, parts: bytes) -> None:
        """Queues frames. A full queue ends the stream."""
        if self.ended or not parts:
            return
        if self.queue.qsize() >= MOST_WAITING:
            self.end()
        else:
            self.queue.put_nowait(parts)

    def end(self) -> None:
        """Ends the stream after the queued frames."""
        if not self.ended:
            self.ended = True
            self.queue.put_nowait(None)

    def send_news(self, news: News) -> bool:
        """Sends what is new to this client, in order. Returns whether anything was sent."""
        if self.person[0] in news.blind:
            # The page may show what this user must not see, so it has to reload.
            self.send(frame("blind", {}))
            self.end()
            return True
        parts = b"".join(self._new(news))
        self.send(parts)
        if news.glance.is_finished and not self.stays and self.after >= news.glance.newest_event:
            self.send(frame("done", {"status": news.glance.status}))
            self.end()
        return bool(parts)

    def _new(self, news: News) -> Iterator[bytes]:
        yield from self._new_text(news)
        if self.html and news.judges and (news.glance.last_of_judges or 0) > self.judges_piece:
            self.judges_piece = news.glance.last_of_judges or 0
            yield news.made("judges", partial(frame, "judges", {"html": news.judges}))
        if news.state is not None and self.seen != state_key(news.glance):
            self.seen = state_key(news.glance)
            yield news.made("state", partial(state_frame, news.state))
        for event in news.events:
            if event["id"] > self.after:
                self.after = event["id"]
                yield news.made(event["id"], partial(frame, "event", event, event["id"]))

    def _new_text(self, news: News) -> Iterator[bytes]:
        glance = news.glance
        begins = glance.first_piece != self.text
        if begins:
            self.text, self.piece, self.reading = glance.first_piece, 0, ""
        new = [entry for entry in news.pieces if entry[0] > self.piece]
        if not new and not begins:
            return
        yield news.made(("text", self.piece, begins), partial(text_frame, new, begins=begins))
        if new:
            self.piece = new[-1][0]
        if self.html and news.reading not in ("", self.reading):
            self.reading = news.reading
            yield news.made("reading", partial(frame, "reading", {"html": news.reading}))


def text_frame(pieces: Sequence[tuple[int, str]], *, begins: bool) -> bytes:
    data: dict[str, Any] = {"text": "".join(text for _, text in pieces)[-TAIL_CHARS:]}
    if begins:
        data["begins"] = True
    return frame("text", data)
