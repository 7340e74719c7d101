"""Retests, planted defects and replays."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
