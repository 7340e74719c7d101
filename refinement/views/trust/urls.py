"""Judges and what their scores are worth."""

from django.urls import path

from refinement.views.trust import comparing, disagreements, listing, page

TRUST = "p/<slug:slug>/trust/"
JUDGE = f"{TRUST}<int:judge>/"
CASE = f"{JUDGE}disagreements/<slug:item>/<str:criterion>/"

urlpatterns = [
    path(TRUST, listing.trust_home, name="trust_home"),
    path(f"{TRUST}compare/", comparing.trust_compare, name="trust_compare"),
    path(JUDGE, page.trust_page, name="trust_page"),
    path(f"{JUDGE}compute/", page.trust_compute, name="trust_compute"),
    path(f"{JUDGE}disagreements/", disagreements.trust_disagreements, name="trust_disagreements"),
    path(CASE, disagreements.trust_case, name="trust_case"),
    path(f"{CASE}wrong/", disagreements.trust_label_wrong, name="trust_label_wrong"),
]
