"""What each role would be sent, before anything is."""

from django.urls import path

from refinement.views.rubrics import preview

urlpatterns = [
    path("p/<slug:slug>/rubrics/<slug:rubric>/preview/", preview.rubric_preview, name="rubric_preview"),
]
