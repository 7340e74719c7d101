"""The test bench: a judge tried on a text, several times."""

from django.urls import path

from refinement.views.rubrics import bench

BENCH = "p/<slug:slug>/rubrics/<slug:rubric>/bench/"

urlpatterns = [
    path(BENCH, bench.rubric_bench, name="rubric_bench"),
    path(f"{BENCH}compare/", bench.rubric_bench_compare, name="rubric_bench_compare"),
    path(f"{BENCH}<int:bench>/", bench.rubric_bench_trial, name="rubric_bench_trial"),
    path(f"{BENCH}<int:bench>/cancel/", bench.rubric_bench_cancel, name="rubric_bench_cancel"),
    path(f"{BENCH}<int:bench>/scores/", bench.rubric_bench_scores, name="rubric_bench_scores"),
    path(f"{BENCH}<int:bench>/trials/<int:number>/", bench.rubric_bench_said, name="rubric_bench_said"),
]
