"""Opens the instance that the options select."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from refinement.cli.exits import BadInput, NotThere
from refinement.cli.instances.base import Instance

if TYPE_CHECKING:
    from refinement.cli.instances.local import LocalInstance


@contextmanager
def instance_opened(*, server: str | None, token: str | None, project: str | None) -> Iterator[Instance]:
    """The instance at `server`, or the local one."""
    if server:
        from refinement.cli.instances.remote import remote_opened

        with remote_opened(server, token_given(token), project) as instance:
            yield instance
        return
    with local_opened(project) as local:
        yield local


@contextmanager
def local_opened(project: str | None) -> "Iterator[LocalInstance]":
    """The local database. If it cannot be used, the process ends with a message."""
    from refinement.cli.instances.django import django_ready

    django_ready()
    from refinement.cli.instances.local import LocalInstance
    from refinement.management.plain_errors import plain_database_errors

    with plain_database_errors():
        yield LocalInstance(project)


def token_given(token: str | None) -> str:
    """The token itself, or the first line of the file after an @. Raises BadInput."""
    if not token:
        raise BadInput("--server requires a token: set WIGGUM_TOKEN, or pass --token @FILE.")
    if not token.startswith("@"):
        return token.strip()
    try:
        with Path(token[1:]).open(encoding="ascii") as file:
            return file.readline(1_000).strip()
    except FileNotFoundError as error:
        raise NotThere(f"cannot read the token from {token[1:]}: {error.strerror}.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it contains no token"
        raise BadInput(f"cannot read the token from {token[1:]}: {reason}.") from None
