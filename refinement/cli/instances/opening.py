"""Which instance the options mean."""

from collections.abc import Iterator
from contextlib import contextmanager

from refinement.cli.instances.base import Instance


@contextmanager
def local_opened(project: str | None) -> Iterator[Instance]:
    """The local database; one that cannot be used ends the process with one line."""
    from refinement.cli.instances.django import django_ready

    django_ready()
    from refinement.cli.instances.local import LocalInstance
    from refinement.management.plain_errors import plain_database_errors

    with plain_database_errors():
        yield LocalInstance(project)
