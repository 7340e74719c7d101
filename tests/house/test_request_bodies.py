"""Limits on request bodies: the middleware alone, and a real server under load."""

import asyncio
import http.client
import json
import resource
import socket
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from tests.event_loops import run_coroutine
from tests.house.processes import Instance, children, wait_for
from tests.prepared import prepared_copy
from wiggum_site import request_bodies
from wiggum_site.request_bodies import IMPORT_BYTES, SMALL_BODY_BYTES, Limits, RequestBodies, body_limit

READY = r"Wiggum is ready at"


# --- the middleware alone -------------------------------------------------------------------------
def scope(path="/p/alpha/runs/new/", client="192.0.2.1", **headers):
    given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "http_version": "1.1", "path": path, "client": (client, 1), "headers": given}


def chunks(*sizes, last=True):
    """A `receive` that hands out chunks of these sizes, and then ends the body or falls silent."""
    left = list(sizes)

    async def receive():
        if not left:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"a" * left.pop(0), "more_body": bool(left) or not last}

    return receive


async def reading(scope, receive, send):
    """An application that reads the body as Django does, and answers with its length."""
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message["body"])
        more = message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(length).encode()})


async def ask(application, given, receive):
    """Status, headers and body of the answer."""
    sent = []

    async def send(message):
        sent.append(message)

    await application(given, receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


def answered(given, receive, **limits):
    return run_coroutine(ask(RequestBodies(reading, Limits(**limits)), given, receive))


def test_a_body_within_its_limits_arrives_whole():
    status, _, body = answered(scope(content_length="30"), chunks(10, 20))
    assert (status, body) == (200, b"30")


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/account/login/", SMALL_BODY_BYTES),
        ("/join/token/", SMALL_BODY_BYTES),
        ("/p/alpha/runs/import/", IMPORT_BYTES),
        ("/api/v1/projects/alpha/imports", IMPORT_BYTES),
        ("/p/alpha/runs/new/", 12 * 1024 * 1024 + 1_000_000),
    ],
)
def test_the_limit_depends_on_the_path(path, limit):
    assert body_limit(path) == limit
    assert answered(scope(path, transfer_encoding="chunked"), chunks(limit))[0] == 200
    assert answered(scope(path, transfer_encoding="chunked"), chunks(limit, 1))[0] == 413
    assert answered(scope(path, content_length=str(limit + 1)), chunks(1))[0] == 413


def test_the_api_answers_with_problem_details():
    given = scope("/api/v1/projects/alpha/runs", content_length=str(10**9))
    status, headers, body = answered(given, chunks(1))
    assert status == 413
    assert headers[b"content-type"] == b"application/problem+json"
    assert json.loads(body)["code"] == "too_large"
    assert "larger than 13 MB" in json.loads(body)["detail"]


def test_a_body_that_stops_arriving_times_out():
    given = scope(content_length="1000")
    status, headers, body = answered(given, chunks(7, last=False), grace_seconds=0.05)
    assert (status, headers[b"connection"]) == (408, b"close")
    assert b"took too long" in body


@pytest.mark.parametrize(("bytes_per_second", "status"), [(100, 200), (10**9, 408)])
def test_a_body_that_keeps_arriving_gets_more_time(monkeypatch, bytes_per_second, status):
    """Ten parts, one every two seconds of a clock that the test turns."""
    parts = []

    async def scene():
        loop = asyncio.get_running_loop()
        clock = [loop.time()]
        monkeypatch.setattr(loop, "time", lambda: clock[0])

        async def slowly():
            clock[0] += 2
            await asyncio.sleep(0)
            parts.append(b"a" * 100)
            return {"type": "http.request", "body": parts[-1], "more_body": len(parts) < 10}

        limits = Limits(grace_seconds=15, bytes_per_second=bytes_per_second)
        return await ask(RequestBodies(reading, limits), scope(content_length="1000"), slowly)

    assert run_coroutine(scene())[0] == status
    assert (len(parts) == 10) == (status == 200)


def refused_beside(waiting, newcomer, **limits):
    """The answer to a newcomer while requests of these addresses wait for their bodies."""

    async def scene():
        application = RequestBodies(reading, Limits(**limits))
        tasks = [
            asyncio.create_task(
                ask(application, scope(client=client, content_length="9"), chunks(1, last=False))
            )
            for client in waiting
        ]
        await asyncio.sleep(0)
        during = await ask(application, scope(client=newcomer, content_length="9"), chunks(9))
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        after = await ask(application, scope(client=newcomer, content_length="9"), chunks(9))
        assert not application.usage.requests
        assert not application.usage.sizes
        return during, after

    (status, headers, _), (later, *_) = run_coroutine(scene())
    assert later == 200  # places are given back
    return status, headers.get(b"retry-after")


