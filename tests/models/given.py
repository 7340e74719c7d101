"""Rows that hold, to be changed one field at a time into rows that must not."""

from refinement.engine.profiles import rubric_for
from refinement.models import Project, RubricVersion, Run
from refinement.providers.registry import Target
from refinement.services.rubrics import rubric_create
from refinement.services.runs import run_create


def a_version(project: Project, profile: str = "wiggum", slug: str = "") -> RubricVersion:
    return rubric_create(project=project, slug=slug or profile, definition=rubric_for(profile))


def a_run(project: Project, version: RubricVersion | None = None, **changes: object) -> Run:
    given: dict[str, object] = {
        "task": "Explain the backups.",
        "producer": Target("ollama", "writer:1b"),
        "judge": Target("ollama", "judge:8b"),
        "status": "running",
        **changes,
    }
    return run_create(project=project, version=version or a_version(project), **given)
