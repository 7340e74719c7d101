"""Launching runs."""

from django.urls import path

from refinement.views.runs import launch

urlpatterns = [
    path("p/<slug:slug>/example/", launch.run_example, name="run_example"),
    path("p/<slug:slug>/runs/new/", launch.run_new, name="run_new"),
    path("p/<slug:slug>/runs/new/estimate/", launch.run_estimate, name="run_estimate"),
]
