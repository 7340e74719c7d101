"""A hostile editor cannot make other people's pages unavailable."""

import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from refinement.engine.profiles import rubric_for
from refinement.interchange.rubrics.yaml import rubric_to_fields
from tests.house.processes import children, descendants, manage
from tests.judging.hostile import CHECKS, TEMPLATES

READY = r"Wiggum is ready at"
RUBRIC = "/api/v1/projects/alpha/rubrics/own"
MOST_SECONDS = 30.0  # of a busy machine; the worst would never end
MOST_BYTES = 100 * 1024 * 1024
MEMBER = """
from refinement.engine.profiles import rubric_for
from refinement.models import Membership, Project, User
from refinement.services.rubrics.editing import rubric_create
from refinement.services.people.tokens import token_make
project = Project.objects.create(name="Alpha", slug="alpha")
user = User.objects.create_user("edgar@example.org", "a long password", name="Edgar")
Membership.objects.create(project=project, user=user, role="editor")
rubric_create(project=project, slug="own", definition=rubric_for("wiggum"))
print("token", token_make(project=project, by=user, name="CI", role="editor", days=30)[1])
"""
WORST_TEMPLATES = (
    "power of powers", "power in a filter", "a text a billion times", "a wide number", "filters in loops",
    "comparisons in loops", "conditions in conditions", "a long number",
)  # fmt: skip
WORST_CHECKS = (
    "unique objects", "a large enum", "references that multiply", "many checks, each slow",
    "a pattern that calls itself", "a wide repetition", "a phrase ignoring case", "a fence with spaces",
)  # fmt: skip


@pytest.fixture
def instance(start):
    started = start()
    started.wait_until_said(READY)
    return started


@pytest.fixture
def token(instance):
    made = manage("shell", "-c", MEMBER, env=instance.settings)
    assert made.returncode == 0, made.stderr
    return made.stdout.split("token ")[1].strip()


def ask(instance, method, path, token="", body=None):
    """The status, the body and the seconds of one request."""
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=60)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    began = time.monotonic()
    try:
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), time.monotonic() - began
    finally:
        connection.close()


def template_saved(instance, token, case):
    """Saved as the next version of the rubric."""
    name, source, _ = TEMPLATES[case]
    definition = rubric_to_fields(rubric_for("wiggum")) | {"templates": {name: source}}
    return ask(instance, "PUT", RUBRIC, token, {"definition": definition})


def check_tried(instance, token, case):
    """Tried on a text, as part of a definition that is not saved."""
    given, text, _ = CHECKS[case]
    checks = [
        {"key": f"c{number}", "kind": kind, "parameters": parameters}
        for number, (kind, parameters) in enumerate(given if isinstance(given, list) else [given])
    ]
    definition = rubric_to_fields(rubric_for("wiggum")) | {"checks": checks}
    return ask(
        instance, "POST", f"{RUBRIC}/checks", token, {"text": text[:200_000], "definition": definition}
    )


class Watch(threading.Thread):
    """Asks for the health and a page over and over, and looks at the memory of all processes."""

    def __init__(self, instance):
        super().__init__(daemon=True)
        self.instance, self.stopping = instance, threading.Event()
        self.seconds, self.statuses, self.resident = [], set(), {}

    def run(self):
        while not self.stopping.wait(0.05):
            for path in ("/healthz", "/account/login/"):
                status, _, seconds = ask(self.instance, "GET", path)
                self.statuses.add(status)
                self.seconds.append(seconds)
            for pid in descendants(self.instance.process.pid):
                self.resident[pid] = max(self.resident.get(pid, 0), resident_bytes(pid))


def resident_bytes(pid):
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


def test_pages_answer_while_the_worst_is_tried(instance, token):
    ask(instance, "GET", "/account/login/")
    before = descendants(instance.process.pid)
    serving = children(instance.child("granian"))
    watch = Watch(instance)
    watch.start()
    with ThreadPoolExecutor(4) as at_once:
        saved = at_once.map(lambda case: template_saved(instance, token, case), WORST_TEMPLATES)
        tried = at_once.map(lambda case: check_tried(instance, token, case), WORST_CHECKS)
        answers = dict(zip(WORST_TEMPLATES + WORST_CHECKS, [*saved, *tried], strict=True))
    watch.stopping.set()
    watch.join()

    assert {case: answers[case][:2] for case in WORST_TEMPLATES if answers[case][0] != 422} == {}
    assert {case: answers[case][:2] for case in WORST_CHECKS if answers[case][0] not in (200, 422)} == {}
    assert watch.statuses == {200}
    assert len(watch.seconds) > 10
    assert max(watch.seconds) < MOST_SECONDS
    started = {pid: peak for pid, peak in watch.resident.items() if pid not in before}
    assert started
    assert max(started.values()) < MOST_BYTES
    assert children(instance.child("granian")) == serving  # the process that serves is still the same
