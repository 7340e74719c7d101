"""A run while it goes on."""

from django.urls import path

from refinement.views.runs import live

urlpatterns = [
    path("p/<slug:slug>/runs/<int:run>/live/", live.run_live, name="run_live"),
    path("p/<slug:slug>/runs/<int:run>/events/", live.run_events, name="run_events"),
]
