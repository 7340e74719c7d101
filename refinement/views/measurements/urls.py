"""Measurements: list, retest, planted defects, replay, and the page of one with its actions."""

from django.urls import path

from refinement.views.measurements import actions, listing, page, planted, replay, retest

MEASUREMENTS = "p/<slug:slug>/measurements/"
MEASUREMENT = f"{MEASUREMENTS}<int:measurement>"

urlpatterns = [
    path(MEASUREMENTS, listing.measurement_list, name="measurement_list"),
    path(f"{MEASUREMENTS}retest/", retest.retest_new, name="retest_new"),
    path(f"{MEASUREMENTS}planted/", planted.planted_new, name="planted_new"),
    path(f"{MEASUREMENTS}replay/", replay.replay_new, name="replay_new"),
    path(f"{MEASUREMENT}/", page.measurement_page, name="measurement_page"),
    path(f"{MEASUREMENT}/save-draft/", actions.draft_save, name="measurement_save_draft"),
    path(f"{MEASUREMENT}/do/<str:action>/", actions.measurement_action, name="measurement_action"),
]
