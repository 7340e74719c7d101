"""Runs imported from files."""

from django.urls import path

from refinement.views.imports import page

IMPORT = "p/<slug:slug>/runs/import/"

urlpatterns = [
    path(IMPORT, page.run_import, name="run_import"),
    path(f"{IMPORT}<int:batch>/", page.run_import_batch, name="run_import_batch"),
]
