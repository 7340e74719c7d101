"""Runs what `manage.py up` has prepared. It loads no Django: it stays in memory as long as the instance."""

import http.client
import json
import os
from dataclasses import asdict, dataclass
from typing import Self

from refinement.supervisor import Child, Supervisor

PLAN = "WIGGUM_SERVING_PLAN"


@dataclass(frozen=True, slots=True)
class ServingPlan:
    """Which processes to run, how to tell that the web one answers, and what to say then."""

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
    """Keeps the plan's processes running until a SIGINT or SIGTERM."""
    environment = os.environ | {"WIGGUM_SUPERVISED": "1"}
    Supervisor(
        children=[Child(name, command, environment) for name, command in plan.commands.items()],
        is_ready=lambda: is_served(plan),
        on_ready=lambda: print(plan.announcement, flush=True),
    ).run()


def is_served(plan: ServingPlan) -> bool:
    """Whether the web process answers that it is well."""
    connection = http.client.HTTPConnection(plan.host, plan.port, timeout=2)
    try:
        connection.request("GET", "/healthz", headers={"Host": plan.accepted_host})
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    # Taken out of the environment: the one-time link in it is nothing for the processes started here.
    serve(ServingPlan.unpacked(os.environ.pop(PLAN)))
