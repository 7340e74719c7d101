"""The command in this process: what it printed, and how it ended."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

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
def wiggum(project) -> Wiggum:
    """The command on the project `alpha`."""
    return called
