"""Creates a demo project with people and rubrics."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from django.db import transaction

from refinement.demo.rows import Cast, created_at, runs_write
from refinement.demo.stories import story_make
from refinement.demo.team import team_write
from refinement.engine.codec import rubric_with
from refinement.engine.profiles import rubric_for
from refinement.engine.types import Rubric as Definition
from refinement.models import AuditEntry, MemberRole, Membership, Project, Rubric, RubricVersion, Run, User
from refinement.services.audit import audit_record
from refinement.services.people.setup_links import DEMO_DOMAIN
from refinement.services.rubrics.editing import rubric_create, version_create

ACTION = "demo.seed"
SLUG = "sample-data"
PEOPLE = (
    ("Edgar Holm", "edgar.holm", MemberRole.OWNER),
    ("Mina Okafor", "mina.okafor", MemberRole.EDITOR),
    ("Jonas Lindqvist", "jonas.lindqvist", MemberRole.EDITOR),
    ("Priya Raman", "priya.raman", MemberRole.EDITOR),
    ("Tomás Rey", "tomas.rey", MemberRole.VIEWER),
)
STORIES_A_VERSION = 20
RUNBOOKS, RUNBOOKS_FOR = "Runbooks: checks and a judge", "Checks and six criteria decide together."


class ProjectInUse(Exception):
    """The project was not created by this command. The message says what to do."""


def demo_seed(
    *, slug: str, runs: int, now: datetime, days: int = 90, chars: int = 3_000, calls: bool = True
) -> Iterator[int]:
    """Fills the sample project with this slug, creating it if needed. Yields the number of runs so far.

    Raises ProjectInUse.
    """
    rng = random.Random(f"{slug}/{runs}")  # noqa: S311  demo data, not a secret
    project = demo_project(slug)
    people = demo_people(project)
    names = [person.name for person in people]
    with created_at(now - timedelta(days=days + 1)):  # before the first run
        rubrics = demo_rubrics(project, people[0])
    stories = [
        (version, story_make(definition, rng, chars=chars, people=names))
        for version, definition in rubrics
        for _ in range(STORIES_A_VERSION)
    ]
    finished = [pair for pair in stories if "outcome" in pair[1].ending]
    unfinished = [pair for pair in stories if "outcome" not in pair[1].ending]
    cast, before = Cast(project, people, finished, unfinished or finished), newest_run()
    yield from runs_write(cast, runs, rng, until=now, days=days, calls=calls)
    team_write(project, people, runs, after=before, now=now)


def newest_run() -> int:
    return Run.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


@transaction.atomic
def demo_project(slug: str) -> Project:
    """The sample project. Raises ProjectInUse if a project with this slug exists that is not its own."""
    project, made = Project.objects.get_or_create(
        slug=slug, defaults={"name": slug.replace("-", " ").capitalize()}
    )
    marked = AuditEntry.objects.filter(project=project, action=ACTION).exists()
    if not made and not marked:
        raise ProjectInUse(
            f"The project {slug!r} exists and is not sample data. "
            "Choose another slug with --project; the project is created."
        )
    if not marked:
        audit_record(action=ACTION, object_type="project", object_id=project.pk, project=project)
    return project


def demo_people(project: Project) -> list[User]:
    """Five people who cannot sign in. Administrators of the instance become owners."""
    people = []
    for name, address, role in PEOPLE:
        email = f"{address}{DEMO_DOMAIN}"
        user = User.objects.filter(email=email).first() or User.objects.create_user(email, None, name=name)
        Membership.objects.get_or_create(project=project, user=user, defaults={"role": role})
        people.append(user)
    for user in User.objects.filter(is_superuser=True):
        Membership.objects.get_or_create(project=project, user=user, defaults={"role": MemberRole.OWNER})
    return people


def demo_rubrics(project: Project, owner: User) -> list[tuple[RubricVersion, Definition]]:
    """Rubrics of every profile, most with several versions. Together they cover all stop reasons."""
    wiggum, ralph, simmer = (rubric_for(profile) for profile in ("wiggum", "ralph", "simmer"))
    simmer = rubric_with(simmer, {"policy.on_plateau": "stop"})
    edits: dict[str, list[tuple[str, Definition]]] = {
        "release-notes": [
            ("First version.", replace(wiggum, name="Release notes")),
            ("Four rounds.", named(wiggum, "Release notes", max_rounds="4")),
            ("A budget.", named(wiggum, "Release notes", max_rounds="4", budget_tokens="9000")),
        ],
        "runbooks": [
            ("First version.", replace(ralph, name=RUNBOOKS, purpose=RUNBOOKS_FOR, criteria=wiggum.criteria)),
            (
                "Second version.",
                replace(ralph, name=RUNBOOKS, purpose=RUNBOOKS_FOR, criteria=wiggum.criteria),
            ),
        ],
        "house-style": [("First version.", replace(ralph, name="House style"))],
        "answers": [
            ("First version.", replace(simmer, name="Answers for customers")),
            ("Six rounds.", named(simmer, "Answers for customers", max_rounds="6")),
        ],
    }
    return [pair for slug, versions in edits.items() for pair in saved(project, owner, slug, versions)]


def named(rubric: Definition, name: str, **policy: str) -> Definition:
    settings = {
        f"policy.{'budget.tokens' if key == 'budget_tokens' else key}": value for key, value in policy.items()
    }
    return replace(rubric_with(rubric, settings), name=name)


def saved(
    project: Project, owner: User, slug: str, versions: list[tuple[str, Definition]]
) -> list[tuple[RubricVersion, Definition]]:
    """The rubric's versions, created or read from the database."""
    rubric = Rubric.objects.filter(project=project, slug=slug).first()
    if rubric is None:
        (note, first), *later = versions
        made = [rubric_create(project=project, slug=slug, definition=first, user=owner, note=note)]
        made += [
            version_create(rubric=made[0].rubric, definition=definition, user=owner, note=note)
            for note, definition in later
        ]
    else:
        made = list(rubric.versions.order_by("number")[: len(versions)])
    return list(zip(made, (definition for _, definition in versions), strict=True))
