"""An experiment without workers: an interruption pauses it, and it continues where it stopped."""

import signal

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import Experiment, ExperimentRun, Project, Run
from refinement.services.experiments.foreground import ForegroundExperiment
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import called
from tests.experiments.stage import configurations_yaml, replies_with
from tests.loopback.fixtures import ollama_server
from tests.selectors.experiments.given import a_suite_of

__all__ = ["ollama_server"]
pytestmark = pytest.mark.django_db(transaction=True)
TASKS = 5


def test_ctrl_c_pauses_it_and_resume_ends_it(tmp_path, ollama_server, monkeypatch):
    project = Project.objects.create(name="Alpha", slug="alpha")
    rubric_create(project=project, slug="wiggum", definition=rubric_for("wiggum"))
    a_suite_of(project, TASKS)
    ollama_server.models = ("a", "judge")
    ollama_server.replies = replies_with(rubric_for("wiggum"), lambda model, task: 6)
    monkeypatch.setenv("WIGGUM_OLLAMA_URL", ollama_server.address)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)
    config = tmp_path / "configurations.yaml"
    config.write_text(configurations_yaml("A"))

    waiting = ForegroundExperiment.wait_for_one

    def interrupt(self):
        waiting(self)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ForegroundExperiment, "wait_for_one", interrupt)
        stopped = called("suite", "run", "answers", "--config", config, "-j", 2)
    experiment = Experiment.objects.get()
    assert stopped.exit_code == 130
    assert f"is paused. To continue: wiggum suite run answers --resume {experiment.pk}" in stopped.stderr
    assert experiment.status == "paused"
    ended = set(Run.objects.filter(status="finished").values_list("pk", flat=True))

    result = called("suite", "run", "answers", "--resume", experiment.pk, "-j", 2)
    assert result.exit_code == 0, result.output
    assert "A has a composite of" in result.stdout
    experiment.refresh_from_db()
    assert experiment.status == "finished"
    states = ExperimentRun.objects.values_list("state", "replaced")
    assert list(states) == [("done", False)] * TASKS
    assert ended <= set(Run.objects.values_list("pk", flat=True))
    assert Run.objects.count() == TASKS
