"""Suites: list, page, tasks, table editor, versions, files, tasks from runs."""

from django.urls import path

from refinement.views.suites import (
    changes,
    collecting,
    editor,
    files,
    importing,
    library,
    merging,
    page,
    task_editor,
    versions,
)

SUITES = "p/<slug:slug>/suites/"
SUITE = f"{SUITES}<slug:suite>"

urlpatterns = [
    path(SUITES, library.suite_list, name="suite_list"),
    path(f"{SUITES}new/", library.suite_new, name="suite_new"),
    path(f"{SUITES}import/", importing.suite_import, name="suite_import"),
    path(f"{SUITES}add/", collecting.suite_collect, name="suite_collect"),
    path(f"{SUITE}/export.<str:form>", files.suite_export, name="suite_export"),
    path(f"{SUITE}/", page.suite_page, name="suite_page"),
    path(f"{SUITE}/v/<int:number>/", page.suite_version, name="suite_version"),
    path(f"{SUITE}/edit/", editor.suite_edit, name="suite_edit"),
    path(f"{SUITE}/merge/", merging.suite_merge, name="suite_merge"),
    path(f"{SUITE}/settings/", changes.suite_settings, name="suite_settings"),
    path(f"{SUITE}/archive/", changes.suite_archive, name="suite_archive"),
    path(f"{SUITE}/restore/", changes.suite_restore, name="suite_restore"),
    path(f"{SUITE}/versions/", versions.suite_versions, name="suite_versions"),
    path(f"{SUITE}/compare/", versions.suite_compare, name="suite_compare"),
    path(f"{SUITE}/tasks/new/", task_editor.suite_task_new, name="suite_task_new"),
    path(f"{SUITE}/tasks/<str:key>/", page.suite_task, name="suite_task"),
    path(f"{SUITE}/tasks/<str:key>/edit/", task_editor.suite_task_edit, name="suite_task_edit"),
]
