"""One run: its rounds, differences, calls, chart and actions."""

from django.urls import path

from refinement.views.runs import actions, calls, deciding, diff, page, rounds, scoring

RUN = "p/<slug:slug>/runs/<int:run>"

urlpatterns = [
    path(f"{RUN}/", page.run_page, name="run_page"),
    path(f"{RUN}/rounds/<int:number>/", rounds.run_round, name="run_round"),
    path(f"{RUN}/diff/", diff.run_diff, name="run_diff"),
    path(f"{RUN}/calls/", calls.run_calls, name="run_calls"),
    path(f"{RUN}/trajectory.svg", page.run_chart, name="run_chart"),
    path(f"{RUN}/rounds/<int:number>/people/", rounds.run_people, name="run_people"),
    path(f"{RUN}/score/<int:number>/", scoring.run_score, name="run_score"),
    path(f"{RUN}/score/<int:number>/blind/", scoring.run_score_blind, name="run_score_blind"),
    path(f"{RUN}/score/<int:number>/seed/", scoring.run_score_seed, name="run_score_seed"),
    path(f"{RUN}/score/reveal/", scoring.run_score_reveal, name="run_score_reveal"),
    path(f"{RUN}/decide/", deciding.run_decide, name="run_decide"),
    path(f"{RUN}/do/<str:action>/", actions.run_action, name="run_action"),
]
