"""Help."""

from django.urls import path

from refinement.views.help import pages

urlpatterns = [
    path("help/", pages.help_index, name="help"),
    path("help/<slug:page>/", pages.help_topic, name="help_page"),
]
