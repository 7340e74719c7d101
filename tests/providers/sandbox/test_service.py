"""The evaluator service, in a separate process, over a Unix socket."""

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict

import pytest

from refinement.providers.sandbox import Busy, CannotStart, Job, JobResult, NoSandbox, SandboxConfig, running
from refinement.providers.sandbox import remote as remote_module
from refinement.providers.sandbox.remote import run_remotely
from refinement.providers.sandbox.service import Server
from tests.house.processes import PATIENCE, ROOT, wait_for
from tests.providers.sandbox.surroundings import processes

DONE = JobResult(0, "", "out", "", 0, 0, 0.1, "")


@pytest.fixture
def serve(tmp_path):
    """Serves in a thread of this process; a path to ask it at."""
    started = []

    def serve(*commands, **here):
        path = str(tmp_path / f"socket{len(started)}")
        server = Server(path, frozenset(commands), SandboxConfig(**here))
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        started.append(server)
        return path

    yield serve
    for server in started:
        server.shutdown()
        server.server_close()


def ask(path, *command, text="the text", seconds=20, file_name="", look=lambda: None):
    return run_remotely(path, Job(command, text, seconds, file_name), look)


def test_it_runs_a_job_in_the_sandbox(serve):
    path = serve("sh")
    done = ask(path, "sh", "-c", "cat; echo; id -u; exit 4")
    assert (done.out, done.exit_code, done.open_to) == ("the text\n65534\n", 4, "")
    assert ask(path, "sh", "-c", "cat {file}", file_name="candidate.py").out == "the text"
    assert ask(path, "sh", "-c", "sleep 60", seconds=1).stopped == "was stopped after 1 second, its limit"


def test_it_runs_only_what_its_own_setting_names(serve):
    with pytest.raises(CannotStart, match="WIGGUM_COMMANDS does not allow it"):
        ask(serve("python3"), "sh", "-c", "exit 0")
    assert ask(serve("*"), "sh", "-c", "exit 0").exit_code == 0


def test_its_refusals_are_told_as_on_this_machine(serve, monkeypatch, tmp_path):
    path = serve("*")
    with pytest.raises(CannotStart, match="No such file"):
        ask(path, "there-is-no-such-program")
    monkeypatch.setattr(running, "_slots", threading.Semaphore(0))
    with pytest.raises(Busy):
        ask(path, "sh", "-c", "exit 0")
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSandbox, match="Install bubblewrap"):
        ask(path, "sh", "-c", "exit 0")


def test_a_client_that_hangs_up_stops_its_job(serve):
    path, marker = serve("sleep"), f"9997.{os.getpid()}"

    def look():
        if processes(marker):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(path, "sleep", marker, seconds=200, look=look)
    wait_for(lambda: not processes(marker), "the command to end")


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"command": "sh", "seconds": 1},
        {"command": [], "seconds": 1},
        {"command": ["sh", 1], "seconds": 1},
        {"command": ["sh"], "seconds": 10**9},
        {"command": ["sh"], "seconds": "1"},
        {"command": ["sh"], "seconds": 1, "file_name": "../up"},
    ],
)
def test_a_request_that_makes_no_sense_runs_nothing(serve, request_):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(serve("*"))
        client.sendall(json.dumps(request_).encode() + b"\n")
        assert json.loads(client.makefile().readline())["failure"] == "cannot_start"


@pytest.mark.parametrize("sent", [b"", b"half a requ", b"no JSON\n", b"[1]\n"])
def test_it_outlives_whoever_sends_nonsense(serve, sent):
    path = serve("sh")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1_000) == b""
    assert ask(path, "sh", "-c", "exit 0").exit_code == 0


@pytest.fixture
def impostor(tmp_path):
    """Something else that listens there, and answers what a test says."""
    threads = []

    def listen(answer):
        path = str(tmp_path / "impostor")
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()

        def serve():
            with server, server.accept()[0] as connection, suppress(BrokenPipeError):
                connection.makefile().readline()
                connection.sendall(answer)

        threads.append(threading.Thread(target=serve))
        threads[-1].start()
        return path

    yield listen
    for thread in threads:
        thread.join(PATIENCE)


