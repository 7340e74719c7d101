"""The parts of the API. To add one, create a module with a `router` and add one line here."""

from ninja import Router

from refinement.api import endpoints, failures, projects, webhooks
from refinement.api.experiments import experiments
from refinement.api.experiments import results as experiment_results
from refinement.api.people import audit
from refinement.api.people import members as people
from refinement.api.reviews import comments, human_scores, notices
from refinement.api.reviews import requests as reviews
from refinement.api.rubrics import bench, bench_compare, rubrics
from refinement.api.rubrics import files as rubric_files
from refinement.api.rubrics import previews as rubric_previews
from refinement.api.runs import actions as run_actions
from refinement.api.runs import boards as run_boards
from refinement.api.runs import bulk as run_bulk
from refinement.api.runs import calls as run_calls
from refinement.api.runs import compare as run_compare
from refinement.api.runs import estimates as run_estimates
from refinement.api.runs import evaluator as run_evaluator
from refinement.api.runs import exports as run_exports
from refinement.api.runs import feedback as run_feedback
from refinement.api.runs import imports, runs, saved_views, shares, sources
from refinement.api.runs import models as launch
from refinement.api.runs import rounds as run_rounds
from refinement.api.suites import files as suite_files
from refinement.api.suites import suites
from refinement.api.trust import judges, labelling, labels

PROJECT = "/projects/{slug}"
ROUTERS: list[tuple[str, Router]] = [
    ("/projects", projects.router),
    (f"{PROJECT}/runs", runs.router),
    (f"{PROJECT}/runs", run_estimates.router),
    (f"{PROJECT}/runs", run_compare.router),
    (f"{PROJECT}/runs", run_bulk.router),
    (f"{PROJECT}/runs", saved_views.router),
    (f"{PROJECT}/runs", run_rounds.router),
    (f"{PROJECT}/runs", run_feedback.router),
    (f"{PROJECT}/runs", run_evaluator.router),
    (f"{PROJECT}/runs", run_calls.router),
    (f"{PROJECT}/runs", sources.router),
    (f"{PROJECT}/runs", run_actions.router),
    (f"{PROJECT}/runs", run_boards.router),
    (f"{PROJECT}/runs", run_exports.router),
    (f"{PROJECT}/runs", comments.router),
    (f"{PROJECT}/runs", human_scores.router),
    (f"{PROJECT}/models", launch.router),
    (f"{PROJECT}/imports", imports.router),
    (PROJECT, rubrics.router),
    (PROJECT, rubric_files.router),
    (PROJECT, rubric_previews.router),
    (PROJECT, suites.router),
    (PROJECT, suite_files.router),
    (PROJECT, labels.router),
    (PROJECT, labelling.router),
    (PROJECT, bench.router),
    (PROJECT, bench_compare.router),
    (PROJECT, reviews.router),
    (PROJECT, shares.router),
    (PROJECT, people.router),
    (PROJECT, audit.router),
    (f"{PROJECT}/experiments", experiments.router),
    (f"{PROJECT}/experiments", experiment_results.router),
    (f"{PROJECT}/suites", experiment_results.history_router),
    (f"{PROJECT}/failures", failures.router),
    (f"{PROJECT}/judges", judges.router),
    (f"{PROJECT}/notices", notices.router),
    (f"{PROJECT}/webhooks", webhooks.router),
    ("/endpoints", endpoints.router),
]
