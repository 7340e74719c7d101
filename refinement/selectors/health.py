"""Health of the instance: database, queue, workers and endpoints."""

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

CHECK_SECONDS = 1.0  # longest wait of a page for all endpoints together


CACHE_SECONDS = 10.0


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
        return Part(ok=False, message="Database: no connection")
    return Part(ok=True, message="Database: OK")


def broker_health() -> Part:
    problem = broker_problem()
    if problem:
        return Part(ok=False, message=f"Queue: cannot send messages ({problem})")
    return Part(ok=True, message="Queue: OK")


def worker_health() -> Part:
    try:
        alive = workers_alive()
    except DatabaseError:
        return Part(ok=False, message="Unknown: no database connection")
    if not alive:
        return Part(ok=False, message="No worker online. Start one: make worker")
    return Part(ok=True, message="1 worker online" if alive == 1 else f"{alive} workers online")


def endpoint_health() -> EndpointsPart:
    """Whether any model can be called, and the state of each endpoint. Fast, and loads no model."""
    try:
        specs = endpoint_specs()
    except DatabaseError:
        return EndpointsPart(ok=False, message="Unknown: no database connection", endpoints=[])
    except ValueError as error:
        return EndpointsPart(ok=False, message=str(error), endpoints=[])
    states = health_cache.states(specs)
    answering = sum(state["ok"] for state in states)
    message = f"{answering} of {len(states)} available" if answering else "No model server available"
    return EndpointsPart(ok=answering > 0, message=message, endpoints=states)


class HealthCache:
    """A short-lived cache of the endpoints' health."""

    def __init__(self) -> None:
        self._one_at_a_time = threading.Lock()
        self.forget()

    def forget(self) -> None:
        self._seen: list[EndpointState] = []
        self._seen_of: list[EndpointSpec] = []
        self._seen_at = float("-inf")

    def states(self, specs: list[EndpointSpec]) -> list[EndpointState]:
        # Concurrent callers wait for the check in progress instead of starting their own.
        with self._one_at_a_time:
            if self._seen_of != specs or time.monotonic() - self._seen_at >= CACHE_SECONDS:
                self._seen, self._seen_of = check_endpoints(specs), specs
                self._seen_at = time.monotonic()
            return self._seen


health_cache = HealthCache()


def check_endpoints(specs: list[EndpointSpec]) -> list[EndpointState]:
    """Checks all endpoints in parallel. One that is too slow is reported as not responding."""
    if not specs:
        return []
    pool = ThreadPoolExecutor(max_workers=min(len(specs), MOST_AT_ONCE), thread_name_prefix="health")
    asked = [pool.submit(ask, spec) for spec in specs]
    wait(asked, timeout=CHECK_SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    return [state_of(spec, future) for spec, future in zip(specs, asked, strict=True)]


def ask(spec: EndpointSpec) -> Health:
    return build(spec).health()


def state_of(spec: EndpointSpec, asked: "Future[Health]") -> EndpointState:
    if not asked.done() or asked.cancelled():
        health = Health(False, f"{spec.name} is not responding. Check the server.")
    elif error := asked.exception():
        health = Health(False, f"{spec.name} is not available: {error}")
    else:
        health = asked.result()
    return EndpointState(name=spec.name, ok=health.ok, message=health_message(spec, health))


def health_message(spec: EndpointSpec, health: Health) -> str:
    """The endpoint's health message; more helpful ones for the two built-in endpoints."""
    if spec.kind == "embedded" and health.ok and not spec.options.get("gguf"):
        return "Demo model: OK. Fine for a tour; too small to judge well."
    if spec.name == "ollama" and not health.ok and "cannot be reached" in health.message:
        return f"Ollama is not responding at {display_address(spec.url)}. Start it or set WIGGUM_OLLAMA_URL."
    return health.message


def without_details(part: EndpointsPart) -> EndpointsPart:
    """Health without addresses or server messages, because /readyz needs no login."""
    words = {True: "Available", False: "Not available"}
    states = [EndpointState(name=s["name"], ok=s["ok"], message=words[s["ok"]]) for s in part["endpoints"]]
    message = part["message"] if states else "Unknown"
    return EndpointsPart(ok=part["ok"], message=message, endpoints=states)
