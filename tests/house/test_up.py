"""One command starts everything, keeps it running and stops it."""

import http.client
import json
import os
import re
import signal
import socket
import time

from tests.house.processes import (
    children,
    descendants,
    environment,
    is_running,
    manage,
    wait_for,
)
from tests.house.test_log_secrets import SECRET
from wiggum_site.log_lines import REDACTED

READY = r"Wiggum is ready at (http://127\.0\.0\.1:\d+/)\n"


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


def test_it_serves_prints_the_link_writes_no_secrets_and_stops_on_ctrl_c(prepared, start):
    instance = start()
    assert instance.wait_until_said(READY)[1] == f"http://127.0.0.1:{instance.port}/"
    assert instance.wait_until_said(rf"http://127\.0\.0\.1:{instance.port}/welcome/[\w-]{{40,}}/\n")
    status, body = get(instance.port, "/healthz")
    assert (status, json.loads(body)["status"]) == (200, "ok")
    wait_for(lambda: get(instance.port, "/readyz")[0] == 200, "a worker's sign of life")
    below = descendants(instance.process.pid)
    assert len(below) >= 3
    for address in (f"/s/{SECRET}/", f"/s/{SECRET}/1/", f"/join/{SECRET}/", f"/welcome/{SECRET}/"):
        assert get(instance.port, address)[0] in (200, 404, 410)
    instance.wait_until_said(rf"Gone: /join/{re.escape(REDACTED)}/")
    assert SECRET not in instance.said()

    assert instance.stop(signal.SIGINT) == 0
    assert "Traceback" not in instance.said()
    assert not [pid for pid in below if is_running(pid)]
    # Only the first start prepares.
    assert "Preparing the database" in prepared[1]
    assert "Collecting static files" in prepared[1]
    assert "Preparing" not in instance.said()
    assert "Collecting" not in instance.said()


def test_what_dies_is_started_again(start):
    instance = start()
    instance.wait_until_said(READY)
    web, worker = instance.child("granian"), instance.child("worker")
    left_behind = children(web)

    os.kill(web, signal.SIGKILL)
    instance.wait_until_said(r"the web process was killed by SIGKILL; restarting in 0\.5 s")
    wait_for(lambda: get(instance.port, "/healthz")[0] == 200, "the web process to answer again")
    assert not [pid for pid in left_behind if is_running(pid)]

    os.kill(worker, signal.SIGKILL)
    instance.wait_until_said(r"the worker process was killed by SIGKILL")
    assert instance.child("manage.py worker") != worker

    (serving,) = children(instance.child("granian"))
    os.kill(serving, signal.SIGKILL)  # this one alone
    instance.wait_until_said(r"the web process exited with code 1")
    wait_for(lambda: get(instance.port, "/healthz")[0] == 200, "the web process to answer again")
    assert instance.stop(signal.SIGTERM) == 0
    assert "Traceback" not in instance.said()


def test_a_web_process_that_hangs_is_replaced_and_nothing_outlives_a_killed_supervisor(start):
    instance = start()
    instance.wait_until_said(READY)
    wait_for(lambda: get(instance.port, "/readyz")[0] == 200, "a worker's sign of life")
    web, worker = instance.child("granian"), instance.child("manage.py worker")
    (serving,) = children(web)
    os.kill(serving, signal.SIGSTOP)
    stopped = time.monotonic()
    instance.wait_until_said(r"the web process failed 4 health checks in a row and was killed")
    assert time.monotonic() - stopped > 10  # four checks, and no hasty one
    wait_for(lambda: get(instance.port, "/healthz")[0] == 200, "the web process to answer again")
    assert not is_running(serving)
    assert instance.child("granian") != web
    assert instance.child("manage.py worker") == worker

    below = descendants(instance.process.pid)
    assert len(below) >= 3
    instance.process.kill()
    instance.process.wait()
    wait_for(lambda: not [pid for pid in below if is_running(pid)], "what a killed supervisor had started")


def test_a_start_right_after_a_kill_finds_the_port_free(start):
    instance = start()
    instance.wait_until_said(READY)
    below = descendants(instance.process.pid)
    web = instance.child("granian")
    for pid in (web, *children(web)):
        os.kill(pid, signal.SIGSTOP)  # too busy to stop when asked
    instance.process.kill()
    instance.process.wait()
    try:
        again = start(PORT=str(instance.port))
        again.wait_until_said(READY)
        assert again.stop() == 0
    finally:
        for pid in filter(is_running, below):
            os.kill(pid, signal.SIGKILL)


def test_a_port_that_becomes_free_is_waited_for_and_an_instance_behind_https_found_ready(start):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        https = {"WIGGUM_HTTPS": "1", "ALLOWED_HOSTS": "wiggum.example.org"}
        instance = start(PORT=str(taken.getsockname()[1]), **https)
        instance.wait_until_said(rf"Port {instance.port} is in use; waiting up to 8 s")
    instance.wait_until_said(READY)
    assert instance.stop() == 0


def test_a_port_in_use_is_said_in_one_line(data_dir):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = manage("up", env=environment(data_dir, PORT=port))
    assert result.returncode == 1
    assert result.stderr.strip().splitlines() == [
        f"wiggum: cannot listen on 127.0.0.1 port {port} (Address already in use); "
        "stop the process that uses it, or set HOST or PORT."
    ]
