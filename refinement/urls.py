"""Addresses of all pages; each part of the product has its own in `refinement/routes/`.

The fixed addresses of a part come before those with a name in their place, here as in the modules.
"""

from refinement.routes import (
    account,
    comments,
    notices,
    people,
    projects,
    reviews,
    rubric_bench,
    rubric_editor,
    rubric_files,
    rubric_preview,
    rubrics,
    run_compare,
    run_imports,
    run_launch,
    run_list,
    run_live,
    run_page,
    run_steering,
    sharing,
    tokens,
    webhooks,
)

urlpatterns = [
    *projects.urlpatterns,
    *account.urlpatterns,
    *notices.urlpatterns,
    *people.urlpatterns,
    *sharing.urlpatterns,
    *tokens.urlpatterns,
    *webhooks.urlpatterns,
    *reviews.urlpatterns,
    *rubric_files.urlpatterns,
    *rubric_editor.urlpatterns,
    *rubric_preview.urlpatterns,
    *rubric_bench.urlpatterns,
    *rubrics.urlpatterns,
    *run_list.urlpatterns,
    *run_imports.urlpatterns,
    *run_launch.urlpatterns,
    *run_compare.urlpatterns,
    *comments.urlpatterns,
    *run_live.urlpatterns,
    *run_steering.urlpatterns,
    *run_page.urlpatterns,
]
