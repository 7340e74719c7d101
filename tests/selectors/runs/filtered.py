"""Runs that differ in every filtered field, and which of them match a filter, computed without a database."""

import random
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from django.utils import timezone

from refinement.models import Project, RubricVersion, Run
from refinement.selectors.runs.listing.filters import RunFilters
from tests.views.runs.listed import runs_of

RUNS = 160
VALUES = {
    "outcome": ("PASS", "FAIL"),
    "producer_model": ("qwen3:14b", "qwen3:4b"),
    "judge_model": ("gemma3:27b", "llama3.3:70b"),
    "kinship": ("", "same_model"),
    "task_type": ("", "how-to"),
    "decision": (None, "approved"),
    "source": (None, "jsonl"),
    "signal_rounds": (0, 2),
    "best": ("6", "9.5"),
    "r1": ("5", "7"),
}
FILTERS = {
    "outcome": ("FAIL", lambda run: run.outcome == "FAIL"),
    "status": ("finished", lambda run: run.status == "finished"),
    "producer": ("qwen3:4b", lambda run: run.producer_model == "qwen3:4b"),
    "judge": ("llama3.3:70b", lambda run: run.judge_model == "llama3.3:70b"),
    "rubric": ("other", lambda run: run.rubric.slug == "other"),
    "tag": ("docs", lambda run: any(tag.name == "docs" for tag in run.tags.all())),
    "task_type": ("how-to", lambda run: run.task_type == "how-to"),
    "kinship": ("same_model", lambda run: run.kinship == "same_model"),
    "decision": ("approved", lambda run: run.decision == "approved"),
    "imported": ("any", lambda run: run.source is not None),
    "mark": ("signal", lambda run: run.signal_rounds > 0),
    "best_min": (Decimal(9), lambda run: run.best >= 9),
    "r1_max": (Decimal(6), lambda run: run.r1 <= 6),
}


def runs_made(project: Project, versions: Sequence[RubricVersion]) -> list[Run]:
    """Every value on about half of the runs; some are in the archive."""
    rng = random.Random(5)
    for _ in range(RUNS):
        fields = {name: rng.choice(values) for name, values in VALUES.items()}
        archived = timezone.now() if rng.random() < 0.1 else None
        runs_of(
            project, version=rng.choice(versions), archived_at=archived,
            tags=rng.choice(((), ("docs",), ("docs", "release"))), **fields,
        )  # fmt: skip
    found = Run.objects.filter(project=project).select_related("rubric").prefetch_related("tags")
    return list(found.order_by("-pk"))


def passing(runs: list[Run], names: Iterable[str], *, archived: bool = False) -> list[Run]:
    """The runs that match all these filters."""
    tests = [FILTERS[name][1] for name in names]
    return [
        run for run in runs if (run.archived_at is not None) is archived and all(each(run) for each in tests)
    ]


def filters_of(names: Iterable[str], **more: Any) -> RunFilters:
    return RunFilters(**{name: FILTERS[name][0] for name in names}, **more)
