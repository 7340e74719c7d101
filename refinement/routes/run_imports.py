"""Runs from files."""

from django.urls import path

from refinement.views.runs import importing

IMPORT = "p/<slug:slug>/runs/import/"

urlpatterns = [
    path(IMPORT, importing.run_import, name="run_import"),
    path(f"{IMPORT}<int:batch>/", importing.run_import_batch, name="run_import_batch"),
]
