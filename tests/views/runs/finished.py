"""Runs with rounds, verdicts, checks, calls and events, written as rows without any model."""

import itertools
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from refinement.engine.profiles import rubric_for
from refinement.engine.types import Rubric
from refinement.judging.sources import SourceText
from refinement.models import Call, CheckResult, Event, Project, Round, Run, User, Verdict
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create
from refinement.services.runs.ledger import ledger_store
from refinement.texts import storable

PRODUCER, JUDGE = Target("ollama", "qwen3:14b"), Target("ollama", "gemma3:27b")
TASK = "Write the deployment guide for the ingest service"
_slugs = itertools.count(1)


def finished_run(
    project: Project,
    composites: Sequence[str] = ("7.15", "8.6", "8.3"),
    *,
    definition: Rubric | None = None,
    candidates: Sequence[str] = (),
    said: str = "It names the steps.",
    task: str = TASK,
    seed: str = "",
    user: User | None = None,
    batch: str = "",
    tags: Sequence[str] = (),
    task_type: str = "",
    producer: Target = PRODUCER,
    judge: Target = JUDGE,
    sources: Sequence[SourceText] = (),
    **fields: Any,
) -> Run:
    """A run that ended after these rounds; `said` is every text of its judge."""
    rubric = definition or rubric_for("wiggum")
    version = rubric_create(project=project, slug=f"finished-{next(_slugs)}", definition=rubric)
    run = run_create(
        project=project, version=version, task=task, seed=seed, producer=producer, judge=judge, user=user,
        batch=batch, tags=tags, task_type=task_type, sources=sources,
    )  # fmt: skip
    Round.objects.filter(run=run).delete()
    texts = candidates or [f"Version {n}: deploy ingest {n}.\nThen watch it." for n in range(len(composites))]
    for number, (composite, text) in enumerate(zip(composites, texts, strict=True), start=1):
        judged_round(run, rubric, number, Decimal(composite), storable(text), storable(said))
    values = [Decimal(composite) for composite in composites]
    best = max(values)
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(**{
        "status": "finished", "outcome": "FAIL", "stop_reason": "max_rounds", "started_at": now,
        "finished_at": now + timedelta(seconds=112),
        "why": "Stopped after round 3: reached the 3-round limit.",
        "r1": values[0], "best": best, "last": values[-1], "improvement": values[-1] - values[0],
        "best_round": values.index(best) + 1, "rounds_judged": len(values),
        "trajectory": list(composites), "prompt_tokens": 15000, "completion_tokens": 3420,
        "calls_made": 5, "model_seconds": "98.5", **fields,
    })  # fmt: skip
    run.refresh_from_db()
    ledger_store(run)  # as the worker does that ends a run
    return run


def judged_round(run: Run, rubric: Rubric, number: int, composite: Decimal, text: str, said: str) -> Round:
    now = timezone.now()
    scores = {criterion.key: str(composite) for criterion in rubric.criteria}
    row = Round.objects.create(
        run=run, number=number, origin="revision" if number > 1 else "draft", candidate=text,
        base_round=number - 1 or None, candidate_chars=len(text), judged_at=now, composite=composite,
        scores=scores, seen_chars=len(text), judge_attempts=1, parse_rung="strict",
        penalties=[{"criterion": rubric.criteria[0].key, "points": "1", "names": [said[:80]]}]
        if number == 2 and rubric.criteria else [],
        signals=[{"candidate_change": "0.2", "verdict_change": "0.01", "about": "issues"}]
        if number == 3 else [],
    )  # fmt: skip
    entries = [
        {"key": key, "score": score, "reasoning": said, "improvement": said} for key, score in scores.items()
    ]
    Verdict.objects.create(round=row, judge="gemma3:27b", scores=entries, issues=[said, said], asi=said)
    CheckResult.objects.create(
        round=row, position=0, key="headings", passed=number > 1, message=said, severity="warning", weight=1,
        suggestion=said, start=0, end=4,
    )  # fmt: skip
    for role, purpose in (("producer", "revise" if number > 1 else "draft"), ("judge", "score")):
        Call.objects.create(
            run=run, round_number=number, role=role, purpose=purpose, attempt=1, endpoint="ollama",
            model=f"{role}:1b", messages=[{"role": "user", "content": said}], reply=text, started_at=now,
            finished_at=now, seen=["candidate"], withheld=["history"], seconds="1.5", rung="strict",
            options={"num_ctx": 8192},
        )  # fmt: skip
    Event.objects.create(run=run, kind="judged", actor="worker", data={"round": number})
    return row
