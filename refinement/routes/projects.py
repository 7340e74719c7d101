"""Projects, and what belongs to none."""

from django.urls import path

from refinement.views import projects, theme, welcome

urlpatterns = [
    path("", projects.home, name="home"),
    path("p/<slug:slug>/", projects.project_home, name="project_home"),
    path("projects/new/", projects.project_new, name="project_new"),
    path("theme/", theme.change, name="theme"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
]
