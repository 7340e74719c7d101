"""Commands that somebody else wrote down, run for real: what they see, what they may use, how they end."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from refinement.providers import confined
from refinement.providers.confined import CannotStart, Job, run_confined
from tests.house.processes import ROOT

_numbers = itertools.count(1)


@pytest.fixture
def endless():
    """A command line that no other process on this machine has."""
    return f"sleep 9999.{os.getpid()}{next(_numbers)}"


def run(*command, given="the text", seconds=20, file_name="candidate.txt", hidden=(), look=lambda: None):
    return run_confined(Job(command, given, seconds, file_name, hidden), look)


def shell(script, **options):
    return run("/bin/sh", "-c", script, **options)


def still_alive(words: str) -> bool:
    """Whether any process of this machine has these words as its command line."""
    wanted = words.replace(" ", "\0").encode()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if wanted in entry.read_bytes():
                return True
        except OSError:
            continue
    return False


def gone(words: str) -> bool:
    until = time.monotonic() + 20
    while still_alive(words) and time.monotonic() < until:
        time.sleep(0.05)
    return not still_alive(words)


def test_it_is_given_a_file_in_an_empty_folder_or_its_input():
    by_file = run("/bin/sh", "-c", "cat {file}; ls -A; echo to stderr >&2; exit 3", file_name="candidate.py")
    assert (by_file.out, by_file.err) == ("the textcandidate.py\n", "to stderr\n")
    assert (by_file.exit_code, by_file.stopped) == (3, "")
    assert run("/bin/cat", given="on its input", file_name="").out == "on its input"


def test_it_sees_no_variable_of_ours_and_none_of_what_is_hidden(monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "secret_key").write_text("the key")
    done = shell(f"env; cat /proc/{os.getpid()}/environ; cat {tmp_path}/secret_key", hidden=(str(tmp_path),))
    assert "secret" not in done.out
    assert done.open_to or "the key" not in done.out
    names = {line.split("=")[0] for line in done.out.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "PWD", "_", "SHLVL", "OLDPWD"}


def test_it_has_no_network_where_the_system_lets_us(port):
    script = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
    done = run("python3", "-c", script)
    assert done.open_to in ("", "files", "all")
    assert (done.exit_code == 0) is (done.open_to == "all")


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_memory_is_limited():
    done = run("python3", "-c", "bytearray(3 << 30)")
    assert done.exit_code != 0
    assert "MemoryError" in done.err


def test_out_of_time_it_ends_with_all_it_started_and_its_words_are_kept(endless):
    done = shell(f"echo begun; setsid {endless} & {endless}", seconds=1)
    assert (done.out, done.exit_code) == ("begun\n", None)
    assert done.stopped == "was stopped after 1 second, its limit"
    assert done.open_to == "all" or gone(endless)


def test_of_much_output_the_ends_are_kept_and_the_rest_is_counted(monkeypatch):
    done = shell("echo first; yes | head -c 5000000; echo last")
    assert done.out.startswith("first\ny\n")
    assert done.out.endswith("y\nlast\n")
    assert done.out_missing == 5_000_011 - confined.KEPT_BYTES
    assert f"[... {done.out_missing:,} bytes left out here ...]" in done.out
    assert len(done.out) < confined.KEPT_BYTES + 100
    monkeypatch.setattr(confined, "MOST_BYTES", 1_000_000)
    assert shell("yes >&2").stopped == "was stopped because it wrote more than 1,000,000 bytes"


def test_bytes_that_are_no_text_break_nothing():
    assert run("/usr/bin/printf", r"\377\376 \000 ok").out == "\ufffd\ufffd \x00 ok"


def test_a_signal_is_told_as_shells_tell_it():
    assert shell("kill -9 $$").exit_code == 137


def test_what_cannot_be_started_is_no_result():
    with pytest.raises(CannotStart):
        run("there-is-no-such-program")


def test_whoever_looks_can_stop_it(endless):
    def look():
        if still_alive(endless):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shell(f"exec {endless}", look=look)
    assert gone(endless)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_worker_that_is_killed_takes_its_command_along(endless):
    script = (
        "from refinement.providers.confined import Job, run_confined\n"
        f"run_confined(Job(('/bin/sh', '-c', 'exec {endless}'), '', 60), lambda: None)"
    )
    worker = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    try:
        until = time.monotonic() + 30
        while not still_alive(endless) and time.monotonic() < until:
            time.sleep(0.05)
        assert still_alive(endless)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    assert gone(endless)
