"""Create, edit, rename, restore and archive suites. Every change of the tasks is a new version."""

from collections.abc import Mapping, Sequence

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from refinement.interchange.suites.types import (
    DESCRIPTION_CHARS,
    MOST_CHARS_TOGETHER,
    MOST_TASKS,
    NAME_CHARS,
    SuiteTaskText,
    check_json,
    line_cleaned,
    sources_json,
    text_cleaned,
)
from refinement.models import Project, Suite, SuiteTask, SuiteVersion, User
from refinement.selectors.suites.tasks import tasks_of
from refinement.services.archiving import archived_set
from refinement.services.audit import audit_record
from refinement.services.rubrics.editing import NewerVersion

__all__ = ["NewerVersion"]

# Page names in URLs where a suite's slug would be.
RESERVED_SLUGS = frozenset({"new", "import", "export", "search", "archived", "add"})
SLUG_LENGTH = 72  # of the field's 80 characters; the rest is for a number
NOTE_CHARS = 400
MOST_AUDITED = 50  # keys of changed tasks in the audit log


def suite_slug_for(project: Project, name: str) -> str:
    """A free slug for a suite of this name, never a reserved one."""
    base = slugify(name)[:SLUG_LENGTH].strip("-_") or "suite"
    taken = set(project.suites.filter(slug__startswith=base).values_list("slug", flat=True)) | RESERVED_SLUGS
    if base not in taken:
        return base
    return next(slug for number in range(2, len(taken) + 3) if (slug := f"{base}-{number}") not in taken)


@transaction.atomic
def suite_create(
    *,
    project: Project,
    name: str,
    description: str = "",
    tasks: Sequence[SuiteTaskText] = (),
    slug: str = "",
    user: User | None = None,
    note: str = "",
    from_runs: Mapping[str, int] | None = None,
) -> SuiteVersion:
    """Create a suite with its first version, which may have no tasks. Raises ValidationError.

    `from_runs` says by key which run a task was copied from.
    """
    name, description = named(name), described(description)
    if slug in RESERVED_SLUGS:
        raise ValidationError({"slug": f"A suite cannot have the slug {slug}: it is reserved."})
    suite = Suite(
        project=project,
        slug=slug or suite_slug_for(project, name),
        name=name,
        description=description,
        created_by=user,
    )
    suite.full_clean()
    suite.save()
    return _version_create(suite, 1, tasks, user=user, note=note, from_runs=from_runs or {}, before=())


@transaction.atomic
def version_save(
    *,
    suite: Suite,
    tasks: Sequence[SuiteTaskText],
    edited_from: int,
    user: User | None = None,
    note: str = "",
    from_runs: Mapping[str, int] | None = None,
) -> SuiteVersion | None:
    """Save the tasks as the suite's next version. Return None if nothing changed.

    Raises NewerVersion if `edited_from` is not the newest version, and ValidationError.
    """
    newest = newest_locked(suite)
    if newest.number != edited_from:
        raise NewerVersion(newest.number)
    before = tasks_of(newest)
    if tuple(tasks) == before:
        return None
    known = dict(newest.tasks.exclude(from_run=None).values_list("key", "from_run"))
    return _version_create(
        suite,
        newest.number + 1,
        tasks,
        user=user,
        note=note,
        from_runs={**known, **(from_runs or {})},
        before=before,
    )


def newest_locked(suite: Suite) -> SuiteVersion:
    """The newest version. Locks the suite, so that concurrent saves run one after the other."""
    Suite.objects.select_for_update().get(pk=suite.pk)
    newest = suite.versions.order_by("-number").first()
    assert newest is not None  # a suite is created with its first version
    return newest


def _version_create(
    suite: Suite,
    number: int,
    tasks: Sequence[SuiteTaskText],
    *,
    user: User | None,
    note: str,
    from_runs: Mapping[str, int],
    before: Sequence[SuiteTaskText],
) -> SuiteVersion:
    validate_size(tasks)
    version = SuiteVersion.objects.create(
        suite=suite, number=number, note=note[:NOTE_CHARS], task_count=len(tasks), created_by=user
    )
    rows = [
        task_row(version, position, task, from_runs.get(task.key)) for position, task in enumerate(tasks, 1)
    ]
    SuiteTask.objects.bulk_create(rows, batch_size=100)
    audit_record(
        action="suite.save" if number > 1 else "suite.create",
        object_type="suite",
        object_id=suite.pk,
        project=suite.project,
        user=user,
        before={"version": number - 1, "tasks": len(before)} if number > 1 else {},
        after={
            "version": number,
            **({} if number > 1 else {"name": suite.name}),
            "note": version.note,
            "tasks": len(tasks),
            **changed_keys(before, tasks),
        },
    )
    return version


