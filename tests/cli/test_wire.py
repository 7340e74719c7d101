"""Requests over sockets: network errors and their messages."""

import json
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from refinement.cli.instances import wire
from tests.cli.conftest import called, told
from tests.house.processes import free_port
from wiggum_site import VERSION

TOKEN = "wgm_not-a-secret-of-anybody"
PROBLEM = {"Content-Type": "application/problem+json"}
JSON = {"Content-Type": "application/json"}


def problem(status, detail):
    return status, PROBLEM, json.dumps({"status": status, "detail": detail, "code": "x"})


def healthy(version=VERSION):
    return 200, JSON, json.dumps({"status": "ok", "version": version})


class Server(ThreadingHTTPServer):
    """Answers each path with what the test says, in order; the last answer stays."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, list[tuple[int, dict[str, str], str]]] = {}
        self.seen: list[tuple[str, dict[str, str]]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.seen.append((path, dict(self.headers)))
        left = self.server.answers.get(path) or [(404, {"Content-Type": "text/html"}, "<h1>no</h1>")]
        status, headers, body = left.pop(0) if len(left) > 1 else left[0]
        data = body.encode()
        self.send_response_only(status)
        headers = {"Date": formatdate(usegmt=True), "Content-Length": str(len(data)), **headers}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def server(monkeypatch):
    with Server() as serving:
        threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("WIGGUM_SERVER", serving.address)
        monkeypatch.setenv("WIGGUM_TOKEN", TOKEN)
        yield serving
        serving.shutdown()


PROJECTS = "/api/v1/projects"
ONE = (200, JSON, json.dumps({"items": [{"slug": "alpha"}], "next": None}))


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (problem(401, "No."), 4, "rejected the token: it is invalid, expired or revoked"),
        (problem(403, "You are a viewer in Alpha."), 4, "You are a viewer in Alpha."),
        (problem(500, "Something broke."), 3, "failed (500): Something broke."),
        (problem(422, "query.tag: too long"), 2, "query.tag: too long"),
        ((302, {"Location": "https://elsewhere.example"}, ""), 3, "redirects to https://elsewhere.example"),
        ((404, {"Content-Type": "text/html"}, "<h1>hello</h1>"), 3, "is not Wiggum (404)"),
        ((200, JSON, "<html>"), 3, "is not Wiggum"),
    ],
)
def test_refusals_and_strangers_are_told_apart(server, answer, code, words):
    server.answers[PROJECTS] = [answer]
    result = called("run", "list")
    assert (result.exit_code, words in result.stderr) == (code, True), result.stderr
    assert TOKEN not in result.output


def test_another_version_is_named(server):
    server.answers["/healthz"] = [healthy("9.9.9")]
    result = called("run", "list")
    assert (result.exit_code, "runs Wiggum 9.9.9, but this command is" in result.stderr) == (3, True)


def test_the_token_goes_along_as_a_bearer_and_a_redirect_gets_none(server):
    server.answers[PROJECTS] = [(302, {"Location": f"{server.address}/thief"}, "")]
    called("run", "list")
    ((path, headers),) = server.seen
    assert (path, headers["Authorization"]) == (PROJECTS, f"Bearer {TOKEN}")


def test_a_server_that_asks_for_patience_gets_it(server, monkeypatch):
    waits = []
    monkeypatch.setattr(wire.time, "sleep", waits.append)
    busy = (429, {**PROBLEM, "Retry-After": "7"}, "{}")
    server.answers[PROJECTS] = [busy, busy, ONE]
    server.answers["/api/v1/projects/alpha/runs"] = [(200, JSON, '{"items": [], "next": null}')]
    result = called("run", "list", "--json")
    assert told(result) == {"runs": []}
    assert waits == [7.0, 7.0]
    assert "Retrying in 7 s" in result.stderr
    server.answers[PROJECTS] = [busy]
    assert (called("run", "list").exit_code, len(waits)) == (3, 5)


def test_nobody_answers(monkeypatch):
    monkeypatch.setenv("WIGGUM_TOKEN", TOKEN)
    address = f"http://127.0.0.1:{free_port()}"
    result = called("run", "list", "--server", address)
    assert (result.exit_code, f"cannot reach {address}:" in result.stderr) == (3, True)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("wiggum.example.org", "write it like https://"),
        ("ftp://wiggum.example.org", "write it like https://"),
        ("https://me:secret@wiggum.example.org", "must not contain a user name, password or query"),
        ("https://wiggum.example.org/?token=1", "must not contain a user name, password or query"),
    ],
)
def test_an_address_that_cannot_be_meant(address, words):
    result = called("run", "list", "--server", address, "--token", TOKEN)
    assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_token_in_the_clear_is_warned_of(capsys):
    assert wire.server_address("http://wiggum.example.org/") == "http://wiggum.example.org"
    assert "the token is sent to wiggum.example.org unencrypted" in capsys.readouterr().err
    wire.server_address("http://localhost:8000")
    wire.server_address("https://wiggum.example.org")
    assert capsys.readouterr().err == ""


def test_where_the_token_comes_from(server, monkeypatch, tmp_path):
    monkeypatch.delenv("WIGGUM_TOKEN")
    assert "--server requires a token" in called("run", "list").stderr
    kept = tmp_path / "token"
    result = called("run", "list", "--token", f"@{kept}")
    assert (result.exit_code, "cannot read the token from" in result.stderr) == (4, True)
    kept.write_text(f"{TOKEN}\n")
    server.answers[PROJECTS] = [problem(401, "No.")]
    assert called("run", "list", "--token", f"@{kept}").exit_code == 4
    assert server.seen[-1][1]["Authorization"] == f"Bearer {TOKEN}"
    kept.write_text("two words\n")
    assert "the token is empty or invalid" in called("run", "list", "--token", f"@{kept}").stderr


READY = {"database": {"ok": True, "message": ""}, "broker": {"ok": True, "message": ""}}


def doctor(server, worker=True):
    server.answers.setdefault("/healthz", [healthy()])
    told_worker = {"worker": {"ok": worker, "message": "No worker has been heard of lately."}}
    server.answers["/readyz"] = [(200, JSON, json.dumps(READY | told_worker))]
    server.answers.setdefault(PROJECTS, [ONE])
    server.answers["/api/v1/projects/alpha"] = [(200, JSON, '{"slug": "alpha", "role": "viewer"}')]
    result = called("doctor", "--json")
    return result.exit_code, {entry["name"]: entry for entry in json.loads(result.stdout)["findings"]}


def test_the_doctor_looks_at_a_server(server):
    code, found = doctor(server)
    assert (code, {entry["status"] for entry in found.values()}) == (0, {"ok"})
    assert found["token"]["what"] == "valid for project alpha, as viewer"


def test_the_doctor_finds_a_servers_clock_version_worker_and_token(server):
    status, headers, body = healthy("9.9.9")
    server.answers["/healthz"] = [(status, {**headers, "Date": formatdate(1_000_000_000, usegmt=True)}, body)]
    server.answers[PROJECTS] = [problem(401, "No.")]
    code, found = doctor(server, worker=False)
    assert code == 3
    assert {name: entry["status"] for name, entry in found.items()} == {
        "server": "warn", "server clock": "fail", "ready: worker": "fail", "token": "fail",
    }  # fmt: skip
    assert "behind this machine's" in found["server clock"]["what"]
    assert "NTP" in found["server clock"]["remedy"]


def test_the_doctor_finds_no_server(monkeypatch):
    monkeypatch.setenv("WIGGUM_TOKEN", TOKEN)
    result = called("doctor", "--server", f"http://127.0.0.1:{free_port()}")
    assert result.exit_code == 3
    assert "fail server:" in result.stdout
    assert "Start it there, and check the URL" in result.stdout
