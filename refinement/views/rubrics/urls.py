"""Rubrics: list, gallery, editor, versions, preview, files, tests."""

from django.urls import path

from refinement.views.rubrics import (
    bench,
    calibration,
    changes,
    editor,
    files,
    gallery,
    library,
    page,
    preview,
    sample,
    trying,
    versions,
)

RUBRICS = "p/<slug:slug>/rubrics/"
RUBRIC = f"{RUBRICS}<slug:rubric>"
BENCH = f"{RUBRIC}/bench/"
SAMPLE = f"{RUBRICS}new/sample/"

urlpatterns = [
    path(f"{RUBRICS}import/", files.rubric_import_page, name="rubric_import"),
    path(f"{RUBRIC}/export.yaml", files.rubric_export, name="rubric_export"),
    path(f"{RUBRIC}/calibration/", calibration.rubric_calibration, name="rubric_calibration"),
    path(RUBRICS, library.rubric_list, name="rubric_list"),
    path(f"{RUBRICS}new/", gallery.rubric_gallery, name="rubric_gallery"),
    path(f"{SAMPLE}", sample.rubric_sample, name="rubric_sample"),
    path(f"{SAMPLE}<int:proposal>/", sample.rubric_proposal, name="rubric_proposal"),
    path(f"{SAMPLE}<int:proposal>/edit/", sample.rubric_proposal_edit, name="rubric_proposal_edit"),
    path(f"{SAMPLE}<int:proposal>/cancel/", sample.rubric_proposal_cancel, name="rubric_proposal_cancel"),
    path(f"{RUBRIC}/", page.rubric_page, name="rubric_page"),
    path(f"{RUBRIC}/v/<int:number>/", page.rubric_version, name="rubric_version"),
    path(f"{RUBRIC}/versions/", versions.rubric_versions, name="rubric_versions"),
    path(f"{RUBRIC}/compare/", versions.rubric_compare, name="rubric_compare"),
    path(f"{RUBRIC}/restore/", changes.rubric_restore, name="rubric_restore"),
    path(f"{RUBRIC}/duplicate/", changes.rubric_duplicate, name="rubric_duplicate"),
    path(f"{RUBRIC}/archive/", changes.rubric_archive, name="rubric_archive"),
    path(f"{RUBRIC}/edit/", editor.rubric_edit, name="rubric_edit"),
    path(
        f"{RUBRIC}/edit/try-check/",
        editor.rubric_try_check,
        name="rubric_try_check",
    ),
    path(f"{RUBRIC}/edit/try-evaluator/", trying.rubric_try_evaluator, name="rubric_try_evaluator"),
    path(f"{RUBRIC}/preview/", preview.rubric_preview, name="rubric_preview"),
    path(BENCH, bench.rubric_bench, name="rubric_bench"),
    path(f"{BENCH}compare/", bench.rubric_bench_compare, name="rubric_bench_compare"),
    path(f"{BENCH}<int:bench>/", bench.rubric_bench_trial, name="rubric_bench_trial"),
    path(f"{BENCH}<int:bench>/cancel/", bench.rubric_bench_cancel, name="rubric_bench_cancel"),
    path(f"{BENCH}<int:bench>/scores/", bench.rubric_bench_scores, name="rubric_bench_scores"),
    path(f"{BENCH}<int:bench>/trials/<int:number>/", bench.rubric_bench_said, name="rubric_bench_said"),
]
