"""Starts the application's commands as users do, and waits for their output."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 180.0  # seconds; only a failing test waits that long
Result = TypeVar("Result")


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """This process's environment with only these settings of Wiggum."""
    ours = {"DATABASE_URL", "DEBUG", "SECRET_KEY", "ALLOWED_HOSTS", "HOST", "PORT", "DJANGO_SETTINGS_MODULE"}
    inherited = {k: v for k, v in os.environ.items() if k not in ours and not k.startswith("WIGGUM_")}
    return inherited | {"WIGGUM_DATA_DIR": str(data_dir)} | settings


def manage(*arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(condition: Callable[[], Result], what: str) -> Result:
    """The condition's first true value."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE:g} s in vain for {what}")


def children(pid: int) -> list[int]:
    """The child processes of a process, from /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = re.search(r"\) \S (\d+)", (entry / "stat").read_text())
            except OSError:
                continue
            if parent and int(parent[1]) == pid:
                found.append(int(entry.name))
    return found


def descendants(pid: int) -> list[int]:
    below = children(pid)
    return below + [lower for child in below for lower in descendants(child)]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


class Instance:
    """A running `manage.py up`, with what it has printed so far."""

    def __init__(self, data_dir: Path, **settings: str) -> None:
        self.port = int(settings.get("PORT") or free_port())
        self.output = data_dir.parent / f"output-{self.port}-{time.monotonic_ns()}"
        self.settings = environment(data_dir, **{**settings, "PORT": str(self.port)})
        with self.output.open("w") as stream:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=self.settings,
                stdout=stream,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )

    def said(self) -> str:
        return self.output.read_text()

    def wait_until_said(self, pattern: str) -> re.Match[str]:
        def said() -> re.Match[str] | None:
            assert self.process.poll() is None, self.said()
            return re.search(pattern, self.said())

        return wait_for(said, f"{pattern!r}, having read:\n{self.said()}")

    def child(self, word: str) -> int:
        """The process ID of the direct child whose command contains this word; waits until there is one."""

        def found() -> int | None:
            return next((pid for pid in children(self.process.pid) if word in command_of(pid)), None)

        return wait_for(found, f"a child process running {word}")

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def clean_up(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
