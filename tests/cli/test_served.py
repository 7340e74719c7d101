"""The command with a served instance: sockets, server threads, a token."""

import json

import pytest

from refinement.engine.profiles import rubric_for
from refinement.models import Run
from refinement.services.people.tokens import token_make
from refinement.services.rubrics.editing import rubric_create
from tests.cli.conftest import called, told
from tests.management.conftest import MODELS


@pytest.fixture
def server(live_server, project, editor, monkeypatch):
    rubric_create(project=project, slug="wiggum", definition=rubric_for("wiggum"), user=editor)
    _, token = token_make(project=project, by=editor, name="CI", role="editor", days=30)
    monkeypatch.setenv("WIGGUM_SERVER", live_server.url)
    monkeypatch.setenv("WIGGUM_TOKEN", token)
    return live_server


def test_a_rubric_and_a_run_from_a_shell(server, project, viewer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert called("rubric", "pull", "wiggum").exit_code == 0
    file = tmp_path / "wiggum.yaml"
    file.write_text(file.read_text().replace("max_rounds: 3", "max_rounds: 4"))
    assert told(called("rubric", "push", "wiggum.yaml", "--json"))["pushed"][0]["version"] == 2
    launched = called("refine", "--rubric", "wiggum", "--task", "Explain.", *MODELS, "--detach", "--json")
    number = told(launched)["run"]
    assert told(called("run", "cancel", number, "--json"))["runs"][0]["outcome"] == "CANCELLED"
    assert called("run", "watch", number).exit_code == 130
    whole = json.loads(called("run", "export", number).stdout)
    assert (whole["run"]["rubric"]["version"], whole["run"]["created_by"]) == (2, "Edgar Editor")
    assert called("doctor", "--json").exit_code == 3  # no worker runs beside the tests' server

    _, reads = token_make(project=project, by=viewer, name="looks", role="viewer", days=30)
    monkeypatch.setenv("WIGGUM_TOKEN", reads)
    assert called("run", "list").exit_code == 0
    refused = called("run", "retry", number)
    assert (refused.exit_code, "editor or owner role" in refused.stderr) == (4, True), refused.stderr
    assert Run.objects.get().outcome == "CANCELLED"
