"""One run: its rounds, differences, calls, chart and actions."""

from django.urls import path

from refinement.views.runs import actions, calls, diff, page, rounds

RUN = "p/<slug:slug>/runs/<int:run>"

urlpatterns = [
    path(f"{RUN}/", page.run_page, name="run_page"),
    path(f"{RUN}/rounds/<int:number>/", rounds.run_round, name="run_round"),
    path(f"{RUN}/diff/", diff.run_diff, name="run_diff"),
    path(f"{RUN}/calls/", calls.run_calls, name="run_calls"),
    path(f"{RUN}/trajectory.svg", page.run_chart, name="run_chart"),
    path(f"{RUN}/do/<str:action>/", actions.run_action, name="run_action"),
]
