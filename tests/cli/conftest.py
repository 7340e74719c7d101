"""The command in this process: what it printed, and how it ended."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from django.core import signals
from django.db import close_old_connections

from refinement.cli.instances import remote
from refinement.cli.instances.wire import Wire
from refinement.cli.main import wiggum as command

Wiggum = Callable[..., Result]


def called(*arguments: object, **options: Any) -> Result:
    """Calls `wiggum` with these arguments; an error that it does not tell in words fails the test."""
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], **options)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(result: Result) -> Any:
    """The one JSON document that was printed."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    for name in ("WIGGUM_SERVER", "WIGGUM_TOKEN", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served(project, editor, monkeypatch) -> Iterator[None]:
    """The API of this very process, without a socket, and a token for it in the environment."""
    from refinement.services.people.tokens import token_make
    from wiggum_site.wsgi import application

    _, token = token_make(project=project, by=editor, name="CI", role="editor", days=30)
    monkeypatch.setenv("WIGGUM_SERVER", "http://localhost")
    monkeypatch.setenv("WIGGUM_TOKEN", token)
    transport = httpx.WSGITransport(app=application)  # type: ignore[arg-type]
    monkeypatch.setattr(remote, "Wire", partial(Wire, transport=transport))
    # As Django's own test client does: a request must not close the connection of the test's transaction.
    both = (signals.request_started, signals.request_finished)
    for signal in both:
        signal.disconnect(close_old_connections)
    yield
    for signal in both:
        signal.connect(close_old_connections)


@pytest.fixture(params=["local", "remote"])
def wiggum(request, project) -> Wiggum:
    """The command on the project `alpha`: on the database, and on the API in front of it."""
    if request.param == "remote":
        request.getfixturevalue("served")
    return called
