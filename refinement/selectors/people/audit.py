"""The audit log for owners and administrators: newest first, paginated."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.db.models import Q, QuerySet
from django.utils import timezone

from refinement.models import AuditEntry, Project, User
from refinement.selectors.people.audit_lines import AuditLine, audit_lines
from refinement.selectors.people.audit_words import action_label
from refinement.selectors.projects.lists import projects_for

PAGE_SIZE = 50
RECENT_ENTRIES = 2_000  # newest entries that supply the filter choices
EXPORT_PIECE = 1_000
# These entries reveal nothing about a run's scores, so blind reviewers may see them.
APART_FROM_RUNS = ("invitation", "launch", "member", "person", "project", "rubric", "suite", "view")
COMMAND_LINE = "none"  # in the user filter: actions without a signed-in user


@dataclass(frozen=True, slots=True)
class AuditFilters:
    """Filters of the log. Empty values do not filter."""

    person: str = ""
    action: str = ""
    object_type: str = ""
    object_id: str = ""
    since: date | None = None
    until: date | None = None
    project: str = ""


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page, with the ids at which the next and the previous one start."""

    lines: list[AuditLine]
    older: int | None
    newer: int | None


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Filter choices taken from the newest entries."""

    people: list[tuple[str, str]]
    actions: list[tuple[str, str]]
    object_types: list[tuple[str, str]]


def audit_page(
    project: Project | None,
    filters: AuditFilters,
    *,
    user: User,
    before: int | None = None,
    after: int | None = None,
    hidden: Collection[int] = (),
) -> AuditPage:
    """Entries of a project or of the instance: before an id, after an id, or the newest.

    Objects are linked in projects of which `user` is a member.
    """
    projects = [project.pk] if project else list(projects_for(user).values_list("pk", flat=True))
    rows = audit_rows(project, filters, hidden).select_related("project")
    if after is not None:
        found = list(rows.filter(pk__gt=after).order_by("pk")[: PAGE_SIZE + 1])
        more, entries = len(found) > PAGE_SIZE, found[:PAGE_SIZE][::-1]
        return _page(entries, projects, has_older=bool(entries), has_newer=more)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.order_by("-pk")[: PAGE_SIZE + 1])
    more = len(found) > PAGE_SIZE
    return _page(found[:PAGE_SIZE], projects, has_older=more, has_newer=before is not None)


def _page(entries: list[AuditEntry], projects: list[int], *, has_older: bool, has_newer: bool) -> AuditPage:
    return AuditPage(
        audit_lines(entries, projects),
        older=entries[-1].pk if entries and has_older else None,
        newer=entries[0].pk if entries and has_newer else None,
    )


def audit_rows(
    project: Project | None, filters: AuditFilters, hidden: Collection[int] = ()
) -> QuerySet[AuditEntry]:
    """Entries that match the filters and reveal nothing about `hidden` runs."""
    rows = AuditEntry.objects.all() if project is None else AuditEntry.objects.filter(project=project)
    if hidden:
        # Other entries about runs are safe only if they name a run that is not hidden.
        others = Q(object_type="run") & ~Q(object_id__in=[str(run) for run in hidden])
        rows = rows.filter(others | Q(object_type__in=APART_FROM_RUNS))
    if filters.person == COMMAND_LINE:
        rows = rows.filter(user__isnull=True)
    elif filters.person:
        rows = rows.filter(user_id=int(filters.person))
    exact = {
        "action": filters.action,
        "object_type": filters.object_type,
        "object_id": filters.object_id,
        "project__slug": filters.project,
    }
    rows = rows.filter(**{name: value for name, value in exact.items() if value})
    if filters.since:
        rows = rows.filter(at__gte=_midnight(filters.since))
    if filters.until:
        rows = rows.filter(at__lt=_midnight(filters.until + timedelta(days=1)))
    return rows


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time()))


def audit_options(project: Project | None) -> AuditOptions:
    """Filter choices, from the newest entries only: the log can be long."""
    newest = audit_rows(project, AuditFilters()).order_by("-pk").values_list("pk", flat=True)
    columns = ("user_id", "actor", "action", "object_type")
    seen = list(
        AuditEntry.objects.filter(pk__in=newest[:RECENT_ENTRIES])
        .order_by()
        .values_list(*columns)
        .distinct()[:RECENT_ENTRIES]
    )
    people = {str(user or COMMAND_LINE): actor if user else "Not signed in" for user, actor, _, _ in seen}
    actions = {action: action_label(action) for _, _, action, _ in seen}
    types = {kind: kind.replace("_", " ").capitalize() for _, _, _, kind in seen}
    return AuditOptions(
        *(sorted(each.items(), key=lambda pair: pair[1].lower()) for each in (people, actions, types))
    )


def audit_exported(
    project: Project | None, filters: AuditFilters, hidden: Collection[int] = ()
) -> Iterator[AuditEntry]:
    """All entries that match the filters, newest first, read in chunks."""
    rows = audit_rows(project, filters, hidden).select_related("project", "user").order_by("-pk")
    last: int | None = None
    while piece := list((rows if last is None else rows.filter(pk__lt=last))[:EXPORT_PIECE]):
        yield from piece
        last = piece[-1].pk
