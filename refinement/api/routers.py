"""The parts of the API. A new part is a module with a `router`, and ONE line here."""

from ninja import Router

from refinement.api import projects

ROUTERS: list[tuple[str, Router]] = [
    ("/projects", projects.router),
]
