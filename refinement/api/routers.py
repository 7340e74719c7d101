"""The parts of the API. A new part is a module with a `router`, and ONE line here."""

from ninja import Router

from refinement.api import (
    bench,
    comments,
    endpoints,
    human_scores,
    imports,
    launch,
    people,
    projects,
    reviews,
    rubric_files,
    rubrics,
    run_actions,
    run_calls,
    run_exports,
    run_rounds,
    runs,
    webhooks,
)

PROJECT = "/projects/{slug}"
ROUTERS: list[tuple[str, Router]] = [
    ("/projects", projects.router),
    (f"{PROJECT}/runs", runs.router),
    (f"{PROJECT}/runs", run_rounds.router),
    (f"{PROJECT}/runs", run_calls.router),
    (f"{PROJECT}/runs", run_actions.router),
    (f"{PROJECT}/runs", run_exports.router),
    (f"{PROJECT}/runs", comments.router),
    (f"{PROJECT}/runs", human_scores.router),
    (f"{PROJECT}/models", launch.router),
    (f"{PROJECT}/imports", imports.router),
    (PROJECT, rubrics.router),
    (PROJECT, rubric_files.router),
    (PROJECT, bench.router),
    (PROJECT, reviews.router),
    (PROJECT, people.router),
    (f"{PROJECT}/webhooks", webhooks.router),
    ("/endpoints", endpoints.router),
]
