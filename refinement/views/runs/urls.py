"""Runs: list, launch, comparison, live page, run page and its actions."""

from django.urls import path

from refinement.views.runs import (
    actions,
    bulk,
    calls,
    compare,
    diff,
    evaluator,
    export,
    feedback,
    hand_rounds,
    launch,
    listing,
    live,
    page,
    plateau,
    rounds,
    saved_views,
    sources,
    steering,
    training,
)

RUNS = "p/<slug:slug>/runs/"
RUN = f"{RUNS}<int:run>"

urlpatterns = [
    path(RUNS, listing.run_list, name="run_list"),
    path(f"{RUNS}columns/", listing.run_columns, name="run_columns"),
    path(f"{RUNS}bulk/", bulk.run_bulk, name="run_bulk"),
    path(f"{RUNS}training/", training.run_training, name="run_training"),
    path(f"{RUNS}training/<str:form>/", training.run_training_file, name="run_training_file"),
    path(f"{RUNS}views/", saved_views.run_view_save, name="run_view_save"),
    path(f"{RUNS}views/<int:view>/delete/", saved_views.run_view_delete, name="run_view_delete"),
    path("p/<slug:slug>/example/", launch.run_example, name="run_example"),
    path(f"{RUNS}new/", launch.run_new, name="run_new"),
    path(f"{RUNS}new/estimate/", launch.run_estimate, name="run_estimate"),
    path(f"{RUNS}compare/", compare.run_compare, name="run_compare"),
    path(f"{RUNS}export/<str:form>/", export.run_export_many, name="run_export_many"),
    path(f"{RUN}/export/<str:form>/", export.run_export, name="run_export"),
    path(f"{RUN}/live/", live.run_live, name="run_live"),
    path(f"{RUN}/events/", live.run_events, name="run_events"),
    path(f"{RUN}/instructions/", steering.run_instruct, name="run_instruct"),
    path(
        "p/<slug:slug>/instructions/<int:instruction>/withdraw/",
        steering.run_instruction_withdrawal,
        name="run_instruction_withdraw",
    ),
    path(f"{RUN}/rounds/<int:number>/edit/", hand_rounds.run_round_edit, name="run_round_edit"),
    path(f"{RUN}/", page.run_page, name="run_page"),
    path(f"{RUN}/rounds/<int:number>/", rounds.run_round, name="run_round"),
    path(f"{RUN}/rounds/<int:number>/feedback/", feedback.run_feedback, name="run_feedback"),
    path(f"{RUN}/sources/<int:position>/", sources.run_source, name="run_source"),
    path(f"{RUN}/diff/", diff.run_diff, name="run_diff"),
    path(f"{RUN}/calls/", calls.run_calls, name="run_calls"),
    path(f"{RUN}/trajectory.svg", page.run_chart, name="run_chart"),
    path(f"{RUN}/rounds/<int:number>/evaluator/", evaluator.run_evaluator, name="run_evaluator"),
    path(
        f"{RUN}/rounds/<int:number>/evaluator/again/",
        evaluator.run_evaluator_again,
        name="run_evaluator_again",
    ),
    path("p/<slug:slug>/evaluator-trials/<int:trial>/", evaluator.evaluator_trial, name="evaluator_trial"),
    path(
        "p/<slug:slug>/evaluator-trials/<int:trial>/cancel/",
        evaluator.evaluator_trial_cancelled,
        name="evaluator_trial_cancel",
    ),
    path(f"{RUN}/plateau/", plateau.run_plateau, name="run_plateau"),
    path(f"{RUN}/do/<str:action>/", actions.run_action, name="run_action"),
]
