"""Audit entries as sentences: "Nina changed the pass mark of Release notes from 8 to 9"."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from refinement.models import AuditEntry, Rubric, Run, Suite, Webhook
from refinement.selectors.people.audit_words import ACTIONS, OBJECT, Change, action_label, changes_of

NAME_CHARS = 120
MOST_DIGITS = 18
# Values that name the object, by its type; the sentence says them.
NAMED = {
    "member": ("member",),
    "person": ("person",),
    "session": ("person",),
    "rubric": ("name", "version"),
    "suite": ("version",),
    "token": ("name",),
    "view": ("name",),
    "webhook": ("address",),
    "project": ("name",),
}
SAID = frozenset({"run", "thread", "link"})
# Pages that show all objects of a type. Links to single objects are in `_href`.
LISTS = {
    "member": "member_list",
    "invitation": "member_list",
    "token": "token_list",
    "review rule": "review_rules",
}


@dataclass(frozen=True, slots=True)
class AuditLine:
    """An entry as displayed: the words before its object, the object with a link, the words after it."""

    entry: AuditEntry
    lead: str
    object: str
    href: str
    tail: str
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a page of entries that still exist, and the projects that the user can open."""

    runs: Mapping[int, str]
    rubrics: Mapping[int, tuple[str, str]]
    suites: Mapping[int, tuple[str, str]]
    webhooks: frozenset[int]
    projects: frozenset[int]


def audit_lines(entries: list[AuditEntry], projects: Iterable[int]) -> list[AuditLine]:
    """The entries as sentences, with at most one query for each kind of object."""
    objects = _objects(entries, frozenset(projects))
    return [_line(entry, objects) for entry in entries]


def _objects(entries: list[AuditEntry], projects: frozenset[int]) -> Objects:
    runs = {number for entry in entries if (number := _run_number(entry))}
    webhooks = _numbers(entries, "webhook")
    return Objects(
        runs=dict(Run.objects.filter(pk__in=runs).values_list("pk", "title")) if runs else {},
        rubrics=_slugs_and_names(Rubric.objects.all(), _numbers(entries, "rubric")),
        suites=_slugs_and_names(Suite.objects.all(), _numbers(entries, "suite")),
        webhooks=frozenset(
            Webhook.objects.filter(pk__in=webhooks).values_list("pk", flat=True) if webhooks else ()
        ),
        projects=projects,
    )


def _slugs_and_names(rows: QuerySet[Any], numbers: set[int]) -> dict[int, tuple[str, str]]:
    found = rows.filter(pk__in=numbers).only("slug", "name") if numbers else ()
    return {row.pk: (row.slug, row.name) for row in found}


def _numbers(entries: list[AuditEntry], kind: str) -> set[int]:
    found = (_number(entry.object_id) for entry in entries if entry.object_type == kind)
    return {number for number in found if number is not None}


def _number(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def _run_number(entry: AuditEntry) -> int | None:
    """The run that an entry is about, such as that of a comment."""
    return _number(entry.object_id if entry.object_type == "run" else _value(entry, "run"))


def _value(entry: AuditEntry, name: str) -> object:
    return entry.after.get(name) or entry.before.get(name)


def _line(entry: AuditEntry, objects: Objects) -> AuditLine:
    hidden = SAID | frozenset(NAMED.get(entry.object_type, ()))
    changes = changes_of(entry, without=hidden)
    words = ACTIONS.get(entry.action) or action_label(entry.action)
    apart = [change for change in changes if change.name != "note"]
    one = apart[0] if len(apart) == 1 and apart[0].before and apart[0].after else None
    if one and entry.action == "rubric.save":
        words = f"changed the {one.name} of {{a rubric}}"
    lead, object_words, tail = (*OBJECT.split(words, maxsplit=1), "", "")[:3]
    name, href = _name(entry, objects, object_words), _href(entry, objects)
    if one and (entry.action == "rubric.save" or entry.object_type == "member"):
        tail = f"{tail} from {one.before} to {one.after}"
        changes.remove(one)
    return AuditLine(entry, lead, name if object_words else "", href, tail, changes)


def _name(entry: AuditEntry, objects: Objects, otherwise: str) -> str:
    """The object's name; its type and number if it is gone; the general words if it is unknown."""
    run = _run_number(entry)
    if run is not None:
        return objects.runs.get(run) or f"run {run}"
    if otherwise == "a run":
        return otherwise
    if entry.object_type in ("rubric", "suite"):
        listed = objects.rubrics if entry.object_type == "rubric" else objects.suites
        known = listed.get(_number(entry.object_id) or 0)
        return known[1] if known else str(_value(entry, "name") or f"{entry.object_type} {entry.object_id}")
    if entry.object_type in ("endpoint", "price"):
        return entry.object_id
    named = next((found for key in NAMED.get(entry.object_type, ()) if (found := _value(entry, key))), None)
    if named is None and entry.object_type == "project" and entry.project:
        named = entry.project.name
    return str(named)[:NAME_CHARS] if named else f"{entry.object_type} {entry.object_id}".strip() or otherwise


def _href(entry: AuditEntry, objects: Objects) -> str:
    """The object's page, if it exists and the user can open it."""
    project, run = entry.project, _run_number(entry)
    if project is None or project.pk not in objects.projects:
        return ""
    if run is not None:
        return reverse("run_page", args=[project.slug, run]) if run in objects.runs else ""
    number = _number(entry.object_id) or 0
    if entry.object_type == "rubric" and number in objects.rubrics:
        return reverse("rubric_page", args=[project.slug, objects.rubrics[number][0]])
    if entry.object_type == "suite" and number in objects.suites:
        return reverse("suite_page", args=[project.slug, objects.suites[number][0]])
    if entry.object_type == "webhook" and number in objects.webhooks:
        return reverse("webhook_page", args=[project.slug, number])
    if entry.object_type == "project":
        return reverse("project_home", args=[project.slug])
    listed = LISTS.get(entry.object_type)
    return reverse(listed, args=[project.slug]) if listed else ""