def test_one_address_cannot_take_every_place():
    busy = ["192.0.2.1"] * 3
    assert refused_beside(busy, "192.0.2.1", client_requests=3) == (429, b"5")
    assert refused_beside(busy, "192.0.2.2", client_requests=3)[0] == 200


def test_all_addresses_together_have_a_limit():
    busy = [f"192.0.2.{number}" for number in range(3)]
    assert refused_beside(busy, "192.0.2.9", total_requests=3) == (503, b"5")


def test_stored_bytes_have_a_limit():
    assert refused_beside(["192.0.2.1"] * 3, "192.0.2.1", client_bytes=10) == (429, b"5")
    assert refused_beside(["192.0.2.1"] * 3, "192.0.2.2", total_bytes=10) == (503, b"5")


def test_behind_a_proxy_clients_are_told_apart(settings):
    settings.TRUSTED_PROXIES = 1
    clients = {request_bodies.client_of(scope(x_forwarded_for=f"192.0.2.{n}")) for n in range(3)}
    assert len(clients) == 3


def test_requests_without_a_body_pass_when_everything_is_taken():
    async def plain(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})

    application = RequestBodies(plain, Limits(total_requests=0))
    assert run_coroutine(ask(application, scope("/healthz"), chunks()))[0] == 200


# --- a real server --------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    running = Instance(prepared_copy(tmp_path_factory, "bodies"))
    try:
        running.wait_until_said(READY)
        yield running
    finally:
        running.clean_up()


@contextmanager
def many_files():
    """Room for thousands of sockets in this process."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def page_comes(port, path):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("GET", path, headers={"Host": "localhost"})
        response = connection.getresponse()
        response.read()
    return response.status == 200


HEAD = b"POST /account/login/ HTTP/1.1\r\nHost: localhost\r\n"
HALF_A_BODY = HEAD + b"Content-Length: 1000\r\n\r\nlogin=a"


def first_bytes(connection):
    connection.setblocking(False)
    try:
        return connection.recv(12)
    except BlockingIOError:
        return b"open"


def test_thousands_of_unfinished_requests_stop_no_page_and_one_address_has_few_bodies(instance):
    """A third of them have sent half a body, a third half a head, and a third nothing."""
    count = 1_450
    with many_files(), ExitStack() as stack:
        by_kind = {
            sent: [
                stack.enter_context(socket.create_connection(("127.0.0.1", instance.port)))
                for _ in range(count)
            ]
            for sent in (HALF_A_BODY, HEAD, b"")
        }
        for sent, connections in by_kind.items():
            for connection in connections:
                connection.sendall(sent)
        assert all(page_comes(instance.port, path) for path in ("/healthz", "/account/login/"))
        # All are closed or answered by themselves: after 10 s without a head, 20 s without a body.
        let_go = {}

        def all_are_let_go():
            for connection in (each for connections in by_kind.values() for each in connections):
                if connection not in let_go and (got := first_bytes(connection)) != b"open":
                    let_go[connection] = got
            return len(let_go) == 3 * count

        wait_for(all_are_let_go, "all of them to be let go")
        answers = Counter(let_go[connection] for connection in by_kind[HALF_A_BODY])
    assert answers == {b"HTTP/1.1 408": 32, b"HTTP/1.1 429": count - 32}


def test_a_body_without_an_end_is_not_stored(instance):
    (serving,) = children(instance.child("granian"))
    before = written_bytes(serving)
    frame = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", instance.port), timeout=30) as connection:
        connection.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in range(1_600):  # 100 MB
            connection.sendall(frame)
        assert connection.recv(12) == b"HTTP/1.1 413"
    assert written_bytes(serving) - before < 1_000_000


def written_bytes(pid):
    return int(Path(f"/proc/{pid}/io").read_text().split("wchar: ")[1].split()[0])


def test_a_client_that_sends_everything_first_reads_the_refusal(instance):
    with closing(http.client.HTTPConnection("127.0.0.1", instance.port, timeout=30)) as connection:
        connection.request(
            "POST", "/p/alpha/runs/new/", body=b"a" * 20_000_000, headers={"Host": "localhost"}
        )
        response = connection.getresponse()
        assert response.status == 413
        assert b"larger than 13 MB" in response.read()
