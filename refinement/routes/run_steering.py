"""What people tell a run, and rounds that they edit by hand."""

from django.urls import path

from refinement.views.runs import hand_rounds, steering

RUN = "p/<slug:slug>/runs/<int:run>"

urlpatterns = [
    path(f"{RUN}/instructions/", steering.run_instruct, name="run_instruct"),
    path(
        "p/<slug:slug>/instructions/<int:instruction>/withdraw/",
        steering.run_instruction_withdrawal,
        name="run_instruction_withdraw",
    ),
    path(f"{RUN}/rounds/<int:number>/edit/", hand_rounds.run_round_edit, name="run_round_edit"),
]
