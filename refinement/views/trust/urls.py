"""Judges and what their scores are worth."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
