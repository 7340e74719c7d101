"""Whether the instance can work: database, broker, workers and endpoints."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypedDict

from django.db import DatabaseError, connection

from refinement.providers.base import Health
from refinement.providers.registry import EndpointSpec, build
from refinement.providers.sorting import display_address
from refinement.selectors.endpoints import endpoint_specs
from refinement.selectors.workers import workers_alive
from wiggum_site.broker import broker_problem

LOOK_SECONDS = 1.0  # the longest that a page waits for all endpoints together


KEPT_SECONDS = 10.0


MOST_AT_ONCE = 16


class Part(TypedDict):
    ok: bool
    message: str


class EndpointState(Part):
    name: str


class EndpointsPart(Part):
    endpoints: list[EndpointState]


def database_health() -> Part:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return Part(ok=False, message="The database does not answer.")
    return Part(ok=True, message="The database answers.")


def broker_health() -> Part:
    problem = broker_problem()
    if problem:
        return Part(ok=False, message=f"Messages cannot be sent: {problem}.")
    return Part(ok=True, message="Messages can be sent.")


def worker_health() -> Part:
    try:
        alive = workers_alive()
    except DatabaseError:
        return Part(ok=False, message="Unknown: the database does not answer.")
    if not alive:
        return Part(ok=False, message="No worker has been heard of lately; start one with: make worker")
    return Part(ok=True, message="1 worker is alive." if alive == 1 else f"{alive} workers are alive.")


def endpoint_health() -> EndpointsPart:
    """Whether models can be asked at all, and how each endpoint is; never slow, and loads no model."""
    try:
        specs = endpoint_specs()
    except DatabaseError:
        return EndpointsPart(ok=False, message="Unknown: the database does not answer.", endpoints=[])
    except ValueError as error:
        return EndpointsPart(ok=False, message=str(error), endpoints=[])
    states = looks.states(specs)
    answering = sum(state["ok"] for state in states)
    message = f"{answering} of {len(states)} can be used." if answering else "None can be used."
    return EndpointsPart(ok=answering > 0, message=message, endpoints=states)


class Looks:
    """What was last seen of the endpoints: looked at together, and kept for some seconds."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._seen: list[EndpointState] = []
        self._seen_of: list[EndpointSpec] = []
        self._seen_at = float("-inf")

    def states(self, specs: list[EndpointSpec]) -> list[EndpointState]:
        # Whoever comes while somebody looks waits for what is seen: at most as long as one look takes.
        with self._one_at_a_time:
            if self._seen_of != specs or time.monotonic() - self._seen_at >= KEPT_SECONDS:
                self._seen, self._seen_of = look(specs), specs
                self._seen_at = time.monotonic()
            return self._seen


looks = Looks()


def look(specs: list[EndpointSpec]) -> list[EndpointState]:
    """Asks all endpoints at once; one that takes its time is said not to answer."""
    if not specs:
        return []
    pool = ThreadPoolExecutor(max_workers=min(len(specs), MOST_AT_ONCE), thread_name_prefix="look")
    asked = [pool.submit(ask, spec) for spec in specs]
    wait(asked, timeout=LOOK_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return [state_of(spec, future) for spec, future in zip(specs, asked, strict=True)]


def ask(spec: EndpointSpec) -> Health:
    return build(spec).health()


def state_of(spec: EndpointSpec, asked: "Future[Health]") -> EndpointState:
    if not asked.done() or asked.cancelled():
        health = Health(False, f"{spec.name} does not answer quickly; look whether it is well.")
    elif error := asked.exception():
        health = Health(False, f"{spec.name} cannot be used: {error}")
    else:
        health = asked.result()
    return EndpointState(name=spec.name, ok=health.ok, message=words_for(spec, health))


def words_for(spec: EndpointSpec, health: Health) -> str:
    """The endpoint's own words, or better ones for the two that are there without being set up."""
    if spec.kind == "embedded" and health.ok and not spec.options.get("gguf"):
        return "The embedded model is there: small, for trying things out, too small to judge well."
    if spec.name == "ollama" and not health.ok and "cannot be reached" in health.message:
        return f"Ollama does not answer at {display_address(spec.url)}; start it or set WIGGUM_OLLAMA_URL."
    return health.message


def for_everybody(part: EndpointsPart) -> EndpointsPart:
    """The same without addresses and servers' words: /readyz asks for no login."""
    words = {True: "It can be used.", False: "It cannot be used."}
    states = [EndpointState(name=s["name"], ok=s["ok"], message=words[s["ok"]]) for s in part["endpoints"]]
    message = part["message"] if states else "Unknown."
    return EndpointsPart(ok=part["ok"], message=message, endpoints=states)
