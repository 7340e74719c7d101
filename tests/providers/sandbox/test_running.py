"""Real commands in the sandbox: input, environment, limits and results."""

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from refinement.providers.sandbox import (
    Busy,
    CannotStart,
    Job,
    Limits,
    NoSandbox,
    SandboxConfig,
    bubblewrap,
    run_job,
)
from refinement.providers.sandbox import running as running_module
from refinement.providers.sandbox.bubblewrap import NOBODY, own_paths, sandbox_problem
from tests.house.processes import ROOT

_numbers = itertools.count(1)


@pytest.fixture
def endless():
    """A command line that no other process on this machine has."""
    return f"sleep 9999.{os.getpid()}{next(_numbers)}"


def run(*command, text="the text", seconds=20, file_name="candidate.txt", look=lambda: None, **options):
    here = SandboxConfig(**{name: options.pop(name) for name in ("readable", "hidden") if name in options})
    return run_job(Job(command, text, seconds, file_name, **options), here, look)


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
    until = time.monotonic() + 60
    while still_alive(words) and time.monotonic() < until:
        time.sleep(0.05)
    return not still_alive(words)


def test_it_is_given_a_file_in_an_empty_folder_or_its_input():
    by_file = run("/bin/sh", "-c", "cat {file}; ls -A; echo to stderr >&2; exit 3", file_name="candidate.py")
    assert (by_file.out, by_file.err) == ("the textcandidate.py\n", "to stderr\n")
    assert (by_file.exit_code, by_file.stopped, by_file.open_to) == (3, "", "")
    assert run("/bin/cat", text="on its input", file_name="").out == "on its input"


@pytest.mark.parametrize("name", ["../candidate", "a/b", "/etc/x", ".."])
def test_the_file_has_a_plain_name(name):
    with pytest.raises(ValueError, match="plain file name"):
        Job(("cat",), "", 1, name)


def test_it_can_write_its_file_and_its_folder():
    done = shell("echo more >> {file}; cat {file}; mkdir a; touch a/b /tmp/c; ls a; ls /tmp")
    assert (done.out, done.err) == ("the textmore\nb\nc\n", "")


@pytest.mark.parametrize("program", ["python3", "node", "sh", "perl"])
def test_installed_programs_work(program):
    if shutil.which(program, path="/usr/bin:/usr/local/bin") is None:
        pytest.skip(f"{program} is not installed")
    flag = {"sh": "-c", "python3": "-c"}.get(program, "-e")
    script = {"python3": "print(6)", "node": "console.log(6)", "perl": "print 6"}.get(program, "echo 6")
    assert run(program, flag, script).out.strip() == "6"


