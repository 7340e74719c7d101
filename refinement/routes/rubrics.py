"""The rubrics of a project: list, gallery, page, versions."""

from django.urls import path

from refinement.views.rubrics import changes, gallery, library, page, versions

RUBRIC = "p/<slug:slug>/rubrics/<slug:rubric>"

urlpatterns = [
    path("p/<slug:slug>/rubrics/", library.rubric_list, name="rubric_list"),
    path("p/<slug:slug>/rubrics/new/", gallery.rubric_gallery, name="rubric_gallery"),
    path(f"{RUBRIC}/", page.rubric_page, name="rubric_page"),
    path(f"{RUBRIC}/v/<int:number>/", page.rubric_version, name="rubric_version"),
    path(f"{RUBRIC}/versions/", versions.rubric_versions, name="rubric_versions"),
    path(f"{RUBRIC}/compare/", versions.rubric_compare, name="rubric_compare"),
    path(f"{RUBRIC}/restore/", changes.rubric_restore, name="rubric_restore"),
    path(f"{RUBRIC}/duplicate/", changes.rubric_duplicate, name="rubric_duplicate"),
    path(f"{RUBRIC}/archive/", changes.rubric_archive, name="rubric_archive"),
]
