"""A worker that kills itself at a chosen point: `python -m tests.durability.dying_worker --point POINT`.

Production code knows nothing of this. The functions at the point are wrapped before the worker starts.
"""

import argparse
import os
import signal
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import django
from django.core.management import call_command

POINTS = ("before-claim", "after-claim", "mid-generation", "before-commit", "after-commit")
CALL_LOST = ("mid-generation", "before-commit")  # there the model's work is not yet kept


class Countdown:
    """Kills the process, as the kernel would, when it is passed for the n-th time."""

    def __init__(self, passes: int) -> None:
        self.passes = passes
        self.lock = threading.Lock()

    def count(self) -> None:
        with self.lock:
            self.passes -= 1
            if self.passes == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Puts a wrapper in the place of something that is there; a name that moved is an error."""
    setattr(owner, name, make(getattr(owner, name)))


def at_the_claim(countdown: Countdown, *, after: bool) -> None:
    from refinement.services import advancing

    def make(take: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*args: Any, **more: Any) -> Any:
            if not after:
                countdown.count()
            taken = take(*args, **more)
            if after and taken is not None:
                countdown.count()
            return taken

        return dying

    replace(advancing, "run_take", make)


def in_mid_generation(countdown: Countdown) -> None:
    """On the second piece of a reply."""
    from refinement.services.calling import Caller

    def make(control_for: Callable[..., Any]) -> Callable[..., Any]:
        def dying(self: Any, holds: Callable[[], bool], on_text: Callable[[str], None], *more: Any) -> Any:
            pieces = 0

            def counted(piece: str) -> None:
                nonlocal pieces
                on_text(piece)
                pieces += 1
                if pieces == 2:
                    countdown.count()

            return control_for(self, holds, counted, *more)

        return dying

    replace(Caller, "control", make)


def at_the_commit(countdown: Countdown, *, after: bool) -> None:
    """At the commit that follows a reply; what waits for it is sent only after this returns.

    Writes that PostgreSQL gets as one statement are their own commit.
    """
    from django.db.backends.base.base import BaseDatabaseWrapper

    from refinement.models.writes import Writes
    from refinement.services.calling import Caller

    replied = threading.local()

    def make_ask(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asking(self: Any, request: Any) -> Any:
            answer = ask(self, request)
            replied.now = True
            return answer

        return asking

    def make_commit(commit: Callable[..., Any]) -> Callable[..., Any]:
        def dying(self: Any) -> Any:
            ours, replied.now = getattr(replied, "now", False), False
            if ours and not after:
                countdown.count()
            done = commit(self)
            if ours and after:
                countdown.count()
            return done

        return dying

    replace(Caller, "ask", make_ask)
    replace(BaseDatabaseWrapper, "commit", make_commit)
    replace(Writes, "_at_once", make_commit)


def plant(point: str, passes: int) -> None:
    countdown = Countdown(passes)
    if point in ("before-claim", "after-claim"):
        at_the_claim(countdown, after=point == "after-claim")
    elif point == "mid-generation":
        in_mid_generation(countdown)
    else:
        at_the_commit(countdown, after=point == "after-commit")


def shorten(seconds: float) -> None:
    """Leases and patience of so many seconds, to spare the tests the waiting."""
    from refinement.broker import consumer, rows
    from refinement.services import calling, leases, waking
    from wiggum_site.broker import broker

    lease = timedelta(seconds=seconds)
    for owner, name, value in (
        (leases, "LEASE", lease),
        (calling, "RENEW_EVERY", lease / 3),
        (rows, "LEASE", lease),
        (consumer, "UPKEEP_SECONDS", seconds / 3),
        (waking, "FIRST_PATIENCE", lease),
    ):
        replace(owner, name, lambda _, value=value: value)
    if hasattr(broker, "heartbeat_timeout"):
        broker.heartbeat_timeout = int(seconds * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--point", choices=POINTS, help="where to die; nowhere unless given")
    parser.add_argument("--passes", type=int, default=3, help="die when the point is passed this often")
    parser.add_argument("--lease", type=float, help="seconds, instead of production's")
    given = parser.parse_args()
    django.setup()
    if given.lease:
        shorten(given.lease)
    if given.point:
        plant(given.point, given.passes)
    call_command("worker", threads=4)


if __name__ == "__main__":
    main()
