"""`wiggum up`, `wiggum worker` and `wiggum migrate`, which call the same commands of `manage.py`."""

from typing import Any

import click

from refinement.cli.exits import BadInput, CommandFailed, Unavailable
from refinement.cli.instances.django import django_ready

UP_EXAMPLES = """
\b
Examples:
  wiggum up
  wiggum up --host 0.0.0.0 --port 8080 --no-worker
"""


@click.command(epilog=UP_EXAMPLES)
@click.option("--host", help="the address to listen on (HOST; 127.0.0.1)")
@click.option("--port", type=click.IntRange(1, 65_535), help="the port to listen on (PORT; 8000)")
@click.option("--no-worker", is_flag=True, help="run only the web process")
def up(**options: Any) -> None:
    """Prepare the database and the static files, then run one web and one worker process."""
    managed("up", **options)


WORKER_EXAMPLES = """
\b
Examples:
  wiggum worker
  wiggum worker --threads 8 --queue runs
"""


@click.command(epilog=WORKER_EXAMPLES)
@click.option("--threads", type=click.IntRange(min=1), help="number of threads (WIGGUM_WORKER_THREADS)")
@click.option("--queue", "queues", multiple=True, help="only this queue; can be repeated (default: all)")
def worker(threads: int | None, queues: tuple[str, ...]) -> None:
    """Run a worker process. You can run any number of them."""
    options = {} if threads is None else {"threads": threads}
    managed("worker", queues=list(queues), **options)


MIGRATE_EXAMPLES = """
\b
Examples:
  wiggum migrate
  WIGGUM_DATA_DIR=/tmp/ci wiggum migrate     a database for one CI job
"""


@click.command(epilog=MIGRATE_EXAMPLES)
def migrate() -> None:
    """Create or update the database tables. `wiggum up` does this on start."""
    from refinement.cli.instances.opening import local_opened

    with local_opened(None):
        managed("migrate", verbosity=0, interactive=False)
    click.echo("The database is ready.", err=True)


def managed(name: str, **options: Any) -> None:
    """Call a management command, and turn its errors into ours."""
    django_ready()
    from django.core.management import CommandError, call_command

    try:
        call_command(name, **options)
    except CommandError as error:
        raise FAILURES.get(error.returncode, CommandFailed)(str(error)) from None


FAILURES: dict[int, type[CommandFailed]] = {
    kind.exit_code: kind for kind in (CommandFailed, BadInput, Unavailable)
}
