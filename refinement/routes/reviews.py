"""Reviews: the queue, asking, and rules that ask."""

from django.urls import path

from refinement.views.reviews import asking, queue, rules

REVIEWS = "p/<slug:slug>/reviews/"

urlpatterns = [
    path(REVIEWS, queue.review_list, name="review_list"),
    path(f"{REVIEWS}ask/", asking.review_ask, name="review_ask"),
    path(f"{REVIEWS}rules/", rules.review_rules, name="review_rules"),
    path(f"{REVIEWS}rules/<int:rule>/end/", rules.review_rule_ending, name="review_rule_end"),
    path(f"{REVIEWS}<int:review>/back/", asking.review_take_back_action, name="review_take_back"),
    path("p/<slug:slug>/runs/<int:run>/reviewed/", queue.review_close, name="review_close"),
]
