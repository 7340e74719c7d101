"""Saved views: named filters of a project's list of runs."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from refinement.models import Project, SavedView, User
from refinement.selectors.runs.listing.saved_views import own_views
from refinement.services.audit import AuditOf
from refinement.texts import storable

MOST_VIEWS = 50  # shared in a project, and of one person in it
QUERY_CHARS = 2_000
_record = AuditOf("view")


@transaction.atomic
def view_save(*, project: Project, name: str, query: str, user: User, shared: bool = False) -> SavedView:
    """Save the filters, for the user alone or for everyone in the project. Raises ValidationError.

    A name is unique among the project's shared views, or among the user's own.
    """
    name = " ".join(storable(name).split())
    if not name:
        raise ValidationError({"name": "Enter a name."})
    if len(query) > QUERY_CHARS:
        raise ValidationError({"name": "These filters are too long to save. Remove some."})
    beside = project.saved_views.filter(shared=True) if shared else own_views(project, user)
    if beside.count() >= MOST_VIEWS:
        whose = "A project can have" if shared else "You can have"
        raise ValidationError({"name": f"{whose} {MOST_VIEWS} saved views. Delete one first."})
    view = SavedView(project=project, name=name, query=query, created_by=user, shared=shared)
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError:
        raise ValidationError(
            {"name": f"A view named “{name}” already exists. Choose another name."}
        ) from None
    _record("view.save", view, user, after={"name": name, "query": query, "shared": shared})
    return view


@transaction.atomic
def view_delete(*, view: SavedView, user: User) -> None:
    _record("view.delete", view, user, before={"name": view.name, "query": view.query})
    view.delete()