def test_it_sees_no_variable_of_ours(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    names = {line.split("=")[0] for line in shell("env").out.splitlines()}
    assert names <= {"PATH", "HOME", "TMPDIR", "LANG", "USER", "LOGNAME", "PWD", "_", "SHLVL", "OLDPWD"}


@pytest.fixture
def tools():
    """A folder outside of the system's, which every account may read."""
    with tempfile.TemporaryDirectory(prefix="tools-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "bin").mkdir()
        (folder / "bin" / "measure").write_text("#!/bin/sh\necho measured; touch $(dirname $0)/planted")
        (folder / "bin" / "measure").chmod(0o755)
        yield folder


def test_a_folder_is_readable_if_the_administrator_says_so_and_its_programs_are_found(tools):
    with pytest.raises(CannotStart, match="No such file"):
        run("measure")
    done = run("measure", readable=(str(tools),))
    assert done.out == "measured\n"
    assert "Read-only file system" in done.err
    assert not (tools / "bin" / "planted").exists()


def test_one_program_can_be_readable_without_its_folder(tools):
    program = tools / "bin" / "measure"
    (tools / "bin" / "beside").touch()
    assert run(str(program), readable=(str(program),)).out == "measured\n"
    assert run("/bin/ls", str(tools / "bin"), readable=(str(program),)).out == "measure\n"


def test_what_is_hidden_is_not_there_even_among_the_systems_programs():
    hidden = "/usr/share/doc"
    assert len(shell(f"ls {hidden}").out.splitlines()) > 3
    done = shell(f"ls {hidden}; touch {hidden}/x", hidden=(hidden, "/usr/bin/env", "/nowhere", "/"))
    assert done.out == ""
    assert "Read-only file system" in done.err
    assert shell("cat /usr/bin/env", hidden=("/usr/bin/env",)).out == ""


def test_a_program_that_lies_in_a_hidden_folder_is_shown_alone():
    program = shutil.which("env", path="/usr/bin")
    done = shell("ls /usr/bin/env && ls /usr/share", hidden=("/usr/share",), readable=(program,))
    assert done.out == "/usr/bin/env\n"


def test_the_application_and_the_home_directory_are_our_own():
    assert {str(ROOT), str(Path.home()), sys.prefix} == set(own_paths())


def test_memory_of_one_process_is_limited():
    done = run("python3", "-c", "bytearray(3 << 30)")
    assert done.exit_code != 0
    assert "MemoryError" in done.err


FORKS = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        block = bytearray(60 << 20)
        time.sleep(60)
time.sleep(60)
"""


def test_memory_of_all_processes_together_is_limited():
    done = run("python3", "-c", FORKS, limits=Limits(memory_bytes=200_000_000))
    assert done.stopped == "was stopped because it used more than 200 MB of memory"
    assert done.seconds < 10


def test_memory_in_files_without_a_name_counts():
    script = "import os, time\nds = [os.memfd_create('x') for _ in range(9)]\n"
    script += "for d in ds: os.write(d, bytes(50 << 20))\ntime.sleep(60)"
    done = run("python3", "-c", script, limits=Limits(memory_bytes=200_000_000))
    assert done.stopped == "was stopped because it used more than 200 MB of memory"


def test_processes_and_disk_are_limited():
    done = shell("for i in $(seq 30); do sleep 60 & done; wait", limits=Limits(processes=20))
    assert "more than 20 processes" in done.stopped or "Cannot fork" in done.err
    assert done.seconds < 10
    done = shell("yes | head -c 3000000 > a; yes | head -c 3000000 > b", limits=Limits(disk_bytes=4_000_000))
    assert "No space left on device" in done.err


def test_out_of_time_it_ends_with_all_it_started_and_its_words_are_kept(endless):
    done = shell(f"echo begun; setsid {endless} & {endless}", seconds=1)
    assert (done.out, done.exit_code) == ("begun\n", None)
    assert done.stopped == "was stopped after 1 second, its limit"
    assert gone(endless)


def test_of_much_output_the_ends_are_kept_and_the_rest_is_counted():
    done = shell("echo first; yes | head -c 5000000; echo last")
    assert done.out.startswith("first\ny\n")
    assert done.out.endswith("y\nlast\n")
    assert done.out_missing == 5_000_011 - Limits().kept_bytes
    assert f"[... {done.out_missing:,} bytes left out here ...]" in done.out
    assert len(done.out) < Limits().kept_bytes + 100
    limits = Limits(output_bytes=1_000_000)
    assert shell("yes >&2", limits=limits).stopped == "was stopped because it wrote more than 1,000,000 bytes"


def test_bytes_that_are_no_text_break_nothing():
    assert run("/usr/bin/printf", r"\377\376 \000 ok").out == "\ufffd\ufffd \x00 ok"


def test_a_signal_is_told_as_shells_tell_it():
    assert shell("kill -9 $$").exit_code == 137


@pytest.mark.parametrize(
    ("program", "why"),
    [("there-is-no-such-program", "No such file or directory"), ("/etc/passwd", "Permission denied")],
)
def test_what_cannot_be_started_is_no_result(program, why):
    with pytest.raises(CannotStart, match=why) as raised:
        run(program)
    assert not isinstance(raised.value, NoSandbox)


def test_a_program_that_ends_with_bubblewraps_own_status_was_started():
    assert shell("echo 'bwrap: execvp x: No such file or directory' >&2; exit 1").exit_code == 1


def test_without_bubblewrap_nothing_is_run_and_the_message_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandbox, match=r"Install bubblewrap .*WIGGUM_UNSAFE_COMMANDS_WITHOUT_SANDBOX=1"):
        shell("exit 0")
    assert sandbox_problem() == "bubblewrap is not installed"


def test_a_bubblewrap_that_does_not_work_runs_nothing(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1")
    for path in (fake, tmp_path, *tmp_path.parents):
        if path.owner() == Path(tmp_path).owner():
            path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(
        NoSandbox, match=r"does not work here \(bwrap: No permissions to create new namespace\)"
    ):
        shell("exit 0")


def test_only_as_many_run_at_once_as_there_are_cores(monkeypatch):
    monkeypatch.setattr(running_module, "_slots", threading.BoundedSemaphore(1))
    seen = []

    def look():
        if not seen:
            with pytest.raises(Busy) as raised:
                shell("exit 0")
            seen.append(raised.value)

    assert shell("sleep 0.2", look=look).exit_code == 0
    assert len(seen) == 1
    assert shell("exit 0").exit_code == 0


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
        "from refinement.providers.sandbox import Job, SandboxConfig, run_job\n"
        f"run_job(Job(('/bin/sh', '-c', 'exec {endless}'), '', 60), SandboxConfig(), lambda: None)"
    )
    worker = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    try:
        until = time.monotonic() + 60
        while not still_alive(endless) and time.monotonic() < until:
            time.sleep(0.05)
        assert still_alive(endless)
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    assert gone(endless)


@pytest.fixture
def unsafely(monkeypatch):
    """Runs without a sandbox, as where bubblewrap is missing and the setting allows it."""
    monkeypatch.setattr(bubblewrap, "PROGRAM", "there-is-no-bwrap")

    def run(*command, **options):
        return run_job(
            Job(command, "the text", 20, **options), SandboxConfig(allow_unsafe=True), lambda: None
        )

    return run


def test_without_a_sandbox_a_command_runs_if_the_setting_allows_it_and_the_result_says_so(unsafely):
    done = unsafely("/bin/sh", "-c", "cat {file}; id -u; pwd; exit 3", file_name="candidate.py")
    text, folder = done.out.splitlines()
    assert (text, done.exit_code, done.open_to) == (
        f"the text{NOBODY if os.geteuid() == 0 else os.geteuid()}",
        3,
        "all",
    )
    assert not Path(folder).exists()
    assert unsafely("cat").out == "the text"


def test_without_a_sandbox_very_deep_folders_are_removed(unsafely):
    script = "import os; print(os.getcwd()); [(os.mkdir('d'), os.chdir('d')) for _ in range(1500)]"
    done = unsafely("python3", "-c", script)
    assert done.exit_code == 0
    assert not Path(done.out.strip()).exists()


def test_without_a_sandbox_what_cannot_be_started_is_no_result(unsafely):
    with pytest.raises(CannotStart, match="No such file"):
        unsafely("there-is-no-such-program")


def test_where_there_is_a_sandbox_the_setting_changes_nothing():
    done = run_job(Job(("pwd",), "", 20), SandboxConfig(allow_unsafe=True), lambda: None)
    assert (done.out, done.open_to) == ("/work\n", "")
