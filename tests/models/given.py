"""Valid rows, which tests change one field at a time into invalid ones."""

from refinement.engine.profiles import rubric_for
from refinement.models import Project, Rubric, RubricVersion, Run
from refinement.providers.registry import Target
from refinement.services.rubrics.editing import rubric_create
from refinement.services.runs.creating import run_create


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


def a_version_in(alias: str, slug: str) -> RubricVersion:
    """A version of a new project, in another database than the one that services write to."""
    project = Project.objects.using(alias).create(name=slug, slug=slug)
    return a_version_of(alias, Rubric.objects.using(alias).create(project=project, slug="own", name="Own"))


def a_version_of(alias: str, rubric: Rubric) -> RubricVersion:
    version = RubricVersion(
        rubric=rubric, number=1, name="Own", profile="wiggum", problem_class="text", scale_minimum=0,
        evaluation_mode="judge_only", scale_maximum=10, policy={}, context={},
    )  # fmt: skip
    version.save(using=alias)
    return version


def a_run_in(alias: str, version: RubricVersion, task: str) -> Run:
    run = Run(
        project=version.rubric.project, rubric=version.rubric, rubric_version=version, task=task,
        snapshot={}, nonce="n", producer_endpoint="ollama", producer_model="a", judge_endpoint="ollama",
        judge_model="b",
    )  # fmt: skip
    run.save(using=alias)
    return run
