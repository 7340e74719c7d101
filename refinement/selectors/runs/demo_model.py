"""Runs that the demo model judged: they show how a run works, but their scores mean nothing."""

from django.db.models import QuerySet

from refinement.models import Run
from refinement.providers.embedded import DEFAULT_MODEL, is_demo

DEMO_WORDS = "Judged by the demo model: its scores mean nothing."


def is_demo_run(run: Run) -> bool:
    return is_demo(run.judge_endpoint, run.judge_model)


def without_demo(runs: QuerySet[Run]) -> QuerySet[Run]:
    return runs.exclude(judge_endpoint="embedded", judge_model=DEFAULT_MODEL)
