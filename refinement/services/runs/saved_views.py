"""Views of the list of runs that a project keeps under names."""

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
    """Keeps the filters under a name that nobody in the project has used."""
    name = " ".join(storable(name).split())
    if not name:
        raise ValidationError({"name": "Give the view a name."})
    if len(query) > QUERY_CHARS:
        raise ValidationError({"name": "These filters are too long to keep; take some of them off."})
    if project.saved_views.count() >= MOST_VIEWS:
        raise ValidationError({"name": f"A project keeps {MOST_VIEWS} views; delete one first."})
    view = SavedView(project=project, name=name, query=query, created_by=user)
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError:
        raise ValidationError(
            {"name": f"There is a view called “{name}” already; choose another name, or delete that one."}
        ) from None
    _record("view.save", view, user, after={"name": name, "query": query})
    return view


@transaction.atomic
def view_delete(*, view: SavedView, user: User) -> None:
    """Forgets the name; no run is touched."""
    _record("view.delete", view, user, before={"name": view.name, "query": view.query})
    view.delete()
