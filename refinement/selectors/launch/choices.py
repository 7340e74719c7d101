"""Options and initial values of a launch: rubrics, versions, an earlier run."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from refinement.engine.types import Rubric as Definition
from refinement.models import Project, Rubric, RubricVersion, Run, RunSource, User
from refinement.selectors.rubrics.definitions import definition_of
from refinement.selectors.runs.history import sources_of

MOST_RUBRICS = 500
MOST_VERSIONS = 100
NOTE_CHARS = 60
NEWEST_RUNS = 200
NEWEST_SHOWN = 15
SUGGESTED_TYPES = ("research", "how-to", "extraction", "summary", "code")
USUAL = "wiggum"


@dataclass(frozen=True, slots=True)
class Choices:
    """The active rubrics, the selected one, and its versions as form choices."""

    rubrics: list[tuple[str, str]]
    version: RubricVersion
    definition: Definition
    versions: list[tuple[str, str]]


def launch_choices(project: Project, slug: str, reference: str) -> Choices | None:
    """Selects the rubric with this slug, or the default one. None if the project has no active rubric."""
    has_version = Exists(RubricVersion.objects.filter(rubric=OuterRef("pk")))
    rubrics = list(
        Rubric.objects.filter(has_version, project=project, archived_at=None).order_by("name", "pk")[
            :MOST_RUBRICS
        ]
    )
    if not rubrics:
        return None
    by_slug = {rubric.slug: rubric for rubric in rubrics}
    rubric = by_slug.get(slug) or by_slug.get(USUAL) or rubrics[0]
    numbers = list(rubric.versions.order_by("-number").values_list("number", "note")[:MOST_VERSIONS])
    version = version_of(rubric, reference) or version_of(rubric, f"{rubric.slug}@{numbers[0][0]}")
    assert version is not None
    return Choices(
        rubrics=[(entry.slug, entry.name) for entry in rubrics],
        version=version,
        definition=definition_of(version),
        versions=[(f"{rubric.slug}@{number}", version_words(number, note)) for number, note in numbers],
    )


def version_of(rubric: Rubric, reference: str) -> RubricVersion | None:
    """The version that `slug@3` names; None if it belongs to another rubric."""
    slug, _, number = reference.rpartition("@")
    if slug != rubric.slug or not (number.isascii() and number.isdigit() and len(number) < 9):
        return None
    versions = rubric.versions.prefetch_related("criteria", "checks")
    found = versions.filter(number=int(number)).first()
    if found is not None:
        found.rubric = rubric
    return found


def definition_named(project: Project, reference: str) -> Definition | None:
    """The definition that `slug@3` names in this project; None if there is none."""
    rubric = Rubric.objects.filter(project=project, slug=reference.rpartition("@")[0]).first()
    version = version_of(rubric, reference) if rubric else None
    return definition_of(version) if version else None


def version_words(number: int, note: str) -> str:
    return f"Version {number}{f': {note[:NOTE_CHARS]}' if note else ''}"


def values_of(run: Run) -> dict[str, Any]:
    """An earlier run's launch values, by form field name."""
    return {
        "task": run.task,
        "task_type": run.task_type,
        "start": "pasted" if run.seed else "draft",
        "seed": run.seed,
        "sources": sources_of(run),
        "rubric": run.rubric.slug,
        "version": f"{run.rubric.slug}@{run.rubric_version.number}",
        **{role: model for role in ("producer", "judge", "held_out") if (model := model_of(run, role))},
        "tags": ", ".join(run.tags.values_list("name", flat=True)),
    }


def model_of(run: Run, role: str) -> str:
    """The model as the form names it; empty if an imported run's file does not say."""
    endpoint, model = getattr(run, f"{role}_endpoint"), getattr(run, f"{role}_model")
    return f"{endpoint}/{model}" if endpoint and model else ""


def usual_values(project: Project, user: User) -> dict[str, Any]:
    """Rubric and models of the user's last launch in the project, or else of anyone's."""
    runs = Run.objects.filter(project=project, source=None).order_by("-id")
    fields = ("rubric__slug", "producer_endpoint", "producer_model", "judge_endpoint", "judge_model")
    newest = list(runs.values("created_by_id", *fields)[:50])
    own = [row for row in newest if row["created_by_id"] == user.pk]
    for row in (own or newest)[:1]:
        return {
            "rubric": row["rubric__slug"],
            "producer": f"{row['producer_endpoint']}/{row['producer_model']}",
            "judge": f"{row['judge_endpoint']}/{row['judge_model']}",
        }
    return {}


def newest_runs(project: Project) -> list[Run]:
    """The runs to start another one from."""
    return list(_runs(project).only("pk", "title")[:NEWEST_SHOWN])


def _runs(project: Project) -> QuerySet[Run]:
    """The project's runs, newest first, without the prepared example: nothing is taken over from it."""
    return Run.objects.filter(project=project).exclude(source=RunSource.EXAMPLE).order_by("-id")


def round_text(project: Project, reference: str) -> str:
    """The text of a run's round: `42/3`, or `42` for the best or else the newest. Raises LookupError."""
    number, _, wanted = (part.strip().removeprefix("#") for part in reference.partition("/"))
    if not all(is_number(part) for part in (number, wanted or "1")):
        raise LookupError("Enter a run's number, or run and round as in 42/3.")
    run = Run.objects.filter(project=project, pk=int(number)).only("best_round").first()
    if run is None:
        raise LookupError(f"This project has no run {number}.")
    rounds = run.rounds.order_by("-number").values_list("candidate", flat=True)
    chosen = int(wanted) if wanted else run.best_round
    text: str | None = (rounds.filter(number=chosen) if chosen is not None else rounds).first()
    if not text:
        raise LookupError(
            f"Run {number} has no round {wanted} with a text." if wanted else f"Run {number} has no text yet."
        )
    return text


def is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def task_types(project: Project) -> list[str]:
    """Suggestions for the task type: those of the project's newest runs, then common ones."""
    newest = _runs(project).values_list("task_type", flat=True)
    used = [task_type for task_type in newest[:NEWEST_RUNS] if task_type]
    return list(dict.fromkeys((*used, *SUGGESTED_TYPES)))
