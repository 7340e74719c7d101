"""One open page: what it has heard so far, and what waits to be sent to it."""

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from refinement.selectors.runs.live import TAIL_CHARS
from refinement.streaming.frames import frame, state_frame
from refinement.streaming.looking import News, standing

MOST_WAITING = 100  # looks; a reader that is slower than this is let go, and comes back where it was


class Watcher:
    """A reader of one run's stream."""

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
        self.stays = stays  # also when the run is over: people go on scoring and deciding
        self.html = html  # a page: it gets a judge's reply as HTML, too
        self.reading = ""  # the last such HTML it was sent
        self.piece = 0
        self.text: int | None = None  # the number of the first piece of the text it has heard of
        self.seen: object = None
        self.until = float("inf")  # when it has been open for long enough
        self.spoken_at = 0.0
        self.ended = False
        self.queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def say(self, parts: bytes) -> None:
        """Puts frames in line; a line that grows too long ends the stream."""
        if self.ended or not parts:
            return
        if self.queue.qsize() >= MOST_WAITING:
            self.end()
        else:
            self.queue.put_nowait(parts)

    def end(self) -> None:
        """No more frames after those in line."""
        if not self.ended:
            self.ended = True
            self.queue.put_nowait(None)

    def tell(self, news: News) -> bool:
        """Says what is new to this reader, in the order in which it happened; whether anything was."""
        if self.person[0] in news.blind:
            # Their page may still show what they must not see any more: it is told to go.
            self.say(frame("blind", {}))
            self.end()
            return True
        parts = b"".join(self._new(news))
        self.say(parts)
        if news.glance.is_finished and not self.stays and self.after >= news.glance.newest_event:
            self.say(frame("done", {"status": news.glance.status}))
            self.end()
        return bool(parts)

    def _new(self, news: News) -> Iterator[bytes]:
        yield from self._new_text(news)
        if news.state is not None and self.seen != standing(news.glance):
            self.seen = standing(news.glance)
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
