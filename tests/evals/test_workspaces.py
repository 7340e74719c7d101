"""AgentV's workspaces: commands and scripts work in a copy, and the template stays as it is."""

from pathlib import Path

import pytest

from refinement.evals.local.workspaces import WorkspaceError, Workspaces
from refinement.evals.planning import Planner
from refinement.evals.reading import read_eval
from refinement.evals.types import BadEval, Case, Step, Workspace

FILE = """
execution: {target: agent}
workspace:
  template: template
  hooks: {before_each: {command: [sh, -c, 'echo new > "$WORKSPACE_PATH/made.txt"']}}
tests:
  - id: first
    input: Add a line
    assert:
      - {type: script, command: [python3, look.py], wanted: "+added\\n"}
  - id: second
    input: Do nothing
    environment: {workdir: host, setup: {command: [sh, -c, 'mkdir -p host && echo once >> host/log.txt']}}
    assert:
      - {type: script, command: [python3, look.py], wanted: ""}
  - id: third
    input: Do nothing
    environment: {workdir: host, setup: {command: [sh, -c, 'mkdir -p host && echo once >> host/log.txt']}}
    assert:
      - {type: script, command: [python3, look.py], wanted: ""}
"""
AGENT = """#!/bin/sh
read -r task
case "$task" in Add*) echo added >> notes.txt;; esac
echo done
"""
LOOK = """
import json, pathlib, sys
given = json.load(sys.stdin)
folder = pathlib.Path(given["workspace_path"])
files = sorted(path.name for path in folder.iterdir())
known = files in (["made.txt", "notes.txt"], ["log.txt"])
wanted = given["config"]["wanted"]
passed = known and wanted in given["file_changes"] and bool(wanted) == bool(given["file_changes"])
print(json.dumps({"pass": passed, "score": int(passed), "reason": f"{files} {given['file_changes']}"}))
"""


def written(evals, text=FILE):
    evals.write("a.eval.yaml", text)
    evals.write("agent.sh", AGENT, executable=True)
    evals.write("look.py", LOOK)
    evals.write("template/notes.txt", "old\n")
    evals.write("targets.yaml", "targets: [{name: agent, kind: command, command: ./agent.sh}]\n")


def test_a_command_works_in_a_copy_and_a_script_sees_what_it_changed(evals):
    written(evals)
    ended = evals("a.eval.yaml", "--target", "agent")
    assert ended.returncode == 0, ended.stderr
    assert {name: found["passed"] for name, found in evals.results().items()} == {
        "first": True, "second": True, "third": True,
    }  # fmt: skip
    template = evals.folder / "template"
    assert [path.name for path in template.iterdir()] == ["notes.txt"]
    assert (template / "notes.txt").read_text() == "old\n"
    assert (evals.folder / "host" / "log.txt").read_text() == "once\n"  # for both cases


def test_a_setup_that_fails_ends_its_case_with_the_reason(evals):
    written(evals, FILE.replace('echo new > "$WORKSPACE_PATH/made.txt"', "echo no disk >&2; exit 3"))
    ended = evals("a.eval.yaml", "--target", "agent")
    first = evals.results()["first"]
    assert (ended.returncode, first["outcome"], first["unreachable"]) == (1, "ERROR", False)
    assert first["why"] == "The setup command sh ended with status 3: no disk"
    assert evals.results()["second"]["passed"]


def case(workspace, checks=()):
    return Case("a", 1, "Hi", checks=checks, workspace=workspace)


@pytest.mark.parametrize(
    ("workspace", "reason"),
    [
        (Workspace(Path("/nowhere/at/all")), "is not a folder"),
        (Workspace(setup=(Step(("./missing",), Path("/bin")),)), "cannot be started"),
        (Workspace(before=(Step(("false",), Path("/bin")),)), "ended with status 1"),
    ],
)
def test_what_cannot_be_made_says_why(workspace, reason):
    workspaces = Workspaces()
    for _ in range(2):  # a command that runs once fails for every case
        with (
            pytest.raises(WorkspaceError, match=reason),
            workspaces.opened(case(workspace), is_command=True),
        ):
            pass


def test_links_are_not_copied_and_large_folders_are_refused(tmp_path, monkeypatch):
    (tmp_path / "real.txt").write_text("x")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    workspace = Workspace(tmp_path)
    with Workspaces().opened(case(workspace), is_command=True) as opened:
        assert [path.name for path in opened.folder.iterdir()] == ["real.txt"]
        (opened.folder / "real.txt").write_bytes(b"\0\1")
        (opened.folder / "new.txt").write_text("one\ntwo\n")
        diff = "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\nBinary file real.txt differs\n"
        assert opened.changes() == diff
    assert not opened.folder.exists()
    monkeypatch.setattr("refinement.evals.local.workspaces.MOST_FILES", 0)
    with (
        pytest.raises(WorkspaceError, match="too large"),
        Workspaces().opened(case(workspace), is_command=True),
    ):
        pass


def test_nothing_is_copied_for_a_model_without_scripts():
    with Workspaces().opened(case(Workspace(Path("/nowhere"))), is_command=False) as opened:
        assert opened is None


def test_a_stopped_evaluation_ends_its_setup():
    workspace = Workspace(setup=(Step(("sleep", "60"), Path("/bin")),))
    workspaces = Workspaces(lambda: True)
    with (
        pytest.raises(WorkspaceError, match="was stopped"),
        workspaces.opened(case(workspace), is_command=True),
    ):
        pass


def test_a_command_is_refused_if_repositories_would_have_to_be_cloned(tmp_path):
    path = tmp_path / "a.eval.yaml"
    path.write_text(
        "execution: {target: agent}\n"
        "workspace: {template: ., repos: [{path: r, repo: x}]}\n"
        "tests: [{id: a, input: Hi, assert: [{type: contains, value: x}]}]\n"
    )
    (tmp_path / "targets.yaml").write_text("targets: [{name: agent, kind: command, command: cat}]\n")
    with pytest.raises(BadEval, match=r"a\.eval\.yaml:2: workspace: repositories are not cloned"):
        Planner().jobs([read_eval(path)])
    assert Planner(["ollama/x"]).jobs([read_eval(path, own_targets=True)])
