"""Runs side by side, and runs as files."""

from django.urls import path

from refinement.views.runs import compare, export

urlpatterns = [
    path("p/<slug:slug>/runs/compare/", compare.run_compare, name="run_compare"),
    path("p/<slug:slug>/runs/export/<str:form>/", export.run_export_many, name="run_export_many"),
    path("p/<slug:slug>/runs/<int:run>/export/<str:form>/", export.run_export, name="run_export"),
]
