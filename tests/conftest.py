"""Fixtures and hooks for all tests, and the project with members that most tests use."""

import gc
import os
import shutil
import socket
import threading
from pathlib import Path

import hypothesis
import pytest

from tests.append_only import emptied_between_tests
from tests.migrated import migrated_directory
from tests.postgres import postgres_database

__all__ = ["emptied_between_tests", "postgres_database"]

REQUIRE_SERVICES = os.environ.get("WIGGUM_REQUIRE_SERVICES") == "1"
# No deadline, because the machine may be slow. The same examples are tried every time.
hypothesis.settings.register_profile("house", deadline=None, derandomize=True)
hypothesis.settings.load_profile("house")
# These tests kill processes and empty queues, which would disturb other tests. Mostly they wait.
DURABILITY = ("tests/execution/durability/",)
# Packages with a coverage limit: only these are traced, which doubles their time.
PURE = ("tests/engine/", "tests/judging/", "tests/providers/")
FILES = {"durability": DURABILITY, "pure": PURE}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Counts a skipped test as failed if all services are required."""
    report = yield
    if REQUIRE_SERVICES and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, but all services are required: {call.excinfo.value}"
    return report


def part_of(path: str) -> str:
    """The name of the part that the test file belongs to; empty for the part `most`."""
    return next((name for name, files in FILES.items() if path.startswith(files)), "")


def pytest_ignore_collect(collection_path, config):
    """Skips the import of test files that do not belong to the selected part."""
    wanted = config.option.markexpr
    if wanted and collection_path.name.startswith("test_"):
        part = part_of(collection_path.relative_to(config.rootpath).as_posix())
        first = wanted.partition(" and ")[0]
        if (first in FILES and part != first) or (part and f"not {part}" in wanted):
            return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Marks the parts that `make test` runs separately."""
    for item in items:
        if part := part_of(item.nodeid):
            item.add_marker(part)


def pytest_collection_finish():
    """Excludes imported modules and collected tests from garbage collection, which saves time."""
    gc.collect()
    gc.freeze()


def pytest_itemcollected(item):
    """Sets an attribute that mutmut reads and newer versions of pytest do not set."""
    if "MUTANT_UNDER_TEST" in os.environ:
        item._nodeid = item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Does the same for a module that is skipped as a whole."""
    report = yield
    if REQUIRE_SERVICES and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid} was skipped, but all services are required."
    return report


@pytest.fixture(autouse=True, scope="session")
def no_name_service():
    """Allows DNS lookups of localhost only. Tests that need another host name replace the lookup."""
    look_up = socket.getaddrinfo

    def numbers_only(host, port, family=0, type=0, proto=0, flags=0):  # noqa: A002  the socket module's name
        known = host in (None, "localhost", b"localhost", "", socket.gethostname())
        return look_up(host, port, family, type, proto, flags if known else flags | socket.AI_NUMERICHOST)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", numbers_only)
        yield


@pytest.fixture(autouse=True, scope="session")
def generous_time_limits():
    """Raises short wall-clock limits, because the machine may be busy with other tests."""
    from refinement.judging.isolation import process
    from refinement.selectors.runs.listing import search as run_search

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(process, "PATIENCE", 60.0)
        for vendor in run_search.SECONDS:
            patched.setitem(run_search.SECONDS, vendor, 60.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_permissions():
    """Emptying the database after a test would create all content types and permissions again, which takes
    longer than emptying it. The application uses neither."""
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db.models.signals import post_migrate

    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Keeps the test database, which is migrated already."""
    return True


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix) -> None:
    from django.db import connections

    given = connections.databases["default"]
    if given["ENGINE"] == "wiggum_site.sqlite":
        shutil.copy(migrated_directory() / "wiggum.sqlite3", given["TEST"]["NAME"])


@pytest.fixture(scope="module")
def database_for_module(django_db_setup, django_db_blocker):
    """The database for fixtures of a whole module, whose rows the tests only read. They stay until its end;
    each test's own changes are still undone after the test. Not for tests with `transaction=True`."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """An empty data directory for a process that a test starts."""
    directory = tmp_path / "data"
    directory.mkdir()
    return directory


@pytest.fixture(autouse=True)
def watcher_on_the_tests_connection(request, monkeypatch):
    """Lets the call watcher use the test's connection, because only that sees rows of its transaction."""
    if "_django_db_helper" not in request.fixturenames:
        yield
        return
    from django.db import connections

    from refinement.providers.cancelling import Call

    shared, poll = connections["default"], Call.poll

    def poll_on_it(call):
        if threading.current_thread().name == "call-watcher":
            connections["default"] = shared
        poll(call)

    monkeypatch.setattr(Call, "poll", poll_on_it)
    shared.inc_thread_sharing()
    yield
    shared.dec_thread_sharing()


# --- a project with a member of each role, and somebody from another project ----------------------
PASSWORD = "correct horse battery staple"


@pytest.fixture
def password() -> str:
    """The password of every user."""
    return PASSWORD


@pytest.fixture
def project(db):
    from refinement.models import Project

    return Project.objects.create(name="Alpha", slug="alpha")


@pytest.fixture
def other_project(db):
    from refinement.models import Project

    return Project.objects.create(name="Beta", slug="beta")


def member(project, role, email, name):
    from refinement.models import Membership, User

    user = User.objects.create_user(email, PASSWORD, name=name)
    Membership.objects.create(project=project, user=user, role=role)
    return user


@pytest.fixture
def owner(project):
    return member(project, "owner", "olivia@example.org", "Olivia Owner")


@pytest.fixture
def editor(project):
    return member(project, "editor", "edgar@example.org", "Edgar Editor")


@pytest.fixture
def viewer(project):
    return member(project, "viewer", "vera@example.org", "Vera Viewer")


@pytest.fixture
def outsider(project, other_project):
    return member(other_project, "owner", "otto@example.org", "Otto Outsider")


def signed_in(user):
    from django.test import Client

    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def as_owner(owner):
    return signed_in(owner)


@pytest.fixture
def as_editor(editor):
    return signed_in(editor)


@pytest.fixture
def as_viewer(viewer):
    return signed_in(viewer)


@pytest.fixture
def as_outsider(outsider):
    return signed_in(outsider)


@pytest.fixture
def anonymous(db):
    from django.test import Client

    return Client()
