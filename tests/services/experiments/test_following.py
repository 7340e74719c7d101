"""A cell shows the state of its run, whoever changes the run."""

from decimal import Decimal

import pytest

from refinement.models import ExperimentRun, Run
from refinement.services.experiments.control import experiment_run_missing
from refinement.services.runs.lifecycle import run_cancel, run_continue, run_pause, run_resume, run_retry
from tests.services.experiments.given import a_rubric, an_experiment, dealt, end, end_all, going, states

pytestmark = pytest.mark.django_db


@pytest.fixture
def experiment(project, monkeypatch):
    made = an_experiment(project, tasks=1, names="A")
    dealt(made, 1, monkeypatch)
    return made


def cell(experiment) -> ExperimentRun:
    return experiment.runs.get(replaced=False)


@pytest.mark.parametrize(
    ("outcome", "fields", "state"),
    [
        ("PASS", {}, "done"),
        ("FAIL", {}, "done"),
        ("DONE", {}, "done"),
        ("DONE", {"r1": None}, "unscored"),
        ("ERROR", {"failure_role": "judge", "failure_message": "No reply."}, "unscored"),
        ("ERROR", {"failure_role": "producer", "failure_message": "No reply."}, "error"),
        ("ERROR", {"why": "A step failed."}, "error"),
        ("CANCELLED", {"why": "Stopped by Olivia."}, "cancelled"),
    ],
)
def test_the_state_of_an_ended_run(experiment, outcome, fields, state):
    end(going(experiment)[0], outcome, **{"r1": "8", **fields})
    found = cell(experiment)
    assert found.state == state
    expected = (
        fields.get("failure_message") or fields.get("why") or ("" if state == "done" else found.problem)
    )
    assert found.problem == expected


@pytest.mark.parametrize(
    ("profile", "r1", "on_ten"), [("wiggum", "8.25", "8.25"), ("ralph", "0.7", "7"), ("simmer", "7", "7")]
)
def test_scores_are_on_ten_whatever_the_scale(project, monkeypatch, profile, r1, on_ten):
    version = a_rubric(
        project, profile, stop_rules="max_rounds" if profile != "ralph" else "max_iterations_reached"
    )
    experiment = an_experiment(project, tasks=1, names="A", version=version)
    dealt(experiment, 1, monkeypatch)
    end(going(experiment)[0], "DONE", r1)
    assert (cell(experiment).r1, cell(experiment).best) == (Decimal(on_ten), Decimal(on_ten))


def test_the_figures_of_an_ended_run(experiment):
    values = {
        "prompt_tokens": 300,
        "completion_tokens": 50,
        "model_seconds": Decimal("2.5"),
        "cost": Decimal("0.01"),
    }
    end(going(experiment)[0], "PASS", "9", rounds_judged=3, **values)
    found = cell(experiment)
    assert (found.passed, found.rounds, found.tokens) == (True, 3, 350)
    assert (found.seconds, found.cost) == (Decimal("2.5"), Decimal("0.01"))


def test_a_retry_and_more_rounds_reopen_the_cell(experiment, monkeypatch):
    run = end(going(experiment)[0], "ERROR", None, failure_role="producer")
    dealt(experiment, 1, monkeypatch)
    experiment.refresh_from_db()
    assert experiment.status == "finished"
    run_retry(run=run)
    assert cell(experiment).state == "running"
    assert cell(experiment).problem == ""
    end(run, "FAIL", "6", best_round=1)
    assert (cell(experiment).state, cell(experiment).r1) == ("done", 6)
    run_continue(run=run, rounds=2)
    assert (cell(experiment).state, cell(experiment).r1) == ("running", None)
    run_cancel(run=run)
    assert cell(experiment).state == "cancelled"
    experiment.refresh_from_db()
    assert experiment.status == "finished"  # one run by hand does not start it again


def test_pausing_and_resuming_by_hand_changes_no_cell(experiment):
    (run,) = going(experiment)
    run_pause(run=run)
    assert cell(experiment).state == "running"
    run_resume(run=run)
    assert cell(experiment).state == "running"


def test_a_deleted_run_leaves_its_cell_to_be_run_again(experiment, editor, monkeypatch):
    run = end(going(experiment)[0])
    dealt(experiment, 1, monkeypatch)
    Run.objects.filter(pk=run.pk).delete()
    assert (cell(experiment).state, cell(experiment).run) == ("cancelled", None)
    assert cell(experiment).problem == "Its run was deleted."
    assert experiment_run_missing(experiment, editor) == 1
    end_all(experiment, monkeypatch)
    assert states(experiment) == {"done": 1}


def test_a_replaced_run_counts_no_more(experiment, editor, monkeypatch):
    run = end(going(experiment)[0], "ERROR", None, failure_role="judge")
    experiment_run_missing(experiment, editor)
    run_retry(run=run)
    end(run, "PASS", "9")
    assert states(experiment) == {"waiting": 1}
