"""A full disk: every operation ends with a clear response and one line in the log."""

import http.client
import logging
import resource
from contextlib import closing

import pytest
from django.db import DatabaseError, connection, connections
from django.test import Client

from refinement.services.people.tokens import token_make
from refinement.storage_errors import is_disk_full
from tests.house.processes import children
from tests.views.runs.finished import finished_run
from wiggum_site.log_lines import LineFormatter

TITLE = "The server&#x27;s disk is full"
LONG = "z" * 20_000


@pytest.fixture
def full_database(transactional_db, project, owner):
    """A run in a database that may not grow by a page: SQLite itself refuses what would need one."""
    run = finished_run(project)
    _, token = token_make(project=project, by=owner, name="CI", role="editor", days=7)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        (pages,) = cursor.fetchone()
        cursor.execute("PRAGMA freelist_count")
        (free,) = cursor.fetchone()
        cursor.execute("CREATE TABLE filler (content BLOB)")
        cursor.execute(f"INSERT INTO filler VALUES (zeroblob({free * 4096}))")
        cursor.execute("PRAGMA page_count")
        (pages,) = cursor.fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")
    yield run, token
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1073741823")
        cursor.execute("DROP TABLE filler")


def lines_of(caplog):
    return [LineFormatter("%(message)s").format(record) for record in caplog.records]


def test_a_form_that_cannot_be_saved(full_database, owner, project, caplog):
    run, _ = full_database
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    address = f"/p/{project.slug}/runs/{run.pk}/threads/"
    answer = client.post(address, {"round": "2", "about": "round", "body": LONG})
    assert answer.status_code == 507
    assert TITLE in answer.content.decode()
    (line,) = lines_of(caplog)
    assert line == f"Insufficient Storage: {address} (disk full: database or disk is full)"


def test_the_api_says_so_as_problem_details(full_database, project, caplog):
    run, token = full_database
    answer = Client(raise_request_exception=False).post(
        f"/api/v1/projects/{project.slug}/runs/{run.pk}/threads",
        {"place": "run", "body": LONG},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 507
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "disk_full"
    assert "free space" in answer.json()["detail"]
    assert lines_of(caplog) == [
        f"Insufficient Storage: /api/v1/projects/{project.slug}/runs/{run.pk}/threads"
    ]


def test_postgresql_says_it_by_a_code(postgres_database, django_db_blocker):
    with django_db_blocker.unblock(), connections[postgres_database].cursor() as cursor:
        with pytest.raises(DatabaseError) as full:
            cursor.execute("DO $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$")
        with pytest.raises(DatabaseError) as other:
            cursor.execute("DO $$ BEGIN RAISE 'something else'; END $$")
    assert is_disk_full(full.value)
    assert not is_disk_full(other.value)


def test_other_errors_keep_their_traceback():
    try:
        raise ValueError("not about disks")
    except ValueError as error:
        record = logging.LogRecord("a", logging.ERROR, "f", 1, "Broken.", (), (ValueError, error, None))
    assert not is_disk_full(ValueError())
    assert "ValueError: not about disks" in LineFormatter("%(message)s").format(record)


def post(port, path, body, **headers):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", path, body=body, headers={"Host": "localhost", **headers})
        response = connection.getresponse()
        return response.status, response.getheader("Content-Type"), response.read().decode()


def test_a_body_that_cannot_be_spooled(start):
    """A real server whose files may not grow beyond a megabyte; bodies go to a file from 2.5 MB on."""
    instance = start()
    instance.wait_until_said("Wiggum is ready at")
    (serving,) = children(instance.child("granian"))
    resource.prlimit(serving, resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
    body = b"a" * 5_000_000
    status, _, page = post(instance.port, "/p/alpha/runs/new/", body)
    assert (status, TITLE in page) == (507, True)
    status, kind, problem = post(instance.port, "/api/v1/projects/alpha/runs", body)
    assert (status, kind) == (507, "application/problem+json")
    assert "disk_full" in problem
    assert "Disk full: a request body could not be stored" in instance.said()
    assert "Traceback" not in instance.said()
