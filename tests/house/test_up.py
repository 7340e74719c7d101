"""One command starts everything, keeps it running and stops it."""

import http.client
import json
import os
import shutil
import signal
import socket

import pytest

from tests.house.processes import (
    Instance,
    children,
    descendants,
    environment,
    is_running,
    manage,
    wait_for,
)

READY = r"Wiggum is ready at (http://127\.0\.0\.1:\d+/)\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A data directory as a first start leaves it: preparing one takes longer than all the rest."""
    directory = tmp_path_factory.mktemp("prepared") / "data"
    instance = Instance(directory)
    try:
        instance.wait_until_said(READY)
        first_output = instance.said()
        assert instance.stop() == 0
    finally:
        instance.clean_up()
    return directory, first_output


@pytest.fixture
def start(prepared, data_dir):
    instances = []
    shutil.copytree(prepared[0], data_dir, dirs_exist_ok=True)

    def begin(**settings):
        instances.append(Instance(data_dir, **settings))
        return instances[-1]

    yield begin
    for instance in instances:
        instance.clean_up()


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


def test_it_serves_prints_the_link_and_stops_on_ctrl_c(start):
    instance = start()
    assert instance.wait_until_said(READY)[1] == f"http://127.0.0.1:{instance.port}/"
    assert instance.wait_until_said(rf"http://127\.0\.0\.1:{instance.port}/welcome/[\w-]{{40,}}/\n")
    status, body = get(instance.port, "/healthz")
    assert (status, json.loads(body)["status"]) == (200, "ok")
    wait_for(lambda: get(instance.port, "/readyz")[0] == 200, "a worker's sign of life")
    below = descendants(instance.process.pid)
    assert len(below) >= 3

    assert instance.stop(signal.SIGINT) == 0
    assert "Traceback" not in instance.said()
    assert not [pid for pid in below if is_running(pid)]


def test_only_the_first_start_prepares(prepared, start):
    assert "Preparing the database" in prepared[1]
    assert "Collecting static files" in prepared[1]
    instance = start()
    instance.wait_until_said(READY)
    assert instance.stop(signal.SIGTERM) == 0
    assert "Preparing" not in instance.said()
    assert "Collecting" not in instance.said()
    assert "Traceback" not in instance.said()


def test_what_dies_is_started_again(start):
    instance = start()
    instance.wait_until_said(READY)
    web, worker = instance.child("granian"), instance.child("worker")
    left_behind = children(web)

    os.kill(web, signal.SIGKILL)
    instance.wait_until_said(r"the web process was ended by SIGKILL; starting it again in 0\.5 s")
    wait_for(lambda: get(instance.port, "/healthz")[0] == 200, "the web process to answer again")
    assert not [pid for pid in left_behind if is_running(pid)]

    os.kill(worker, signal.SIGKILL)
    instance.wait_until_said(r"the worker process was ended by SIGKILL")
    assert instance.child("manage.py worker") != worker
    assert instance.stop() == 0


def test_the_serving_process_alone_is_replaced_too(start):
    instance = start()
    instance.wait_until_said(READY)
    (serving,) = children(instance.child("granian"))
    os.kill(serving, signal.SIGKILL)
    instance.wait_until_said(r"the web process ended with exit code 1")
    wait_for(lambda: get(instance.port, "/healthz")[0] == 200, "the web process to answer again")


def test_nothing_outlives_a_killed_supervisor(start):
    instance = start()
    instance.wait_until_said(READY)
    below = descendants(instance.process.pid)
    assert len(below) >= 3
    instance.process.kill()
    instance.process.wait()
    wait_for(lambda: not [pid for pid in below if is_running(pid)], "the children to end")


def test_a_port_in_use_is_said_in_one_line(data_dir):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = manage("up", env=environment(data_dir, PORT=port))
    assert result.returncode == 1
    assert result.stderr.strip().splitlines() == [
        f"wiggum: cannot listen on 127.0.0.1 port {port} (Address already in use); "
        "stop what uses it, or choose another with HOST= and PORT=."
    ]


def test_an_instance_behind_https_is_found_ready(start):
    instance = start(WIGGUM_HTTPS="1", ALLOWED_HOSTS="wiggum.example.org")
    instance.wait_until_said(READY)
    assert instance.stop() == 0
