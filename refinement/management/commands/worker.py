"""Runs one worker process until it is stopped."""

import gc
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, close_old_connections
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules

from refinement.execution.metrics import totals_flush
from refinement.execution.workers import BEAT_SECONDS, worker_beat, worker_leave, worker_name
from refinement.management.plain_errors import plain_database_errors
from refinement.providers.sandbox.protection import close_to_own_account
from refinement.services.upkeep import Upkeep

# For threads, and again for consumers, which wait three seconds for an unreachable broker.
STOP_MILLISECONDS = 6_000
UPKEEP_SECONDS = 2.0
# With dozens of threads, Python's default switch interval of 5 ms costs more than their work.
SWITCH_SECONDS = 0.05
GARBAGE_AFTER = 10_000  # new objects: a step creates thousands, and nearly all are short-lived
IDLE_MILLISECONDS = 1_000  # how long idle threads sleep; new work wakes them


def has_idle_thread(worker: Any) -> bool:
    """Whether a thread that could take a message is idle."""
    unfinished: int = worker.work_queue.unfinished_tasks
    return "runs" in worker.consumers and unfinished < len(worker.workers)


class Command(BaseCommand):
    help = "Runs a worker process. You can run any number of them."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--threads", type=int, default=settings.WORKER_THREADS)
        parser.add_argument("--queues", nargs="*", default=[], help="only these queues (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        threads: int = options["threads"]
        if threads < 1:
            raise CommandError("A worker needs at least one thread.")
        close_to_own_account()
        sys.setswitchinterval(SWITCH_SECONDS)
        stopping = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda _signal, _frame: stopping.set())
        with plain_database_errors():
            self.run(threads, set(options["queues"]), stopping)

    def run(self, threads: int, queues: set[str], stopping: Event) -> None:
        """Process messages and send a heartbeat every few seconds, until `stopping` is set."""
        name = worker_name()
        beat = partial(worker_beat, name=name, started_at=timezone.now(), threads=threads)
        worker, upkeep = self.worker(threads, queues), Upkeep()
        beat()
        gc.collect()
        gc.freeze()  # objects loaded so far stay, so the garbage collector can skip them
        gc.set_threshold(GARBAGE_AFTER)
        try:
            worker.start()
            try:
                self.maintain(worker, upkeep, stopping, beat)
            finally:
                worker.stop(timeout=STOP_MILLISECONDS)
        finally:
            self.leave(name)

    def maintain(self, worker: Any, upkeep: Upkeep, stopping: Event, beat: Callable[[], None]) -> None:
        beaten = time.monotonic()
        while True:
            close_old_connections()
            try:
                upkeep.once(patient=not has_idle_thread(worker))
                if time.monotonic() - beaten >= BEAT_SECONDS:
                    beaten = time.monotonic()
                    beat()
            except DatabaseError as error:
                self.stderr.write(f"wiggum: the worker could not reach the database: {error}")
            if stopping.wait(UPKEEP_SECONDS):
                return

    def leave(self, name: str) -> None:
        try:
            totals_flush()
            worker_leave(name=name)
        except DatabaseError:
            self.stderr.write("wiggum: the worker's heartbeat could not be deleted; it expires in a minute.")

    def worker(self, threads: int, queues: set[str]) -> Any:
        # Imported here, because Django loads the module of every command to list them.
        from dramatiq import Worker

        from wiggum_site.broker import broker

        autodiscover_modules("actors")
        if unknown := queues - broker.get_declared_queues():
            raise CommandError(f"There is no queue named {', '.join(sorted(unknown))}.")
        broker.emit_after("process_boot")
        worker = Worker(
            broker,
            queues=queues or None,
            worker_threads=threads,
            worker_timeout=IDLE_MILLISECONDS,
        )
        # The limit includes messages in progress: one per thread keeps all busy, and none waits here.
        worker.queue_prefetch = threads
        return worker
