"""The instance: secrets, tables, clocks, messages, workers, port, static files."""

import time
from contextlib import closing
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
from django.db import ConnectionHandler, connection
from django.db.migrations import Migration
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from refinement.cli.doctor import data, queues, web
from refinement.cli.doctor.clocks import clock_finding
from refinement.cli.doctor.settings import secret_key
from refinement.models import WorkerBeat
from refinement.static_fingerprint import kept_fingerprint, static_fingerprint
from tests.house.processes import free_port
from tests.postgres import POSTGRES, postgres_answers
from tests.views.runs.listed import runs_of
from wiggum_site import VERSION, environment


def test_a_secret_that_others_can_read(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    assert secret_key().what == "not created yet; wiggum up creates it"
    monkeypatch.setenv("SECRET_KEY", settings.SECRET_KEY)
    assert secret_key().what == "set in the environment"
    (tmp_path / "secret_key").write_text(settings.SECRET_KEY)
    (tmp_path / "secret_key").chmod(0o644)
    finding = secret_key()
    assert (finding.status, finding.remedy) == (
        "warn",
        f"Make it private: chmod 600 {tmp_path}/secret_key",
    )
    (tmp_path / "secret_key").chmod(0o600)
    assert secret_key().status == "ok"


def test_missing_migrations(db):
    assert data.database().status == "ok"
    assert data.migrations().status == "ok"
    newest = MigrationRecorder.Migration.objects.filter(app="refinement").order_by("name").last().name
    MigrationRecorder(connection).record_unapplied("refinement", newest)
    finding = data.migrations()
    assert (finding.status, finding.what) == ("fail", f"1 not applied, starting with refinement.{newest}")
    assert "wiggum migrate" in finding.remedy


def test_a_database_of_a_newer_wiggum(db):
    MigrationRecorder(connection).record_applied("refinement", "9999_from_the_future")
    finding = data.migrations()
    assert (finding.status, "9999_from_the_future is unknown here" in finding.what) == ("fail", True)
    assert "git pull" in finding.remedy


def test_a_migration_that_another_took_the_place_of_is_no_stranger():
    squashed = Migration("0002_squashed", "refinement")
    squashed.replaces = [("refinement", "0002_old"), ("refinement", "0003_old")]
    known = data.known_migrations({("refinement", "0002_squashed"): squashed})
    assert known == {("refinement", name) for name in ("0002_squashed", "0002_old", "0003_old")}


@pytest.mark.parametrize(
    ("apart", "status", "words"),
    [
        (1, "ok", "has the same time"), (-5, "warn", "5 s behind"), (5, "warn", "5 s ahead of"),
        (90, "fail", "90 s ahead of"),
    ],
)  # fmt: skip
def test_clocks_apart(apart, status, words):
    finding = clock_finding("clock", "the server", 1_000_000 + apart, 1_000_000)
    assert (finding.status, words in finding.what) == (status, True)
    assert status == "ok" or "NTP" in finding.remedy


@pytest.mark.skipif(not postgres_answers(), reason="no PostgreSQL server answers at WIGGUM_TEST_POSTGRES")
def test_this_machines_clock_against_the_databases(db, monkeypatch, tmp_path):
    monkeypatch.setenv("DATABASE_URL", POSTGRES)
    there = ConnectionHandler({"default": environment.database(tmp_path)})["default"]
    monkeypatch.setattr(data, "connection", there)
    with closing(there):
        assert data.database_clock().status == "ok"
        now = time.time
        monkeypatch.setattr(data.time, "time", lambda: now() + 60)
        finding = data.database_clock()
    assert (finding.status, "60 s behind this machine's" in finding.what) == ("fail", True)


@pytest.mark.parametrize(
    ("scheme", "server"),
    [("redis", "Redis"), ("rediss", "Redis"), ("amqp", "RabbitMQ"), ("amqps", "RabbitMQ")],
)
def test_a_broker_that_is_down(settings, scheme, server):
    port = free_port()
    settings.BROKER_URL = f"{scheme}://secret:word@127.0.0.1:{port}"
    finding = queues.broker()
    assert (finding.status, finding.what) == ("fail", f"{server} does not respond at 127.0.0.1:{port}")
    assert finding.remedy.startswith(f"Start {server}")
    assert "secret" not in repr(finding)


def test_the_database_as_broker(db):
    assert queues.broker().status == "ok"


def beat(seconds: float, version: str = VERSION) -> None:
    now = timezone.now()
    WorkerBeat.objects.create(
        name="far:1:ab", started_at=now, seen_at=now + timedelta(seconds=seconds), threads=8, version=version
    )


def test_no_worker(project):
    (finding,) = queues.workers()
    assert (finding.status, finding.what) == ("fail", "no worker online in the last 20 s")
    assert "wiggum worker" in finding.remedy
    beat(-30)
    runs_of(project, 2, status="queued")
    (finding,) = queues.workers()
    assert (finding.status, "2 unfinished runs" in finding.what) == ("fail", True)


@pytest.mark.parametrize(
    ("seconds", "version", "statuses"),
    [
        (-3, VERSION, ["ok"]),
        (-3, "0.0.1", ["warn"]),
        (60, VERSION, ["fail", "ok"]),
        (5, VERSION, ["warn", "ok"]),
    ],
)
def test_workers_by_version_and_clock(db, seconds, version, statuses):
    beat(seconds, version)
    findings = queues.workers()
    assert [finding.status for finding in findings] == statuses
    if len(statuses) > 1:
        assert "the clock of the worker on far is" in findings[0].what


class Answering:
    """A web server that says one thing, on a port of its own."""

    def __init__(self, answer: bytes) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self) -> int:
        Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self.server.server_port

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        (b"<html>another program</html>", "fail", "Address already in use"),
        (b"[]", "fail", "Address already in use"),
        (b'{"status": "ok", "version": "0.0.1"}', "warn", "Wiggum 0.0.1 responds"),
        (b'{"status": "ok", "version": "%s"}' % VERSION.encode(), "ok", "responds on"),
    ],
)
def test_who_has_the_port(answer, status, words):
    with Answering(answer) as number:
        finding = web.port("127.0.0.1", number)
    assert (finding.status, words in finding.what) == (status, True), finding
    assert status != "fail" or f"ss -ltnp 'sport = :{number}'" in finding.remedy


def test_a_free_port():
    assert "is free" in web.port("127.0.0.1", free_port()).what


def test_static_files(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    finding = web.static_files()
    assert (finding.status, "wiggum up" in finding.remedy) == ("warn", True)
    (settings.STATIC_ROOT / "staticfiles.json").write_text("{}")
    kept_fingerprint().write_text(static_fingerprint())
    assert web.static_files().status == "ok"
    kept_fingerprint().write_text("of another version")
    assert web.static_files().status == "warn"
