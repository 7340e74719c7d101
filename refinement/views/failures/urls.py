"""Failures: the page, categories, their issues and exports."""

from django.urls import path

from refinement.views.failures import categories, editing, exporting, page

FAILURES = "p/<slug:slug>/failures/"
CATEGORY = f"{FAILURES}categories/<int:category>/"

urlpatterns = [
    path(FAILURES, page.failure_page, name="failure_page"),
    path(f"{FAILURES}update/", editing.failure_update, name="failure_update"),
    path(f"{FAILURES}names/", editing.failure_names, name="failure_names"),
    path(f"{FAILURES}bulk/", editing.failure_bulk, name="failure_bulk"),
    path(f"{FAILURES}issues/move/", editing.failure_issues_move, name="failure_issues_move"),
    path(f"{FAILURES}unplaced/", categories.failure_unplaced, name="failure_unplaced"),
    path(
        f"{FAILURES}suggestions/<int:suggestion>/dismiss/",
        editing.failure_dismiss,
        name="failure_dismiss",
    ),
    path(f"{FAILURES}export/<str:form>/", exporting.failure_export, name="failure_export"),
    path(CATEGORY, categories.failure_category, name="failure_category"),
    path(f"{CATEGORY}edit/", editing.failure_edit, name="failure_edit"),
    path(f"{CATEGORY}pin/", editing.failure_pin, name="failure_pin"),
    path(f"{CATEGORY}dismiss/", editing.failure_dismiss_category, name="failure_dismiss_category"),
    path(f"{CATEGORY}merge/", editing.failure_merge, name="failure_merge"),
    path(f"{CATEGORY}separate/", editing.failure_separate, name="failure_separate"),
]
