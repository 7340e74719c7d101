"""A project's home and settings, and new projects."""

from django.urls import path

from refinement.views.projects import counts, example, home, jump, settings

urlpatterns = [
    path("", home.home, name="home"),
    path("p/<slug:slug>/", home.project_home, name="project_home"),
    path("p/<slug:slug>/tour/", example.prepared_open, name="prepared_open"),
    path("p/<slug:slug>/tour/play/", example.prepared_play, name="prepared_play"),
    path("p/<slug:slug>/tour/delete/", example.prepared_delete, name="prepared_delete"),
    path("p/<slug:slug>/jump/", jump.project_jump, name="project_jump"),
    path("p/<slug:slug>/counts/", counts.project_counts, name="project_counts"),
    path("projects/new/", home.project_new, name="project_new"),
    path("p/<slug:slug>/settings/", settings.project_settings, name="project_settings"),
]
