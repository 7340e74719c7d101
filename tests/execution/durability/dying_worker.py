"""A worker that kills itself at a chosen point.

Run it as `python -m tests.execution.durability.dying_worker --point POINT`.

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

# The points, and at which pass to die: in the third step, the first revision, if there is one.
POINTS = {
    "before-claim": 1,
    "after-claim": 1,
    "before-step": 3,
    "mid-generation": 3,
    "before-commit": 3,
    "after-commit": 3,
    "before-yield": 1,  # other work is waiting: before the lease is released and a message is sent
    "after-yield": 1,  # in between, where the message is not part of the transaction
}
CALL_LOST = ("mid-generation", "before-commit")  # the model's reply is not saved yet


class Countdown:
    """Kills the process with SIGKILL at the n-th pass."""

    def __init__(self, passes: int) -> None:
        self.passes = passes
        self.lock = threading.Lock()

    def count(self) -> None:
        with self.lock:
            self.passes -= 1
            if self.passes == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def replace(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
    """Replaces an existing attribute with a wrapper; fails if the name no longer exists."""
    setattr(owner, name, make(getattr(owner, name)))


def at_the_claim(countdown: Countdown, *, after: bool) -> None:
    from refinement.execution import advancing

    def make(take: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*args: Any, **more: Any) -> Any:
            if not after:
                countdown.count()
            taken = take(*args, **more)
            if after and taken is not None:
                countdown.count()
            return taken

        return dying

    replace(advancing, "lease_take", make)


def in_mid_generation(countdown: Countdown) -> None:
    """On the second piece of a reply."""
    from refinement.execution.calls import Caller

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


def before_the_step(countdown: Countdown) -> None:
    """Between two steps: after the results of one are recorded, before the next begins."""
    from refinement.execution.steps import step as execution

    def make(prepare: Callable[..., Any]) -> Callable[..., Any]:
        def dying(*args: Any) -> Any:
            countdown.count()
            return prepare(*args)

        return dying

    replace(execution, "with_instructions", make)


def at_the_commit(countdown: Countdown, *, after: bool) -> None:
    """At the commit that follows a reply."""
    from refinement.execution.calls import Caller

    commit_is_ours = at_commits(countdown, after=after)

    def make_replied(replied: Callable[..., Any]) -> Callable[..., Any]:
        def replying(*args: Any) -> Any:
            row = replied(*args)
            commit_is_ours()
            return row

        return replying

    replace(Caller, "replied", make_replied)


def at_the_yield(countdown: Countdown, *, after: bool) -> None:
    """At the commit that puts a run back in the queue, as if other work were always waiting."""
    from refinement.execution import advancing
    from refinement.execution.steps.recording import Recorder

    commit_is_ours = at_commits(countdown, after=after)

    def make_yield(requeue: Callable[..., Any]) -> Callable[..., Any]:
        def yielding(self: Any) -> None:
            commit_is_ours()
            requeue(self)

        return yielding

    replace(advancing, "work_is_waiting", lambda _: lambda: True)
    replace(Recorder, "requeue", make_yield)


def at_commits(countdown: Countdown, *, after: bool) -> Callable[[], None]:
    """A function after which this thread's next commit counts; its messages are sent after the commit."""
    from django.db.backends.base.base import BaseDatabaseWrapper

    marked = threading.local()

    def make_commit(commit: Callable[..., Any]) -> Callable[..., Any]:
        def dying(self: Any) -> Any:
            ours, marked.now = getattr(marked, "now", False), False
            if ours and not after:
                countdown.count()
            done = commit(self)
            if ours and after:
                countdown.count()
            return done

        return dying

    def mark() -> None:
        marked.now = True

    replace(BaseDatabaseWrapper, "commit", make_commit)
    return mark


def plant(point: str, passes: int) -> None:
    countdown = Countdown(passes)
    if point.endswith("-claim"):
        at_the_claim(countdown, after=point == "after-claim")
    elif point == "before-step":
        before_the_step(countdown)
    elif point == "mid-generation":
        in_mid_generation(countdown)
    elif point.endswith("-commit"):
        at_the_commit(countdown, after=point == "after-commit")
    else:
        at_the_yield(countdown, after=point == "after-yield")


def shorten(seconds: float) -> None:
    """Shortens leases and delays to so many seconds, so that tests wait less."""
    from refinement.broker import consumer, rows
    from refinement.execution import calls as calling
    from refinement.execution import leases, waking
    from refinement.execution.steps import recording
    from wiggum_site.broker import broker

    lease = timedelta(seconds=seconds)
    for owner, name, value in (
        (leases, "LEASE", lease),
        (recording, "LEASE", lease),
        (calling, "RENEW_SECONDS", seconds / 3),
        (rows, "LEASE", lease),
        (consumer, "UPKEEP_SECONDS", seconds / 3),
        (waking, "RESEND_AFTER", lease),
    ):
        replace(owner, name, lambda _, value=value: value)
    if hasattr(broker, "heartbeat_timeout"):
        broker.heartbeat_timeout = int(seconds * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--point", choices=POINTS, help="where to die; nowhere unless given")
    parser.add_argument("--passes", type=int, help="die when the point is passed this often")
    parser.add_argument("--lease", type=float, help="seconds, instead of production's")
    parser.add_argument("--threads", type=int, default=4)
    given = parser.parse_args()
    django.setup()
    if given.lease:
        shorten(given.lease)
    if given.point:
        plant(given.point, given.passes or POINTS[given.point])
    call_command("worker", threads=given.threads)


if __name__ == "__main__":
    main()
