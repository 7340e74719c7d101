"""The runs of a project: list, filters, saved views, what is done to many at once."""

from django.urls import path

from refinement.views.runs import bulk, listing, saved_views, training

RUNS = "p/<slug:slug>/runs/"

urlpatterns = [
    path(RUNS, listing.run_list, name="run_list"),
    path(f"{RUNS}bulk/", bulk.run_bulk, name="run_bulk"),
    path(f"{RUNS}training/", training.run_training, name="run_training"),
    path(f"{RUNS}training/<str:form>/", training.run_training_file, name="run_training_file"),
    path(f"{RUNS}views/", saved_views.run_view_save, name="run_view_save"),
    path(f"{RUNS}views/<int:view>/delete/", saved_views.run_view_delete, name="run_view_delete"),
]
