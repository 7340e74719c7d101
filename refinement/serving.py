"""Runs the processes of `manage.py up`. It does not load Django, to save memory."""

import http.client
import json
import os
import signal
from dataclasses import asdict, dataclass
from typing import Self

from refinement.supervisor import Child, Supervisor, Watchdog

PLAN = "WIGGUM_SERVING_PLAN"
READY_TIMEOUT_SECONDS = 2.0
PROBE_TIMEOUT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class ServingPlan:
    """The processes to run, how to check the web process, and the message when it is ready."""

    commands: dict[str, list[str]]
    host: str
    port: int
    accepted_host: str
    announcement: str

    def packed(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def unpacked(cls, text: str) -> Self:
        return cls(**json.loads(text))


def serve(plan: ServingPlan) -> None:
    """Keep the plan's processes running until SIGINT or SIGTERM."""
    environment = os.environ | {"WIGGUM_SUPERVISED": "1"}
    children = {name: Child(name, command, environment) for name, command in plan.commands.items()}
    # SIGKILL, because an orphan that finishes its requests first would block the port.
    children["web"].orphan_signal = signal.SIGKILL
    Supervisor(
        children=list(children.values()),
        is_ready=lambda: is_served(plan),
        on_ready=lambda: print(plan.announcement, flush=True),
        watchdogs=[Watchdog(children["web"], answers=lambda: is_answered(plan))],
    ).run()


def is_served(plan: ServingPlan) -> bool:
    """Whether the web process is healthy."""
    return health_status(plan, READY_TIMEOUT_SECONDS) == http.HTTPStatus.OK


def is_answered(plan: ServingPlan) -> bool:
    """Whether the web process responds at all: one that refuses a request does not hang."""
    return health_status(plan, PROBE_TIMEOUT_SECONDS) is not None


def health_status(plan: ServingPlan, timeout: float) -> int | None:
    """The status code of /healthz, or None on timeout."""
    connection = http.client.HTTPConnection(plan.host, plan.port, timeout=timeout)
    try:
        connection.request("GET", "/healthz", headers={"Host": plan.accepted_host})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


if __name__ == "__main__":
    # Removed from the environment, because it contains the one-time setup link.
    serve(ServingPlan.unpacked(os.environ.pop(PLAN)))
