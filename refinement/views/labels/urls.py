"""Label sets and the labelling queue."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
