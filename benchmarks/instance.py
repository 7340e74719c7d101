"""A Wiggum instance for benchmarks: its own database, a model server and workers, all on loopback."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
POSTGRES = os.environ.get("WIGGUM_TEST_POSTGRES", "postgres://root@127.0.0.1/test")
REDIS = os.environ.get("WIGGUM_TEST_REDIS", "redis://127.0.0.1:6379/9")
AMQP = os.environ.get("WIGGUM_TEST_AMQP", "amqp://guest:guest@127.0.0.1:5672/")


@dataclass
class Instance:
    """An instance's environment and its processes."""

    environment: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def manage(self, *arguments: str) -> str:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def start(self, *arguments: str, quiet: bool = True) -> subprocess.Popen[bytes]:
        output = subprocess.DEVNULL if quiet else None
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env=self.environment, stdout=output, stderr=output
        )
        self.processes.append(process)
        return process

    def worker(self, threads: int = 32) -> subprocess.Popen[bytes]:
        return self.start("manage.py", "worker", "--threads", str(threads))

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=12)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def model_server(latency: float, port: int = 0, **more: str) -> Iterator[str]:
    """Runs the loopback model server in a process; yields its address."""
    options = [text for name, value in more.items() for text in (f"--{name}", value)]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.loopback.server",
            "--port",
            str(port),
            "--latency",
            str(latency),
            *options,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@contextmanager
def postgres_database() -> Iterator[str]:
    """Creates an empty database; yields its address, and drops it at the end."""
    address = database_make(f"wiggum_bench_{os.getpid()}")
    try:
        yield address
    finally:
        database_drop(address)


def database_make(name: str) -> str:
    """Creates a database; returns its address."""
    on_server("CREATE DATABASE {}", name)
    return f"{POSTGRES.rsplit('/', 1)[0]}/{name}"


def database_drop(address: str) -> None:
    on_server("DROP DATABASE IF EXISTS {} WITH (FORCE)", address.rsplit("/", 1)[1])


def on_server(statement: LiteralString, *names: str) -> None:
    import psycopg
    from psycopg import sql

    base = POSTGRES.replace("postgres://", "postgresql://", 1)
    with psycopg.connect(base, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextmanager
def instance(size: str, ollama_url: str) -> Iterator[Instance]:
    """A migrated instance of one of the sizes: sqlite, postgres, postgres+redis, postgres+rabbitmq."""
    with ExitStack() as stack:
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="wiggum-bench-"))
        environment = environment_of(data, ollama_url)
        if size.startswith("postgres"):
            environment["DATABASE_URL"] = stack.enter_context(postgres_database())
        if size.endswith("+redis"):
            environment["WIGGUM_BROKER_URL"] = REDIS
        if size.endswith("+rabbitmq"):
            environment["WIGGUM_BROKER_URL"] = AMQP
        made = Instance(environment)
        made.manage("migrate", "-v0")
        try:
            yield made
        finally:
            made.stop()


def environment_of(data: str, ollama_url: str) -> dict[str, str]:
    """This process's environment, changed for an instance on SQLite with this data folder."""
    environment = {**os.environ, "WIGGUM_DATA_DIR": data, "WIGGUM_OLLAMA_URL": ollama_url}
    for name in ("DATABASE_URL", "WIGGUM_BROKER_URL"):
        environment.pop(name, None)
    return environment


def cpu_seconds(pid: int) -> float:
    """The CPU time that a process and its threads have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def wait_for(condition: Callable[[], object], seconds: float, every: float = 0.1) -> None:
    """Waits until the condition is true; raises TimeoutError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"condition not met within {seconds:.0f} s")
        time.sleep(every)