def validate_size(tasks: Sequence[SuiteTaskText]) -> None:
    """Raises ValidationError if the suite is beyond a limit or has a key twice."""
    if len(tasks) > MOST_TASKS:
        raise ValidationError(
            f"The suite would have {len(tasks):,} tasks; {MOST_TASKS:,} are allowed. Make a second suite."
        )
    total = sum(task.chars for task in tasks)
    if total > MOST_CHARS_TOGETHER:
        raise ValidationError(
            f"The texts of the suite would have {total:,} characters together; {MOST_CHARS_TOGETHER:,} are "
            "allowed. Shorten sources, or make a second suite."
        )
    seen: set[str] = set()
    for task in tasks:
        if task.key in seen:
            raise ValidationError(f"Two tasks have the key {task.key!r}. Change one of them.")
        seen.add(task.key)


def task_row(version: SuiteVersion, position: int, task: SuiteTaskText, from_run: int | None) -> SuiteTask:
    return SuiteTask(
        version=version,
        position=position,
        key=task.key,
        title=task.title,
        task_type=task.task_type,
        tags=list(task.tags),
        checks=[check_json(check) for check in task.checks],
        sources=sources_json(task.sources),
        expected=task.expected,
        task=task.task,
        seed=task.seed,
        from_run_id=from_run,
    )


def changed_keys(before: Sequence[SuiteTaskText], after: Sequence[SuiteTaskText]) -> dict[str, list[str]]:
    """The keys of added, removed and changed tasks, for the audit log."""
    old = {task.key: task for task in before}
    new = {task.key: task for task in after}
    found = {
        "added": [key for key in new if key not in old],
        "removed": [key for key in old if key not in new],
        "changed": [key for key in new if key in old and new[key] != old[key]],
    }
    return {name: keys[:MOST_AUDITED] for name, keys in found.items() if keys}


@transaction.atomic
def suite_rename(*, suite: Suite, name: str, description: str, user: User | None = None) -> bool:
    """Change the name and description. Return False if both are the same. Raises ValidationError."""
    name, description = named(name), described(description)
    before = {"name": suite.name, "description": suite.description}
    after = {"name": name, "description": description}
    if before == after:
        return False
    suite.name, suite.description = name, description
    suite.save(update_fields=["name", "description"])
    _record("suite.rename", suite, user, before, after)
    return True


def named(name: str) -> str:
    """A suite's name as it is stored. Raises ValidationError."""
    cleaned = line_cleaned(name)
    if not cleaned:
        raise ValidationError({"name": "Enter a name."})
    if len(cleaned) > NAME_CHARS:
        raise ValidationError({"name": f"A name has at most {NAME_CHARS} characters."})
    return cleaned


def described(description: str) -> str:
    """A suite's description as it is stored. Raises ValidationError."""
    cleaned = text_cleaned(description).strip()
    if len(cleaned) > DESCRIPTION_CHARS:
        raise ValidationError({"description": f"A description has at most {DESCRIPTION_CHARS:,} characters."})
    return cleaned


@transaction.atomic
def suite_restore(*, suite: Suite, number: int, edited_from: int, user: User) -> SuiteVersion | None:
    """Save an earlier version's tasks as a new version. Return None if they are the same as the newest's.

    Raises NewerVersion.
    """
    earlier = suite.versions.get(number=number)
    runs = dict(earlier.tasks.exclude(from_run=None).values_list("key", "from_run"))
    version = version_save(
        suite=suite,
        tasks=tasks_of(earlier),
        edited_from=edited_from,
        user=user,
        note=f"Restored from version {number}.",
        from_runs=runs,
    )
    if version is not None:
        after = {"version": version.number, "restored_from": number}
        _record("suite.restore", suite, user, {"version": edited_from}, after)
    return version


@transaction.atomic
def suite_archive(*, suite: Suite, user: User, archived: bool = True) -> bool:
    """Archive or unarchive the suite. Return False if it was already in that state."""
    if not archived_set(suite, archived=archived):
        return False
    action = "suite.archive" if archived else "suite.unarchive"
    _record(action, suite, user, {"archived": not archived}, {"archived": archived})
    return True


def _record(
    action: str, suite: Suite, user: User | None, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    audit_record(
        action=action,
        object_type="suite",
        object_id=suite.pk,
        project=suite.project,
        user=user,
        before=before,
        after=after,
    )
