"""Runs the `wiggum` command in this process."""

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
    """Calls `wiggum` with these arguments; an unexpected exception fails the test."""
    result = CliRunner().invoke(command, [str(argument) for argument in arguments], **options)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(result: Result) -> Any:
    """The JSON document that the command printed."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch):
    for name in ("WIGGUM_SERVER", "WIGGUM_TOKEN", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served(project, editor, monkeypatch) -> Iterator[None]:
    """The API of this process, without a socket, with a token in the environment."""
    from refinement.services.people.tokens import token_make
    from wiggum_site.wsgi import application

    _, token = token_make(project=project, by=editor, name="CI", role="editor", days=30)
    monkeypatch.setenv("WIGGUM_SERVER", "http://localhost")
    monkeypatch.setenv("WIGGUM_TOKEN", token)
    transport = httpx.WSGITransport(app=application)  # type: ignore[arg-type]
    monkeypatch.setattr(remote, "Wire", partial(Wire, transport=transport))
    # As in Django's test client: a request must not close the connection of the test's transaction.
    both = (signals.request_started, signals.request_finished)
    for signal in both:
        signal.disconnect(close_old_connections)
    yield
    for signal in both:
        signal.connect(close_old_connections)


@pytest.fixture(params=["local", "remote"])
def wiggum(request, project) -> Wiggum:
    """The command for the project `alpha`: with the database, and with the API."""
    if request.param == "remote":
        request.getfixturevalue("served")
    return called
