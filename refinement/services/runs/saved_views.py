"""Saved views: named filters of a project's list of runs."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from refinement.models import Project, SavedView, User
from refinement.services.audit import AuditOf
from refinement.texts import storable

MOST_VIEWS = 50
QUERY_CHARS = 2_000
_record = AuditOf("view")


@transaction.atomic
def view_save(*, project: Project, name: str, query: str, user: User) -> SavedView:
    """Save the filters under a name that is unique in the project. Raises ValidationError."""
    name = " ".join(storable(name).split())
    if not name:
        raise ValidationError({"name": "Enter a name."})
    if len(query) > QUERY_CHARS:
        raise ValidationError({"name": "These filters are too long to save. Remove some."})
    if project.saved_views.count() >= MOST_VIEWS:
        raise ValidationError({"name": f"A project can have {MOST_VIEWS} saved views. Delete one first."})
    view = SavedView(project=project, name=name, query=query, created_by=user)
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError:
        raise ValidationError(
            {"name": f"A view named “{name}” already exists. Choose another name."}
        ) from None
    _record("view.save", view, user, after={"name": name, "query": query})
    return view


@transaction.atomic
def view_delete(*, view: SavedView, user: User) -> None:
    _record("view.delete", view, user, before={"name": view.name, "query": view.query})
    view.delete()
