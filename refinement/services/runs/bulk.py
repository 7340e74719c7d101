"""Bulk actions on runs. Each run is changed separately, and failures are reported."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError
from django.db import transaction

from refinement.models import Project, Run, RunStatus, RunTag, User
from refinement.selectors.reviews.blindness import shown_runs
from refinement.services.audit import audit_record
from refinement.services.runs.archiving import run_archive
from refinement.services.runs.creating import MOST_TAGS, tags_cleaned
from refinement.services.runs.lifecycle import WrongState, run_cancel

MOST_RUNS = 200
LEAN = ("project", "status", "outcome", "archived_at")


@dataclass(slots=True)
class BulkResult:
    """How many runs were changed, and a message for each one that was not."""

    done: int = 0
    refused: list[str] = field(default_factory=list)


def runs_tag(*, project: Project, numbers: Sequence[int], names: Sequence[str], user: User) -> BulkResult:
    """Add the tags to each run."""
    wanted = _wanted(names)

    def tag(run: Run) -> None:
        had = set(RunTag.objects.filter(run=run).values_list("name", flat=True))
        if len(had | set(wanted)) > MOST_TAGS:
            raise WrongState(f"Run {run.pk} would have more than {MOST_TAGS} tags. Remove some first.")
        fresh = [name for name in wanted if name not in had]
        RunTag.objects.bulk_create(
            [RunTag(run=run, project=project, name=name) for name in fresh], ignore_conflicts=True
        )
        if fresh:
            _record(
                "run.tag", run, user, before={"tags": sorted(had)}, after={"tags": sorted({*had, *fresh})}
            )

    return _each(project, numbers, tag)


def runs_untag(*, project: Project, numbers: Sequence[int], names: Sequence[str], user: User) -> BulkResult:
    """Remove the tags from each run."""
    wanted = _wanted(names)

    def untag(run: Run) -> None:
        had = list(RunTag.objects.filter(run=run, name__in=wanted).values_list("name", flat=True))
        if not had:
            raise WrongState(f"Run {run.pk} does not have {_any_of(wanted)}.")
        RunTag.objects.filter(run=run, name__in=had).delete()
        _record("run.untag", run, user, before={"tags": sorted(had)}, after={"tags": []})

    return _each(project, numbers, untag)


def runs_cancel(*, project: Project, numbers: Sequence[int], user: User) -> BulkResult:
    """Cancel each unfinished run."""

    def cancel(run: Run) -> None:
        run_cancel(run=run, user=user)

    return _each(project, numbers, cancel)


def runs_archive(*, project: Project, numbers: Sequence[int], user: User) -> BulkResult:
    """Archive each finished run."""

    def archive(run: Run) -> None:
        if not run.is_finished:
            state = RunStatus(run.status).label.lower()
            raise WrongState(f"Run {run.pk} is {state}. Stop it or let it finish, then archive it.")
        if not run_archive(run=run, user=user):
            raise WrongState(f"Run {run.pk} is already archived.")

    return _each(project, numbers, archive)


def runs_unarchive(*, project: Project, numbers: Sequence[int], user: User) -> BulkResult:
    """Unarchive each run."""

    def unarchive(run: Run) -> None:
        if not run_archive(run=run, user=user, archived=False):
            raise WrongState(f"Run {run.pk} is not archived.")

    return _each(project, numbers, unarchive)


def _each(project: Project, numbers: Sequence[int], change: Callable[[Run], None]) -> BulkResult:
    """Change each run in a separate transaction, so that one failure does not affect the others."""
    result = BulkResult()
    chosen = sorted(set(numbers))[:MOST_RUNS]
    found = shown_runs(project).select_related("project").only(*LEAN, "project__slug").in_bulk(chosen)
    for number in chosen:
        run = found.get(number)
        if run is None:
            result.refused.append(f"Run {number} is not in this project.")
            continue
        try:
            with transaction.atomic():
                change(run)
        except WrongState as refused:
            result.refused.append(str(refused))
        else:
            result.done += 1
    return result


def _wanted(names: Sequence[str]) -> list[str]:
    wanted = tags_cleaned(names)
    if not wanted:
        raise ValidationError({"tags": "Enter at least one tag."})
    return wanted


def _any_of(names: list[str]) -> str:
    return f"the tag {names[0]}" if len(names) == 1 else f"any of the tags {', '.join(names)}"


def _record(
    action: str,
    run: Run,
    user: User | None,
    *,
    before: dict[str, object] | None = None,
    after: dict[str, object] | None = None,
) -> None:
    audit_record(
        action=action,
        object_type="run",
        object_id=run.pk,
        project=run.project,
        user=user,
        before=before,
        after=after,
    )