def test_a_good_answer_is_taken(impostor):
    assert ask(impostor(json.dumps({"finished": asdict(DONE)}).encode() + b"\n"), "sh") == DONE


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no JSON\n",
        b"{}\n",
        b"[]\n",
        json.dumps({"finished": asdict(DONE) | {"exit_code": 10**12}}).encode() + b"\n",
        json.dumps({"finished": asdict(DONE) | {"exit_code": None}}).encode() + b"\n",
        json.dumps({"finished": asdict(DONE) | {"exit_code": None, "stopped": "x" * 999}}).encode() + b"\n",
        json.dumps({"finished": asdict(DONE) | {"open_to": "the moon"}}).encode() + b"\n",
        json.dumps({"finished": asdict(DONE) | {"out": 1}}).encode() + b"\n",
        json.dumps({"finished": asdict(DONE) | {"seconds": -1}}).encode() + b"\n",
        b"x" * 3_000_000,
    ],
)
def test_an_answer_that_makes_no_sense_is_no_result(impostor, answer):
    with pytest.raises(CannotStart, match="evaluator service"):
        ask(impostor(answer), "sh")


def test_a_service_that_is_away_is_waited_for_and_then_named(monkeypatch, tmp_path):
    monkeypatch.setattr(remote_module, "CONNECT_SECONDS", 0.1)
    with pytest.raises(CannotStart, match=r"evaluator service at .*nobody does not answer"):
        ask(str(tmp_path / "nobody"), "sh")


def test_as_a_process_it_reads_its_settings_and_ends_when_asked(tmp_path):
    path = tmp_path / "socket"
    variables = {"PATH": os.environ["PATH"], "WIGGUM_COMMANDS": "cat", "WIGGUM_EVALUATOR_SOCKET": str(path)}
    command = [sys.executable, "-m", "refinement.providers.sandbox.service"]
    for _ in range(2):  # the second finds the first one's socket
        service = subprocess.Popen(command, cwd=ROOT, env=variables)
        try:
            assert ask(str(path), "cat").out == "the text"
            with pytest.raises(CannotStart, match="does not allow it"):
                ask(str(path), "sh", "-c", "exit 0")
            service.terminate()
            assert service.wait(PATIENCE) == 0
        finally:
            service.kill()
            service.wait()
    missing = subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, timeout=PATIENCE)
    assert (missing.returncode, "WIGGUM_EVALUATOR_SOCKET" in missing.stderr) == (1, True)


def test_it_takes_jobs_of_up_to_an_hour(serve):
    path = serve("sh")
    assert ask(path, "sh", "-c", "echo soon", seconds=3_600).out == "soon\n"
    with pytest.raises(CannotStart, match="between 1 and 3600 seconds"):
        ask(path, "sh", "-c", "echo soon", seconds=3_601)


def test_it_tells_the_last_line_while_the_job_runs(serve):
    seen = []

    def stop_once_told():
        if seen:
            raise KeyboardInterrupt

    job = Job(("sh", "-c", "printf 'one\\ntwo\\n'; sleep 60"), "", 60)
    with pytest.raises(KeyboardInterrupt):
        run_remotely(serve("sh"), job, stop_once_told, seen.append)
    assert seen == ["two"]


@pytest.mark.parametrize(
    ("asked", "network", "open_to"),
    [(True, {"sh"}, "network"), (True, {"*"}, "network"), (True, {"cat"}, ""), (False, {"sh"}, "")],
)
def test_a_program_has_network_only_where_both_sides_allow_it(tmp_path, asked, network, open_to):
    path = str(tmp_path / "socket")
    with Server(path, frozenset({"sh"}), SandboxConfig(), frozenset(network)) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        done = run_remotely(
            path, Job(("sh", "-c", "ls /sys/class/net; true"), "", 20, network=asked), lambda: None
        )
        server.shutdown()
    assert (done.exit_code, done.open_to) == (0, open_to)
