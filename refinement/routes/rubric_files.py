"""Rubrics as YAML files, in and out, and their seed calibration."""

from django.urls import path

from refinement.views.rubrics import files, seed

RUBRIC = "p/<slug:slug>/rubrics/<slug:rubric>"

urlpatterns = [
    path("p/<slug:slug>/rubrics/import/", files.rubric_import_page, name="rubric_import"),
    path(f"{RUBRIC}/export.yaml", files.rubric_export, name="rubric_export"),
    path(f"{RUBRIC}/seed/", seed.rubric_seed, name="rubric_seed"),
]
