"""Reviews: the queue, requests, rules, human scores and decisions."""

from django.urls import path

from refinement.views.reviews import asking, deciding, queue, rules, scoring

REVIEWS = "p/<slug:slug>/reviews/"
RUN = "p/<slug:slug>/runs/<int:run>"

urlpatterns = [
    path(REVIEWS, queue.review_list, name="review_list"),
    path(f"{REVIEWS}next/", queue.review_next, name="review_next"),
    path(f"{REVIEWS}ask/", asking.review_ask, name="review_ask"),
    path(f"{REVIEWS}rules/", rules.review_rules, name="review_rules"),
    path(f"{REVIEWS}rules/<int:rule>/end/", rules.review_rule_ending, name="review_rule_end"),
    path(f"{REVIEWS}<int:review>/back/", asking.review_take_back_action, name="review_take_back"),
    path("p/<slug:slug>/runs/<int:run>/reviewed/", queue.review_close, name="review_close"),
    path(f"{RUN}/score/<int:number>/", scoring.run_score, name="run_score"),
    path(f"{RUN}/score/<int:number>/blind/", scoring.run_score_blind, name="run_score_blind"),
    path(f"{RUN}/score/reveal/", scoring.run_score_reveal, name="run_score_reveal"),
    path(f"{RUN}/decide/", deciding.run_decide, name="run_decide"),
]
