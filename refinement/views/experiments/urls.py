"""Experiments: list, launch, page with its actions, cells, comparison, and the history of a suite."""

from django.urls import path

from refinement.views.experiments import actions, cell, compare, exporting, history, launch, listing, page

EXPERIMENTS = "p/<slug:slug>/experiments/"
EXPERIMENT = f"{EXPERIMENTS}<int:experiment>"

urlpatterns = [
    path(EXPERIMENTS, listing.experiment_list, name="experiment_list"),
    path(f"{EXPERIMENTS}new/", launch.experiment_new, name="experiment_new"),
    path(f"{EXPERIMENTS}new/estimate/", launch.experiment_estimate, name="experiment_estimate"),
    path(f"{EXPERIMENTS}compare/", compare.experiment_compare, name="experiment_compare"),
    path(f"{EXPERIMENT}/", page.experiment_page, name="experiment_page"),
    path(f"{EXPERIMENT}/events/", page.experiment_events, name="experiment_events"),
    path(f"{EXPERIMENT}/export/<str:form>/", exporting.experiment_export, name="experiment_export"),
    path(f"{EXPERIMENT}/tasks/<int:position>/", cell.experiment_cell, name="experiment_cell"),
    path(f"{EXPERIMENT}/configurations/new/", launch.configuration_new, name="configuration_new"),
    path(f"{EXPERIMENT}/baseline/", actions.experiment_baseline, name="experiment_baseline"),
    path(f"{EXPERIMENT}/do/<str:action>/", actions.experiment_action, name="experiment_action"),
    path("p/<slug:slug>/suites/<slug:suite>/history/", history.suite_history_page, name="suite_history"),
]
