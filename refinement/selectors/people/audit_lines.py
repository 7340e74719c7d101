"""Audit entries as sentences: "Nina changed the pass mark of Release notes from 8 to 9"."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse

from refinement.models import (
    AuditEntry,
    Experiment,
    FailureCategory,
    LabelSet,
    Measurement,
    Rubric,
    Run,
    Suite,
    Webhook,
)
from refinement.selectors.people.audit_words import ACTIONS, OBJECT, Change, action_label, changes_of

NAME_CHARS = 120
MOST_DIGITS = 18
# Objects with a page of their own, by type: the rows, the page, and the field in the page's address.
PAGES: dict[str, tuple[QuerySet[Any], str, str]] = {
    "experiment": (Experiment.objects.all(), "experiment_page", "pk"),
    "failure category": (FailureCategory.objects.all(), "failure_category", "pk"),
    "label_set": (LabelSet.objects.all(), "label_set_page", "pk"),
    "measurement": (Measurement.objects.all(), "measurement_page", "pk"),
    "rubric": (Rubric.objects.all(), "rubric_page", "slug"),
    "suite": (Suite.objects.all(), "suite_page", "slug"),
    "webhook": (Webhook.objects.all(), "webhook_page", "pk"),
}
# Values that name the object, by its type; the sentence says them.
NAMED = {
    "experiment": ("name",),
    "failure category": ("name",),
    "label_set": ("name",),
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
class Shown:
    """An object that still exists: its name, and what its page's address is made of."""

    name: str
    page: str
    key: object


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a page of entries that still exist, and the projects that the user can open."""

    runs: Mapping[int, str]
    others: Mapping[tuple[str, int], Shown]
    projects: frozenset[int]


def audit_lines(entries: list[AuditEntry], projects: Iterable[int]) -> list[AuditLine]:
    """The entries as sentences, with at most one query for each kind of object."""
    objects = _objects(entries, frozenset(projects))
    return [_line(entry, objects) for entry in entries]


def _objects(entries: list[AuditEntry], projects: frozenset[int]) -> Objects:
    runs = {number for entry in entries if (number := _run_number(entry))}
    return Objects(
        runs=dict(Run.objects.filter(pk__in=runs).values_list("pk", "title")) if runs else {},
        others={
            (kind, row.pk): Shown(str(row), page, getattr(row, field))
            for kind, (rows, page, field) in PAGES.items()
            if (numbers := _numbers(entries, kind))
            for row in rows.filter(pk__in=numbers)
        },
        projects=projects,
    )


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
    kind = f"{entry.object_type.replace('_', ' ')} "
    name = name.removeprefix(kind) if lead.endswith(f"the {kind}") else name  # "the webhook 7"
    if one and (entry.action == "rubric.save" or entry.object_type == "member"):
        tail = f"{tail} from {_quoted(one.before)} to {_quoted(one.after)}"
        changes.remove(one)
    return AuditLine(entry, lead, name if object_words else "", href, tail, changes)


def _quoted(value: str | None) -> str:
    return f"“{value}”" if value and " " in value else str(value)


def _name(entry: AuditEntry, objects: Objects, otherwise: str) -> str:
    """The object's name; its type and number if it is gone; the general words if it is unknown."""
    run = _run_number(entry)
    if run is not None:
        return objects.runs.get(run) or f"run {run}"
    if otherwise == "a run":
        return otherwise
    if entry.object_type != "webhook" and (known := _known(entry, objects)):
        return known.name
    if entry.object_type in ("endpoint", "price"):
        return entry.object_id
    named = next((found for key in NAMED.get(entry.object_type, ()) if (found := _value(entry, key))), None)
    if named is None and entry.object_type == "project" and entry.project:
        named = entry.project.name
    if named:
        return str(named)[:NAME_CHARS]
    return f"{entry.object_type.replace('_', ' ')} {entry.object_id}".strip() or otherwise


def _known(entry: AuditEntry, objects: Objects) -> Shown | None:
    return objects.others.get((entry.object_type, _number(entry.object_id) or 0))


def _href(entry: AuditEntry, objects: Objects) -> str:
    """The object's page, if it exists and the user can open it."""
    project, run = entry.project, _run_number(entry)
    if project is None or project.pk not in objects.projects:
        return ""
    if run is not None:
        return reverse("run_page", args=[project.slug, run]) if run in objects.runs else ""
    if known := _known(entry, objects):
        return reverse(known.page, args=[project.slug, known.key])
    if entry.object_type == "project":
        return reverse("project_home", args=[project.slug])
    listed = LISTS.get(entry.object_type)
    return reverse(listed, args=[project.slug]) if listed else ""
