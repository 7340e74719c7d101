"""Rows for lists: many runs at once, with the fields that a list filters by."""

from typing import Any

from django.utils import timezone

from refinement.engine.codec import rubric_to_json
from refinement.engine.profiles import rubric_for
from refinement.models import Project, RubricVersion, Run, RunTag
from refinement.services.rubrics.editing import rubric_create

# Runs of these numbers have a milestone in SQLite's search index: `migrations/triggers/search.py`.
WITH_MILESTONE = [number for number in range(1, 3_000) if number * 40503 % 65536 < 512]


def a_version(project: Project, slug: str = "listed") -> RubricVersion:
    found = RubricVersion.objects.filter(rubric__project=project, rubric__slug=slug).first()
    return found or rubric_create(project=project, slug=slug, definition=rubric_for("wiggum"))


def runs_of(project: Project, count: int = 1, *, tags: tuple[str, ...] = (), **fields: Any) -> list[Run]:
    """Finished runs, the oldest first; `created_at` may be set."""
    version = fields.pop("version", None) or a_version(project)
    moment = fields.pop("created_at", None)
    now = timezone.now()
    given = {
        "status": "finished", "outcome": "FAIL", "stop_reason": "max_rounds", "why": "Round limit reached.",
        "finished_at": now, "started_at": now, "r1": "5", "best": "6", "last": "6", "improvement": "1",
        "best_round": 2, "rounds_judged": 2, "trajectory": ["5", "6"], "prompt_tokens": 100,
        "completion_tokens": 10, "model_seconds": "12.5", "producer_model": "qwen3:14b",
        "judge_model": "gemma3:27b", "title": "A task", "task": "A task", **fields,
    }  # fmt: skip
    if given["status"] != "finished":
        given |= {"outcome": "", "stop_reason": "", "finished_at": None}
    if given["status"] == "waiting":
        given = {"next_try_at": now, "waiting_for": "ollama does not answer", **given}
    made = Run.objects.bulk_create(
        Run(
            project=project, rubric_version=version, rubric_id=version.rubric_id, nonce="n",
            snapshot=rubric_to_json(rubric_for("wiggum")), producer_endpoint="ollama",
            **{"judge_endpoint": "ollama", **given},
        )
        for _ in range(count)
    )  # fmt: skip
    RunTag.objects.bulk_create(RunTag(run=run, project=project, name=name) for run in made for name in tags)
    if moment:
        Run.objects.filter(pk__in=[run.pk for run in made]).update(created_at=moment)
    return made
