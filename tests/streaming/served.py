"""A real instance with a loopback model server, and clients that read its streams over sockets."""

import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.house.processes import ROOT, Instance
from tests.loopback.server import LoopbackServer

PATIENCE = 60.0
PEOPLE = """
import json
from importlib import import_module
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from refinement.models import Membership, Project, User
from refinement.services.rubrics.editing import default_rubrics_install
from refinement.services.people.tokens import token_make
store = import_module(settings.SESSION_ENGINE).SessionStore
def session(user):
    kept = store()
    kept[SESSION_KEY] = str(user.pk)
    kept[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    kept[HASH_SESSION_KEY] = user.get_session_auth_hash()
    kept.save()
    return kept.session_key
project = Project.objects.create(name="Alpha", slug="alpha")
default_rubrics_install(project=project)
told = {}
for name in ("olivia", "edgar", "vera"):
    user = User.objects.create_user(f"{name}@example.org", "correct horse battery staple", name=name)
    Membership.objects.create(project=project, user=user, role="owner")
    told[name] = session(user)
stranger = User.objects.create_user("otto@example.org", "correct horse battery staple")
told["otto"] = session(stranger)
owner = User.objects.get(email="olivia@example.org")
told["token"] = token_make(project=project, by=owner, name="CI", role="viewer", days=7)[1]
print("told", json.dumps(told))
"""
# In one transaction, so that no worker starts before the new run is complete.
LAUNCH = """
from django.db import transaction
from refinement.engine.codec import rubric_with
from refinement.models import Project
from refinement.providers.registry import Target
from refinement.selectors.rubrics.definitions import definition_of, version_named
from refinement.services.runs.creating import run_create
project = Project.objects.get(slug="alpha")
version = version_named(project, "wiggum")
settings = {{"policy.max_rounds": "{rounds}", "policy.stop_rules": "max_rounds"}}
rubric = rubric_with(definition_of(version), settings)
with transaction.atomic():
    run = run_create(project=project, version=version, definition=rubric, task="Explain our backups.",
                     producer=Target("ollama", "loopback:1b"), judge=Target("ollama", "loopback:8b"))
    {then}
print("told", run.pk)
"""


class Served:
    """The instance, the people in it, and its runs."""

    def __init__(self, data_dir: Path, server: LoopbackServer) -> None:
        self.server = server
        self.instance = Instance(data_dir, WIGGUM_OLLAMA_URL=server.address)
        self.process: subprocess.Popen[str] | None = None
        try:
            self.instance.wait_until_said("Wiggum is ready at")
            self.sessions: dict[str, str] = json.loads(self.shell(PEOPLE))
        except BaseException:
            self.clean_up()
            raise

    def clean_up(self) -> None:
        if self.process:
            with self.process:
                self.process.kill()
        self.instance.clean_up()

    def shell(self, code: str) -> str:
        """Runs the code with the instance's settings; returns what it reported."""
        self.process = self.process or subprocess.Popen(
            [sys.executable, "-m", "tests.streaming.shell"],
            cwd=ROOT,
            env=self.instance.settings | {"DJANGO_SETTINGS_MODULE": "wiggum_site.settings"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(code) + "\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        assert said, "the code failed: see its traceback"
        lines = [line for line in json.loads(said).splitlines() if line.startswith("told ")]
        assert lines, said
        return lines[-1].removeprefix("told ")

    def launch(self, rounds: int = 2, then: str = "") -> int:
        return int(self.shell(LAUNCH.format(rounds=rounds, then=then)))

    def ask(self, path: str, person: str = "olivia", **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.instance.port, timeout=PATIENCE)
        connection.connect()
        self.connected = connection.sock
        connection.request(
            "GET",
            path,
            headers={"Cookie": f"sessionid={self.sessions[person]}", "Host": "localhost", **headers},
        )
        return connection.getresponse()

    def listen(self, run: int, person: str = "olivia", after: int = 0) -> "Reader":
        headers = {"Last-Event-ID": str(after)} if after else {}
        answer = self.ask(f"/p/alpha/runs/{run}/events/", person, **headers)
        return Reader(answer, self.connected)


@dataclass
class Frame:
    kind: str
    data: Any
    number: int | None


class Reader:
    """Reads a stream in a separate thread."""

    def __init__(self, answer: http.client.HTTPResponse, connection: socket.socket) -> None:
        assert answer.status == 200, answer.status
        self.answer = answer
        self.connection = connection
        self.frames: list[Frame] = []
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        lines: dict[str, str] = {}
        try:
            for raw in self.answer:
                line = raw.decode().rstrip("\n")
                name, _, value = line.partition(": ")
                if line and name:
                    lines[name] = value
                elif not line:
                    self._note(lines)
                    lines = {}
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass  # the test or the server closed the connection
        finally:
            self.ended.set()

    def _note(self, lines: dict[str, str]) -> None:
        if "event" in lines:
            number = int(lines["id"]) if "id" in lines else None
            self.frames.append(Frame(lines["event"], json.loads(lines["data"]), number))

    def of(self, kind: str) -> list[Frame]:
        return [entry for entry in self.frames if entry.kind == kind]

    def wait_for(self, condition: Callable[[], object], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, f"waited in vain for {what}; heard {self.frames}"
            time.sleep(0.01)

    def hang_up(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.ended.wait(PATIENCE)
