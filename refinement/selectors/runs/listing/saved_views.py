"""Saved views: which ones a person sees, and which of them they can delete."""

from django.db.models import Q, QuerySet

from refinement.models import Project, SavedView, User


def own_views(project: Project, user: User) -> QuerySet[SavedView]:
    """The user's private views."""
    return SavedView.objects.filter(project=project, created_by=user, shared=False)


def views_of(project: Project, user: User) -> QuerySet[SavedView]:
    """The project's shared views and the user's own, by name."""
    visible = Q(shared=True) | Q(created_by=user)
    return SavedView.objects.filter(visible, project=project).order_by("name", "pk")
