"""A process that loads pages of one instance with Django's test client; `page_loader` starts one.

It reads a page's name per line from stdin, and prints one line of JSON: the milliseconds that the page took
from the middleware to the last byte, and the number of lines in its list. Its first line has all names.
"""

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.filling import OWNER
from benchmarks.instance import ROOT, Instance
from benchmarks.pages import API, PART, addresses

LINE = b'<th scope="row">'
COLLECT = "collect garbage"  # not a page: done before measuring, never during it
Answer = tuple[float, int]


class PageLoader:
    """Loads pages in the process of one instance; `names` are those of its pages."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.names: list[str] = self._answer()

    def load(self, name: str) -> Answer:
        """Milliseconds and lines of one request."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        took, lines = self._answer()
        return took, lines

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        if not text:
            raise SystemExit("A process that loads pages has ended; see its output above.")
        return json.loads(text)


@contextmanager
def page_loader(app: Instance, *, processor: bool) -> Iterator[PageLoader]:
    command = [sys.executable, "-m", "benchmarks.asking", *(["--processor"] if processor else [])]
    with subprocess.Popen(
        command, cwd=ROOT, env=app.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield PageLoader(process)  # leaving the block closes stdin, which ends the process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processor", action="store_true", help="measure CPU time")
    clock = processor_seconds if parser.parse_args().processor else time.perf_counter
    os.environ["DJANGO_SETTINGS_MODULE"] = "wiggum_site.settings"
    import django

    django.setup()
    from django.core.management import call_command
    from django.urls import get_resolver

    from refinement.models import Project, User

    call_command("collectstatic", interactive=False, verbosity=0)
    owner = User.objects.get(email=OWNER)
    project = Project.objects.get(name="Bench")
    addresses_by_name, person, script = addresses(project), signed_in(owner), token_client(owner, project)
    get_resolver().url_patterns  # noqa: B018  as wiggum_site/asgi.py does
    gc.collect()
    gc.freeze()
    print(json.dumps(list(addresses_by_name)), flush=True)
    for line in sys.stdin:
        name = line.rstrip("\n")
        if name == COLLECT:
            gc.collect()
            print("[0, 0]", flush=True)
            continue
        client = script if name.startswith(API) else person
        print(
            json.dumps(timed(client, addresses_by_name[name], clock, part=name.startswith(PART))), flush=True
        )


def signed_in(owner: Any) -> Any:
    from django.test import Client

    client = Client(headers={"host": "localhost"})
    client.force_login(owner)
    return client


def token_client(owner: Any, project: Any) -> Any:
    """A client with an API token of the project's owner."""
    from django.test import Client

    from refinement.services.people.tokens import token_make

    _, token = token_make(project=project, by=owner, name="Bench", role="owner", days=7)
    return Client(headers={"host": "localhost", "authorization": f"Bearer {token}"})


def timed(client: Any, address: str, clock: Callable[[], float], *, part: bool) -> Answer:
    headers = {"HX-Request": "true"} if part else {}
    start = clock()
    answer = client.get(address, headers=headers)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    took = (clock() - start) * 1000
    assert answer.status_code == 200, (address, answer.status_code)
    assert body
    return took, lines_of(body)


def lines_of(body: bytes) -> int:
    """The number of rows in a page's table, or of items in a list of the API."""
    if body.startswith(b"{"):
        return len(json.loads(body).get("items", ()))
    return body.count(LINE)


def processor_seconds() -> float:
    """The CPU time of this process, and of its PostgreSQL backend if there is one."""
    from django.db import connection

    used = time.process_time()
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
        used += int(backend.read_text().split()[0]) / 1e9
    return used


if __name__ == "__main__":
    main()
