"""Editing a rubric."""

from django.urls import path

from refinement.views.rubrics import editor

urlpatterns = [
    path("p/<slug:slug>/rubrics/<slug:rubric>/edit/", editor.rubric_edit, name="rubric_edit"),
    path(
        "p/<slug:slug>/rubrics/<slug:rubric>/edit/try-check/",
        editor.rubric_try_check,
        name="rubric_try_check",
    ),
]
